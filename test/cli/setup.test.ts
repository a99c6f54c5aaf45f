/**
 * Setting a vault up by scripts that may be repeated, and cut off at any point.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  cofferCommand,
  runCoffer,
  startCoffer,
  type Ended,
  type RunOptions,
} from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'

let root: string
/** A data folder that tests copy and never change. */
let made: string

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  await runCoffer(['init', '--data', made])
})

function expectFailure({ exitCode, stdout, stderr }: Ended, code: number, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([code, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
}

const namesIn = (folder: string) => readdirSync(folder, { recursive: true }).map(String).toSorted()

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

async function expectSound(data: string): Promise<void> {
  const { exitCode, stderr } = await runCoffer(['verify', '--data', data])
  expect([data, exitCode, stderr]).toEqual([data, 0, ''])
}

/** Makes a folder as `init` leaves it when killed before its stamp has its name. */
function cutOff(name: string, left: readonly string[]): string {
  const data = join(root, name)
  mkdirSync(data)
  for (const each of left) {
    if (each === 'store') cpSync(join(made, 'store'), join(data, 'store'), { recursive: true })
    else if (each === 'master.key') copyFileSync(join(made, each), join(data, each))
    else writeFileSync(join(data, each), '')
  }
  return data
}

describe('an init that was cut off', () => {
  test.each([
    ['before it wrote anything', ['lock']],
    ['before its master key', ['lock', 'format.new']],
    ['before its store', ['lock', 'format.new', 'master.key']],
    ['before its stamp', ['lock', 'format.new', 'master.key', 'store']],
    ['with the key of a passphrase', ['lock', 'format.new', 'store', 'master.kdf']],
  ])('%s is cleaned by the next one', async (name, left) => {
    const data = cutOff(name, left)
    expectFailure(await runCoffer(['serve', '--data', data]), 1, /not a data folder/)
    expect((await runCoffer(['init', '--data', data])).exitCode).toBe(0)
    expect(existsSync(join(data, 'format.new'))).toBe(false)
    await expectSound(data)
  })

  test.each([
    ['a vault that has lost its stamp', ['lock', 'master.key', 'store'], /file format is lost/],
    ['a folder with something of others', ['lock', 'format.new', 'precious'], /not empty/],
  ])('is not %s, which stays as it is', async (name, left, says) => {
    const data = cutOff(name, left)
    const before = namesIn(data)
    expectFailure(await runCoffer(['init', '--data', data]), 1, says)
    expect(namesIn(data)).toEqual(before)
  })

  test('is cleaned after a kill at whatever moment', async () => {
    for (let round = 0; round < 8; round += 1) {
      const data = join(root, `killed-${round}`)
      const child = Bun.spawn([...cofferCommand, 'init', '--data', data], {
        stdout: 'ignore',
        stderr: 'ignore',
      })
      // Kills it a little later each time, from the first sign of it on.
      await until(() => existsSync(data) || child.exitCode !== null)
      await Bun.sleep(round * 4)
      child.kill('SIGKILL')
      await child.exited
      const wasDone = existsSync(join(data, 'format'))
      const { exitCode } = await runCoffer(['init', '--data', data])
      expect([round, exitCode]).toEqual([round, wasDone ? 1 : 0])
      await expectSound(data)
    }
  }, 300_000)

  test('has left an empty file of a master key, and is repeated', async () => {
    const keyFile = join(root, 'empty.key')
    writeFileSync(keyFile, '')
    const args = ['--data', join(root, 'keyed'), '--master-key-file', keyFile]
    expect((await runCoffer(['init', ...args])).exitCode).toBe(0)
    expect(readFileSync(keyFile, 'latin1')).toMatch(/^[0-9a-f]{64}\n$/)
  })
})

describe('a file for a new key', () => {
  test('gets the key of init, and stdout does not', async () => {
    const keyFile = join(root, 'first.key')
    const data = join(root, 'told')
    const { exitCode, stdout } = await runCoffer(['init', '--data', data, '--key-file', keyFile])
    const key = readFileSync(keyFile, 'latin1')
    expect(exitCode).toBe(0)
    expect(key).toMatch(/^key_\w{22}\n$/)
    expect(modeOf(keyFile)).toBe('600')
    expect(stdout).toContain(keyFile)
    expect(stdout).not.toContain('key_')
    const inJson = ['init', '--data', join(root, 'told-json'), '--json', '--key-file']
    const json = await runCoffer([...inJson, join(root, 'json.key')])
    expect(JSON.parse(json.stdout)).toEqual({
      tenant_id: expect.any(String),
      application_id: expect.any(String),
      key_file: join(root, 'json.key'),
    })
  })

  test('that holds something is left alone, and nothing is made', async () => {
    const keyFile = join(root, 'taken.key')
    writeFileSync(keyFile, 'precious')
    const data = join(root, 'untold')
    const args = ['init', '--data', data, '--key-file']
    expectFailure(await runCoffer([...args, keyFile]), 1, /a file is at .* already/)
    const link = join(root, 'link.key')
    symlinkSync(join(root, 'elsewhere'), link)
    expectFailure(await runCoffer([...args, link]), 1, /a file is at .* already/)
    expectFailure(await runCoffer([...args, join(root, 'absent', 'a')]), 1, /its folder exists/)
    expect(readFileSync(keyFile, 'latin1')).toBe('precious')
    expect([existsSync(data), existsSync(join(root, 'elsewhere'))]).toEqual([false, false])
  })

  test('is not left behind where nothing was made, and an empty one is used', async () => {
    const keyFile = join(root, 'unused.key')
    const refused = await runCoffer(['init', '--data', made, '--key-file', keyFile])
    expectFailure(refused, 1, /not empty/)
    expect(existsSync(keyFile)).toBe(false)
    writeFileSync(keyFile, '', { mode: 0o644 })
    const again = await runCoffer(['init', '--data', join(root, 'used'), '--key-file', keyFile])
    expect([again.exitCode, modeOf(keyFile)]).toEqual([0, '600'])
    expect(readFileSync(keyFile, 'latin1')).toStartWith('key_')
  })
})

describe('coffer serve --init', () => {
  /** It prints of the folder first; once its socket is there, it answers. */
  const startAt = async (socket: string, args: readonly string[], options: RunOptions = {}) => {
    const server = await startCoffer([...args, '--socket', socket], options)
    const isServed = () =>
      fetch('http://localhost/', { unix: socket }).then(
        () => true,
        () => false,
      )
    await until(isServed)
    return server
  }

  test('makes the folder the first time, with its key in a file, and then serves it', async () => {
    const data = join(root, 'by-itself')
    const keyFile = join(root, 'by-itself.key')
    const socket = join(root, 'by-itself.sock')
    const masterKey = join(root, 'by-itself.master')
    const args = ['serve', '--data', data, '--init', '--master-key-file', masterKey]
    args.push('--key-file', keyFile)
    const keys = new Set<string>()
    for (let round = 0; round < 3; round += 1) {
      const server = await startAt(socket, args)
      const key = readFileSync(keyFile, 'latin1').trim()
      keys.add(key)
      const headers = { 'SVC-API-KEY': key }
      const answer = await fetch('http://localhost/applications/key', { headers, unix: socket })
      expect(answer.status).toBe(200)
      expect(await server.end('SIGTERM')).toBe(0)
      expect(server.ready + (await server.stdout)).not.toContain('key_')
    }
    expect(keys.size).toBe(1)
  })

  test('prints the key where no file is named, and makes good what was cut off', async () => {
    const data = cutOff('served-again', ['lock', 'format.new', 'master.key', 'store'])
    const server = await startAt(join(root, 'again.sock'), ['serve', '--data', data, '--init-new'])
    expect(server.ready).toMatch(/Its key, shown once: {4}key_\w{22}\n/)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('touches no folder of others and no damaged vault', async () => {
    const foreign = join(root, 'foreign')
    mkdirSync(foreign)
    writeFileSync(join(foreign, 'precious'), '')
    const serve = (data: string) =>
      runCoffer(['serve', '--data', data, '--port', '0', '--init-new'])
    expectFailure(await serve(foreign), 1, /not empty/)
    const damaged = join(root, 'damaged')
    cpSync(made, damaged, { recursive: true })
    renameSync(join(damaged, 'store', 'data.mdb'), join(root, 'kept.mdb'))
    expectFailure(await serve(damaged), 1, /database .* is missing/)
    expect(existsSync(join(damaged, 'store', 'data.mdb'))).toBe(false)
  })

  test('makes no vault in the place of one whose volume is not mounted', async () => {
    const data = join(root, 'mounted')
    const masterKey = join(root, 'mounted.master')
    const args = ['serve', '--data', data, '--init', '--master-key-file', masterKey]
    const first = await startAt(join(root, 'mounted.sock'), args)
    expect(await first.end('SIGTERM')).toBe(0)
    renameSync(data, `${data}.away`)
    mkdirSync(data)
    const key = readFileSync(masterKey)
    const ended = await runCoffer([...args, '--port', '0'])
    expectFailure(ended, 1, /master key at \S+ is there, and no vault is in/)
    expect([readdirSync(data), readFileSync(masterKey)]).toEqual([[], key])
    rmSync(data, { recursive: true })
    renameSync(`${data}.away`, data)
    const again = await startAt(join(root, 'mounted-again.sock'), args)
    expect(await again.end('SIGTERM')).toBe(0)
  })

  test('makes good what was cut off after its master key was written', async () => {
    const data = cutOff('cut-off-key', ['lock', 'format.new'])
    const masterKey = join(root, 'cut-off.master')
    writeFileSync(masterKey, `${'ab'.repeat(32)}\n`, { mode: 0o600 })
    const args = ['serve', '--data', data, '--init', '--master-key-file', masterKey]
    const server = await startAt(join(root, 'cut-off.sock'), args)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test.each([
    ['in the folder', []],
    ['of the environment', ['COFFER_MASTER_KEY', 'ab'.repeat(32)]],
  ])('makes none where its master key is %s, but for --init-new', async (_, [name, value]) => {
    const data = join(root, `remembered-${name}`)
    const env = name === undefined ? {} : { [name]: value ?? '' }
    const args = ['serve', '--data', data]
    const refused = await runCoffer([...args, '--port', '0', '--init'], { env })
    expectFailure(refused, 1, /--init: nothing outside of .* say --init-new for this start alone/)
    expect(existsSync(data)).toBe(false)
    const socket = join(root, `remembered-${name}.sock`)
    const server = await startAt(socket, [...args, '--init-new'], { env })
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('is what a file for its key is asked for with', async () => {
    const args = ['serve', '--data', made, '--key-file', join(root, 'not.key')]
    expectFailure(await runCoffer(args), 2, /expected with --init/)
    rmSync(join(root, 'not.key'), { force: true })
  })
})

describe('where a server cannot listen', () => {
  const isRoot = process.getuid?.() === 0

  const fails = (...args: readonly string[]) => runCoffer(['serve', '--data', made, ...args])

  test.each([
    [['--host', 'no-such-host.invalid', '--port', '0'], /no address is known .* another --host/],
    [['--host', '203.0.113.1', '--port', '0'], /not one of this machine: .* --host/],
    [['--socket', '/nowhere/a.sock'], /folder of the socket is missing/],
    [['--socket', `/tmp/${'a'.repeat(200)}`], /too long/],
  ])('by %j is told why, and the doctor says so too', async (args, says) => {
    expectFailure(await fails(...args), 1, says)
    const { exitCode, stdout } = await runCoffer(['doctor', '--data', made, ...args])
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(new RegExp(`^fault: ${args[0]}[^\n]*: [^\n]*${says.source}`, 'm'))
  })

  test('several workers are told the same', async () => {
    const args = ['--host', 'no-such-host.invalid', '--port', '0', '--workers', '2']
    expectFailure(await fails(...args), 1, /no address is known/)
  })

  test.skipIf(!isRoot || process.platform !== 'linux')('a privileged port is told of', async () => {
    const data = join(root, 'unprivileged')
    cpSync(made, data, { recursive: true })
    Bun.spawnSync(['chmod', 'a+rx', root])
    Bun.spawnSync(['chown', '-R', '65534', data])
    const prefix = ['setpriv', '--reuid=65534', '--clear-groups']
    const ended = await runCoffer(['serve', '--data', data, '--port', '80'], { prefix })
    expectFailure(ended, 1, /ports below 1024 need a privilege .* another --port/)
  })
})

describe('the doctor', () => {
  test('tries no address beside a running server, and a taken port is a fault', async () => {
    const other = join(root, 'other')
    cpSync(made, other, { recursive: true })
    const server = await startCoffer(['serve', '--data', made, '--port', '0'])
    const port = /:(\d+)\s*$/.exec(server.ready)?.[1] ?? ''
    const beside = await runCoffer(['doctor', '--data', made, '--port', port])
    expect([beside.exitCode, beside.stderr]).toEqual([0, ''])
    expect(beside.stdout).toContain('note: lock: another coffer has this folder')
    const taken = await runCoffer(['doctor', '--data', other, '--port', port, '--json'])
    expect(taken.exitCode).toBe(1)
    const { findings } = JSON.parse(taken.stdout) as { findings: Record<string, string>[] }
    expect(findings.filter(({ level }) => level === 'fault')).toEqual([
      {
        level: 'fault',
        about: '--host, --port',
        text: `port ${port} is in use: stop that process or choose another --port`,
      },
    ])
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('leaves nothing of what it tries', async () => {
    const before = namesIn(made)
    const socket = join(root, 'tried.sock')
    const args = ['doctor', '--data', made, '--socket', socket, '--ops-port', '0']
    expect((await runCoffer(args)).exitCode).toBe(0)
    expect(namesIn(made)).toEqual(before)
    expect(existsSync(socket)).toBe(false)
  })

  test('finds a folder that cannot be written', async () => {
    if (process.getuid?.() !== 0) return
    const data = join(root, 'unwritten')
    cpSync(made, data, { recursive: true })
    Bun.spawnSync(['chmod', 'a+rx', root])
    Bun.spawnSync(['chown', '-R', '65534', data])
    Bun.spawnSync(['chmod', 'u-w', join(data, 'store')])
    const prefix = ['setpriv', '--reuid=65534', '--clear-groups']
    const { exitCode, stdout } = await runCoffer(['doctor', '--data', data], { prefix })
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^fault: writing: cannot write to .*store/m)
  })
})
