/**
 * The command line as a process: what it prints, how it ends, and bad input.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import { buildIdOf } from '../../scripts/build-id.ts'
import { runCoffer, startCoffer, type Ended, withoutWarnings } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

let root: string
/** A data folder that tests copy and never change. */
let made: string
let init: Ended

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  init = await runCoffer(['init', '--data', made, '--json'])
})

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

const contentsOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(folder.length), readFileSync(path).toString('base64')]
    })
    .sort()

/** One line on stderr, nothing on stdout, and the exit code. */
function expectFailure({ exitCode, stdout, stderr }: Ended, code: number, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([code, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
}

function copyOfMade(name: string): string {
  const copy = join(root, name)
  cpSync(made, copy, { recursive: true })
  return copy
}

describe('coffer init', () => {
  test('prints tenant, application and key as one line of JSON', () => {
    expect([init.exitCode, init.stderr]).toEqual([0, ''])
    expect(init.stdout.split('\n').length).toBe(2)
    expect(JSON.parse(init.stdout)).toEqual({
      tenant_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      application_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      key: expect.stringMatching(/^key_[1-9A-HJ-NP-Za-km-z]{22}$/),
    })
  })

  // proves S5
  test('makes everything readable by its owner only', () => {
    expect(modeOf(made)).toBe('700')
    for (const file of ['master.key', 'format', 'store/data.mdb', 'store/lock.mdb']) {
      expect([file, modeOf(join(made, file))]).toEqual([file, '600'])
    }
  })

  test('refuses a second time and changes nothing', async () => {
    const before = contentsOf(made)
    expectFailure(await runCoffer(['init', '--data', made]), 1, /not empty/)
    expect(contentsOf(made)).toEqual(before)
  })

  test('refuses a file in place of a folder', async () => {
    const file = join(root, 'a-file')
    writeFileSync(file, 'x')
    expectFailure(await runCoffer(['init', '--data', file]), 1, /not a folder/)
    expect(readFileSync(file, 'utf8')).toBe('x')
  })

  test('makes nothing when its key cannot be printed', async () => {
    const data = join(root, 'unprinted')
    const prefix = ['sh', '-c', 'exec "$@" >/dev/full', 'sh']
    expectFailure(await runCoffer(['init', '--data', data], { prefix }), 1, /could not be printed/)
    expect(readdirSync(data)).toEqual([])
    expect((await runCoffer(['init', '--data', data])).exitCode).toBe(0)
  })

  test('keeps the master key elsewhere when it is told to', async () => {
    const data = join(root, 'keyless')
    const keyFile = join(root, 'elsewhere.key')
    const args = ['--data', data, '--master-key-file', keyFile]
    expect((await runCoffer(['init', ...args])).exitCode).toBe(0)
    expect(existsSync(join(data, 'master.key'))).toBe(false)
    expect(modeOf(keyFile)).toBe('600')
    expectFailure(
      await runCoffer(['serve', '--data', data, '--port', '0']),
      1,
      /master key file is missing: put it at \S+, or say where it is, such as by --master-key-file/,
    )
    const server = await startCoffer(['serve', ...args, '--port', '0'])
    expect(await server.end('SIGTERM')).toBe(0)
  })
})

describe('coffer serve', () => {
  test('answers on a port, and ends with 0 on SIGTERM', async () => {
    const server = await startCoffer(['serve', '--data', copyOfMade('ported'), '--port', '0'])
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
    const { key } = JSON.parse(init.stdout) as { key: string }
    const answer = await fetch(`${url}/applications/key`, { headers: { 'SVC-API-KEY': key } })
    expect(answer.status).toBe(200)
    expect(await server.end('SIGTERM')).toBe(0)
    expect(withoutWarnings(await server.stderr)).toBe('')
  })

  test('answers on a socket of its owner, also where a killed process left one', async () => {
    const args = ['serve', '--data', copyOfMade('socketed'), '--socket', join(root, 'vault.sock')]
    const killed = await startCoffer(args)
    await killed.end('SIGKILL')
    expect(existsSync(join(root, 'vault.sock'))).toBe(true)
    const server = await startCoffer(args)
    expect(modeOf(join(root, 'vault.sock'))).toBe('700')
    const answer = await fetch('http://localhost/tokens', { unix: join(root, 'vault.sock') })
    expect(answer.status).toBe(401)
    expect(await server.end('SIGTERM')).toBe(0)
    expect(existsSync(join(root, 'vault.sock'))).toBe(false)
  })

  test('refuses a file in place of a socket, and leaves it alone', async () => {
    const file = join(root, 'no-socket')
    writeFileSync(file, 'precious')
    const ended = await runCoffer(['serve', '--data', copyOfMade('unsocketed'), '--socket', file])
    expectFailure(ended, 1, /no socket/)
    expect(readFileSync(file, 'utf8')).toBe('precious')
  })

  test('says what to do where it cannot listen', async () => {
    const data = copyOfMade('unlistened')
    const socket = ['--socket', join(root, 'absent-folder', 'vault.sock')]
    expectFailure(
      await runCoffer(['serve', '--data', data, ...socket]),
      1,
      /folder of the socket is missing/,
    )
  })

  // proves H167
  test('refuses a second instance on one folder, and leaves the first alone', async () => {
    const data = copyOfMade('shared')
    const first = await startCoffer(['serve', '--data', data, '--port', '0'])
    expectFailure(await runCoffer(['serve', '--data', data, '--port', '0']), 1, /another coffer/)
    expect(await first.end('SIGTERM')).toBe(0)
  })

  test('refuses a port and a socket in use', async () => {
    const first = await startCoffer(['serve', '--data', copyOfMade('first'), '--port', '0'])
    const port = /:(\d+)\s*$/.exec(first.ready)?.[1] ?? ''
    const data = copyOfMade('second')
    expectFailure(
      await runCoffer(['serve', '--data', data, '--port', port]),
      1,
      new RegExp(`port ${port} is in use`),
    )
    expect(await first.end('SIGTERM')).toBe(0)
    const socket = join(root, 'busy.sock')
    const other = await startCoffer(['serve', '--data', copyOfMade('third'), '--socket', socket])
    expectFailure(
      await runCoffer(['serve', '--data', data, '--socket', socket]),
      1,
      /socket is in use/,
    )
    expect(await other.end('SIGTERM')).toBe(0)
  })
})

describe('a data folder that cannot be served', () => {
  const serve = (data: string) => runCoffer(['serve', '--data', data, '--port', '0'])

  // proves H166
  test('because it is missing is not made', async () => {
    const data = join(root, 'missing')
    expectFailure(await serve(data), 1, /not a data folder: name yours by --data, or .*coffer init/)
    expect(existsSync(data)).toBe(false)
  })

  // proves H166
  test('because it is another folder stays as it is', async () => {
    const data = join(root, 'foreign')
    mkdirSync(data)
    expectFailure(await serve(data), 1, /not a data folder/)
    expect(readdirSync(data)).toEqual([])
  })

  const refused: readonly (readonly [string, string, string, RegExp])[] = [
    ['a damaged stamp', 'format', 'canary', /stamp.*damaged/],
    ['an empty stamp', 'format', '', /stamp.*damaged/],
    [
      'a newer stamp',
      'format',
      'coffer data folder, format 999999\n',
      /: use the newer coffer that wrote it\n$/,
    ],
    ['an older stamp', 'format', 'coffer data folder, format 3\n', /never released: export its/],
    ['a damaged master key', 'master.key', 'canary', /not a master key/],
    ['another master key', 'master.key', 'ab'.repeat(32), /not the one/],
  ]

  // proves S39
  test.each(refused)('because of %s keeps its data unchanged', async (name, file, text, says) => {
    const data = copyOfMade(name.replaceAll(' ', '-'))
    writeFileSync(join(data, file), text)
    const before = readFileSync(join(data, 'store/data.mdb'))
    const ended = await serve(data)
    expectFailure(ended, 1, says)
    expect(ended.stderr).not.toContain('canary')
    expect(readFileSync(join(data, 'store/data.mdb'))).toEqual(before)
  })

  test('because its database is gone does not get a new one', async () => {
    const data = copyOfMade('no-database')
    rmSync(join(data, 'store/data.mdb'))
    expectFailure(await serve(data), 1, /database .* is missing/)
    expect(existsSync(join(data, 'store/data.mdb'))).toBe(false)
  })

  test('because its master key is open to others says so', async () => {
    const data = copyOfMade('open-key')
    chmodSync(join(data, 'master.key'), 0o644)
    expectFailure(await serve(data), 1, /open to them/)
  })

  // proves H166
  test('because it may not be written to says so', async () => {
    const data = copyOfMade('read-only')
    // Root may write anywhere, so the user nobody runs these, and may read everything here.
    const isRoot = process.getuid?.() === 0
    const prefix = isRoot ? ['setpriv', '--reuid=65534', '--clear-groups'] : []
    Bun.spawnSync(['chmod', 'a+rx', root])
    Bun.spawnSync(['chmod', '-R', 'a-w', data])
    if (isRoot) Bun.spawnSync(['chown', '-R', '65534', data])
    const ended = await runCoffer(['serve', '--data', data, '--port', '0'], { prefix })
    expectFailure(ended, 1, /cannot write/)
  })
})

describe('coffer dev', () => {
  test('prints one line of JSON, and its three keys do what they are for', async () => {
    const server = await startCoffer(['dev', '--port', '0', '--json'])
    const made = JSON.parse(server.ready) as Record<string, string>
    expect(Object.keys(made)).toEqual([
      'base_url',
      'tenant_id',
      'management_key',
      'private_key',
      'public_key',
    ])
    const ask = async (method: string, path: string, key: string, body?: unknown) => {
      const headers = { 'SVC-API-KEY': key, 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await fetch(`${made['base_url']}${path}`, { method, headers, ...sent })
      return { status: answer.status, text: await answer.text() }
    }
    const card = { id: 'card-1', type: 'card', data: { number: '4242424242424242' } }
    const created = await ask('POST', '/tokens', made['public_key'] ?? '', card)
    expect(created.status).toBe(201)
    expect(created.text).not.toContain('4242424242424242')
    expect((await ask('GET', '/tokens/card-1', made['public_key'] ?? '')).status).toBe(403)
    expect((await ask('GET', '/tokens/card-1', made['private_key'] ?? '')).text).toContain(
      '4242424242424242',
    )
    expect((await ask('GET', '/applications', made['management_key'] ?? '')).status).toBe(200)
    expect((await ask('GET', '/tokens/card-1', '')).status).toBe(401)
    expect(await server.end('SIGTERM')).toBe(0)
  })
})

describe('a command that prints', () => {
  test('says what keeps its output from being printed', async () => {
    const data = join(root, 'told')
    await runCoffer(['init', '--data', data])
    const prefix = ['sh', '-c', 'exec "$@" >/dev/full', 'sh']
    for (const command of [
      ['verify', '--json'],
      ['audit', 'export'],
      ['keys', 'status'],
    ]) {
      const ended = await runCoffer([...command, '--data', data], { prefix })
      expectFailure(ended, 1, /^coffer: stdout: the disk is full: not all of it was printed$/m)
    }
  })

  test('says nothing where what reads its output has ended', async () => {
    const data = join(root, 'unread')
    await runCoffer(['init', '--data', data])
    const script = 'mkfifo "$0"; true <"$0" & exec 4>"$0"; wait; exec "$@" >&4'
    const prefix = ['sh', '-c', script, join(root, 'fifo')]
    const ended = await runCoffer(['verify', '--json', '--data', data], { prefix })
    expect(ended).toEqual({ exitCode: 1, stdout: '', stderr: '' })
  })
})

describe('the command line', () => {
  test('prints its version and its help', async () => {
    const isCompiled = process.env['COFFER_BINARY'] !== undefined
    // The id of a binary is that of its sources, wherever it was built.
    const build = isCompiled ? buildIdOf(join(import.meta.dir, '../..')) : 'source'
    expect(await runCoffer(['version'])).toEqual({
      exitCode: 0,
      stdout: `${version}+${build}\n`,
      stderr: '',
    })
    for (const args of [['--help'], ['init', '--help'], ['serve', '--help'], ['dev', '--help']]) {
      const { exitCode, stdout, stderr } = await runCoffer(args)
      expect([exitCode, stderr]).toEqual([0, ''])
      expect(stdout).toContain('Usage: coffer')
    }
  })

  test.each(['keys', 'keys rotate', 'app key add'])(
    'has the help of %p by help before it as well',
    async name => {
      const words = name.split(' ')
      const asked = await runCoffer(['help', ...words])
      expect(asked).toEqual(await runCoffer([...words, '--help']))
      expect(asked.stdout).toContain(`Usage: coffer ${name} `)
    },
  )

  test.each(['', 'init', 'serve', 'dev', 'doctor', 'app create', 'keys rotate'])(
    'has help for %p that fits 80 columns, and tells defaults in one way',
    async name => {
      const { stdout } = await runCoffer([...name.split(' ').filter(Boolean), '--help'])
      expect(stdout.split('\n').filter(line => line.length > 80)).toEqual([])
      const words = stdout.replaceAll(/\s+/g, ' ')
      expect(words).not.toMatch(/default: "|\) \(env: /)
      if (name === 'serve') {
        expect(words).toContain('--some-name from COFFER_SOME_NAME.')
        expect(words).toContain('the data folder (default: coffer-data; env)')
        expect(words).toContain('for any free one (default: 3333; env)')
      }
    },
  )

  test.each([
    [['serve', '--canary']],
    [['canary']],
    [['serve', '--port', '65536']],
    [['serve', '--port', 'x']],
    [['init', '--data']],
    [['init', 'superfluous']],
  ])('refuses %j as wrong usage', async args => {
    expectFailure(await runCoffer(args), 2, /--help/)
  })
})
