/**
 * Sources of the master key: a file, a credential of systemd, the environment, a passphrase; one of
 * them, and nowhere else.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  takeKeyVariable,
  isKeyInEnvironment,
  releaseKeys,
} from '../../src/server/keys/key-source.ts'
import { cofferCommand, runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isInMemoryOf } from '../support/process-memory.ts'
import { workersOf } from '../support/worker-processes.ts'

const passphrase = 'planted horse battery'
const typed = { input: `${passphrase}\nwhat follows is not read\n` }

let root: string
let vault: string
let keyFile: string
let digits: string

beforeAll(async () => {
  root = temporaryFolder()
  vault = join(root, 'vault')
  keyFile = join(root, 'key')
  const ended = await runCoffer(['init', '--data', vault, '--master-key-file', keyFile])
  expect(ended.exitCode).toBe(0)
  digits = readFileSync(keyFile, 'latin1').trim()
})

const verify = (options: Parameters<typeof runCoffer>[1], ...more: readonly string[]) =>
  runCoffer(['verify', '--data', vault, ...more], options)

function expectRefused({ exitCode, stdout, stderr }: Ended, code: 1 | 2, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([code, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
  expect(stderr).not.toContain(digits)
  expect(stderr).not.toContain('planted')
}

describe('the environment', () => {
  const env = () => ({ COFFER_MASTER_KEY: digits })

  test('holds a key that opens the vault, in either case of its digits', async () => {
    for (const text of [digits, digits.toUpperCase()]) {
      expect(await verify({ env: { COFFER_MASTER_KEY: text } })).toMatchObject({ exitCode: 0 })
    }
  })

  test('is taken for a new vault, which then has no key of its own', async () => {
    const data = join(root, 'of-environment')
    const made = await runCoffer(['init', '--data', data], { env: env() })
    expect([made.exitCode, existsSync(join(data, 'master.key'))]).toEqual([0, false])
    const ended = await runCoffer(['verify', '--data', data, '--master-key-file', keyFile])
    expect(ended.exitCode).toBe(0)
  })

  test.each(['', 'ab', 'planted', '0'.repeat(63), '0'.repeat(65), `${'0'.repeat(63)}g`])(
    'with %j is refused',
    async text => {
      const ended = await verify({ env: { COFFER_MASTER_KEY: text } })
      expectRefused(ended, 2, /COFFER_MASTER_KEY: expected 64 hexadecimal digits/)
    },
  )

  test.each([
    ['in capitals', (text: string) => text.toUpperCase()],
    ['with the end of a line', (text: string) => `${text}\n`],
    ['with the end of a line of Windows', (text: string) => `${text.toUpperCase()}\r\n`],
  ])('%s opens the vault, from the environment and from a file', async (_, write) => {
    const text = write(digits)
    expect(await verify({ env: { COFFER_MASTER_KEY: text } })).toMatchObject({ exitCode: 0 })
    const path = join(temporaryFolder(), 'key')
    writeFileSync(path, text, { mode: 0o600 })
    expect(await verify({}, '--master-key-file', path)).toMatchObject({ exitCode: 0 })
    for (const more of [' ', '\n\n', '0']) {
      writeFileSync(path, text + more)
      expectRefused(await verify({}, '--master-key-file', path), 1, /is not a master key/)
    }
  })

  test('with the key of another vault is refused', async () => {
    const ended = await verify({ env: { COFFER_MASTER_KEY: '0'.repeat(64) } })
    expect(ended.exitCode).toBe(1)
    expect(ended.stderr).toContain('the master key is not the one of')
  })

  // proves S19
  test('loses it as soon as it was read', () => {
    const environment: Record<string, string | undefined> = { ...env(), OTHER: 'stays' }
    takeKeyVariable(environment)
    expect(environment).toEqual({ OTHER: 'stays' })
    expect(isKeyInEnvironment()).toBe(true)
    releaseKeys()
    expect(isKeyInEnvironment()).toBe(false)
  })

  test('is told of by the doctor, and a credential is not', async () => {
    const words = ['doctor', '--data', vault]
    const ended = await runCoffer(words, { env: env() })
    expect(ended.stdout).toMatch(/^warning: master key: the master key is in the environment/m)
    const other = await runCoffer([...words, '--master-key-file', keyFile])
    expect(other.stdout).not.toContain('environment')
  })

  // proves S19
  test('serves one process; several have no place to read it from', async () => {
    const words = ['serve', '--data', vault, '--port', '0']
    const server = await startCoffer(words, { env: env() })
    const line = readFileSync(`/proc/${server.pid}/cmdline`, 'latin1')
    expect(line).not.toContain(digits)
    expect(await server.end('SIGTERM')).toBe(0)
    expect((await server.stdout) + (await server.stderr) + server.ready).not.toContain(digits)
    const ended = await runCoffer([...words, '--workers', '2'], { env: env() })
    expectRefused(ended, 2, /--workers: each worker reads the master key for itself/)
  })
})

describe('a credential of systemd', () => {
  const name = 'coffer.master-key'
  let env: Readonly<Record<string, string>>

  /** Gives it as systemd does: root's, with an access list whose mask shows as the group's mode. */
  function give(text: string, mode = 0o440): void {
    const folder = temporaryFolder()
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    chmodSync(join(folder, name), mode)
    env = { CREDENTIALS_DIRECTORY: folder }
  }

  // proves S19
  test('opens the vault, for workers too', async () => {
    give(`${digits}\n`)
    expect(await verify({ env }, '--master-key-credential', name)).toMatchObject({ exitCode: 0 })
    const words = ['serve', '--data', vault, '--port', '0', '--workers', '2']
    const server = await startCoffer([...words, '--master-key-credential', name], { env })
    const pids = [server.pid, ...workersOf(server.pid).values()]
    expect(pids).toHaveLength(3)
    for (const pid of pids) {
      const shown = ['cmdline', 'environ'].map(file =>
        readFileSync(`/proc/${pid}/${file}`, 'latin1'),
      )
      expect(shown.join()).not.toContain(digits)
    }
    expect(await server.end('SIGTERM')).toBe(0)
  })

  // proves S19
  test('that others may read, or that is no key or not there, is refused', async () => {
    const words = ['--master-key-credential', name]
    for (const mode of [0o444, 0o460, 0o604]) {
      give(digits, mode)
      expectRefused(await verify({ env }, ...words), 1, /open to them/)
    }
    give(digits.slice(2))
    expectRefused(await verify({ env }, ...words), 1, /is not a master key/)
    expectRefused(await verify({ env }, '--master-key-credential', 'other'), 1, /is missing/)
    for (const wrong of ['../key', '..']) {
      const ended = await verify({ env }, '--master-key-credential', wrong)
      expectRefused(ended, 2, /--master-key-credential: expected a name/)
    }
    expectRefused(await verify({}, ...words), 2, /systemd has handed over none/)
  })

  test('a file of the operator is refused with such a mode', async () => {
    const path = join(temporaryFolder(), 'key')
    writeFileSync(path, digits, { mode: 0o600 })
    chmodSync(path, 0o404)
    expectRefused(await verify({}, '--master-key-file', path), 1, /open to them/)
    chmodSync(path, 0o460)
    expectRefused(await verify({}, '--master-key-file', path), 1, /open to them/)
  })
})

describe('a passphrase', () => {
  let data: string
  const ask = (command: string, ...more: readonly string[]) =>
    runCoffer([command, '--data', data, '--passphrase-fd', '0', ...more], typed)

  beforeAll(async () => {
    data = join(root, 'of-passphrase')
    expect((await ask('init')).exitCode).toBe(0)
  })

  test('gives a key that no file has; what it takes beside it is in the folder', async () => {
    expect(existsSync(join(data, 'master.key'))).toBe(false)
    const file = join(data, 'master.kdf')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      version: 1,
      algorithm: 'argon2id',
      passes: 3,
      memory_bytes: 256 * 1024 ** 2,
      salt: expect.stringMatching(/^[0-9a-f]{32}$/),
      check: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
    expect((await ask('verify')).exitCode).toBe(0)
    expect((await ask('doctor')).exitCode).toBe(0)
  })

  // proves S20
  test('serves, and is in no line of the process', async () => {
    const words = ['serve', '--data', data, '--passphrase-fd', '0', '--port', '0']
    const server = await startCoffer(words, typed)
    if (process.getuid?.() === 0) {
      expect(isInMemoryOf(server.pid, Buffer.from(passphrase))).toBe(false)
    }
    expect(await server.end('SIGTERM')).toBe(0)
    expect((await server.stdout) + (await server.stderr)).not.toContain('planted')
    const several = await runCoffer([...words, '--workers', '2'], typed)
    expectRefused(several, 2, /--workers: each worker reads the master key for itself/)
  })

  // proves S20
  test('that is another one, empty or too long is refused', async () => {
    const words = ['verify', '--data', data, '--passphrase-fd', '0']
    const refusals: readonly [string, RegExp][] = [
      ['planted horse batterz\n', /is not the passphrase of this vault/],
      ['\n', /expected a passphrase, and there was none/],
      ['', /expected a passphrase, and there was none/],
      ['planted'.repeat(200), /longer than any that is expected/],
    ]
    for (const [input, says] of refusals) expectRefused(await runCoffer(words, { input }), 1, says)
    for (const file of ['77', '-1', 'planted']) {
      const ended = await runCoffer(['verify', '--data', data, '--passphrase-fd', file])
      expectRefused(ended, 2, /open file/)
    }
  })

  test('that is short makes no vault', async () => {
    const short = join(root, 'short')
    const words = ['init', '--data', short, '--passphrase-fd', '0']
    expectRefused(await runCoffer(words, { input: 'planted\n' }), 1, /too short: expected 12 bytes/)
  })

  test('is asked for where nothing says where the key is', async () => {
    const ended = await runCoffer(['verify', '--data', data])
    expectRefused(ended, 2, /a passphrase opens this vault: say --passphrase/)
    expectRefused(await verify(typed, '--passphrase-fd', '0'), 1, /no passphrase opens this vault/)
  })

  test('with damage in what it takes opens nothing', async () => {
    const copy = join(root, 'damaged')
    cpSync(data, copy, { recursive: true })
    const file = join(copy, 'master.kdf')
    const text = readFileSync(file, 'utf8')
    const words = ['verify', '--data', copy, '--passphrase-fd', '0']
    const damages: readonly [string, RegExp][] = [
      ['', /is damaged/],
      [text.replace('"passes":3', '"passes":1000000'), /is damaged/],
      [text.replace('268435456', '999999999999'), /is damaged/],
      [text.replace('"version":1', '"version":2'), /is damaged/],
      [text.replace(/"salt":"../, '"salt":"zz'), /is damaged/],
      [text.replace('"passes":3', '"passes":4'), /is not the passphrase/],
    ]
    for (const [damaged, says] of damages) {
      writeFileSync(file, damaged)
      expectRefused(await runCoffer(words, typed), 1, says)
    }
    rmSync(file)
    expectRefused(await runCoffer(words, typed), 1, /no passphrase opens this vault/)
  })

  test('opens a backup, beside which lies what it takes', async () => {
    const to = join(root, 'of-passphrase.backup')
    expect((await ask('backup', '--to', to)).exitCode).toBe(0)
    const restored = join(root, 'restored')
    const words = ['restore', to, '--data', restored, '--passphrase-fd', '0', '--keep-keys']
    expect(await runCoffer(words, typed)).toMatchObject({ exitCode: 0, stderr: '' })
    const again = await runCoffer(['verify', '--data', restored, '--passphrase-fd', '0'], typed)
    expect(again.exitCode).toBe(0)
    rmSync(`${to}.kdf`)
    expectRefused(await runCoffer(words.with(3, `${restored}2`), typed), 1, /no passphrase opens/)
  })

  test('cannot be replaced by a new key in a file that is not there', async () => {
    const words = ['keys', 'rekey', '--data', data, '--passphrase-fd', '0']
    expectRefused(
      await runCoffer(words, typed),
      1,
      /in no file: name one for the new key with --new-master-key-file/,
    )
  })
})

/** Runs a command at a terminal, which types an answer when a prompt is shown. */
async function atTerminal(args: readonly string[], answers: readonly string[]) {
  const left = [...answers]
  let shown = ''
  const child = Bun.spawn([...cofferCommand, ...args], {
    env: { PATH: process.env['PATH'] },
    terminal: {
      cols: 200,
      rows: 24,
      data(terminal, bytes) {
        shown += Buffer.from(bytes).toString('latin1')
        if (shown.endsWith(': ')) terminal.write(left.shift() ?? '\x03')
      },
    },
  })
  return { exitCode: await child.exited, shown }
}

describe('at a terminal', () => {
  // proves S20
  test('a passphrase is asked for twice when it is new, and is not shown', async () => {
    const data = join(root, 'of-terminal')
    const answers = ['wrong\x15planted horsex\x7f battery\r', `${passphrase}\r`]
    const made = await atTerminal(['init', '--data', data, '--passphrase'], answers)
    expect(made.exitCode).toBe(0)
    expect(made.shown).toMatch(/^Passphrase: \r\nOnce more: \r\nThe vault is in /)
    expect(made.shown).not.toContain('planted')
    const words = ['verify', '--data', data]
    const opened = await atTerminal([...words, '--passphrase'], [`${passphrase}\r`])
    expect(opened.exitCode).toBe(0)
    expect((await runCoffer([...words, '--passphrase-fd', '0'], typed)).exitCode).toBe(0)
  })

  test('two that differ, and Ctrl-C, make no vault', async () => {
    const data = join(root, 'of-two')
    const words = ['init', '--data', data, '--passphrase']
    const differ = await atTerminal(words, [`${passphrase}\r`, `${passphrase}s\r`])
    expect([differ.exitCode, differ.shown]).toEqual([1, expect.stringContaining('differ')])
    const ended = await atTerminal(words, ['plan\x03'])
    expect([ended.exitCode, ended.shown]).toEqual([1, expect.stringContaining('interrupted')])
    expect(existsSync(join(data, 'format'))).toBe(false)
  })

  test('is refused where there is none', async () => {
    const init = ['init', '--data', join(root, 'of-nobody'), '--passphrase']
    const child = Bun.spawnSync(['setsid', '--wait', ...cofferCommand, ...init])
    expect([child.exitCode, child.stdout.toString()]).toEqual([2, ''])
    expect(child.stderr.toString()).toMatch(/there is no terminal to ask at/)
  })
})

describe('two places at once', () => {
  // proves S19
  test.each([
    [['--master-key-file', 'a', '--passphrase'], {}],
    [['--master-key-file', 'a', '--master-key-credential', 'b'], {}],
    [['--passphrase', '--passphrase-fd', '0'], {}],
    [['--passphrase'], { COFFER_MASTER_KEY: 'planted' }],
    [['--passphrase'], { COFFER_MASTER_KEY_FILE: 'a' }],
    [['--master-key-credential', 'b'], { COFFER_MASTER_KEY: 'planted' }],
  ])('%j with %j are refused by every command', async (words, env) => {
    const commands = [
      ['serve', '--port', '0'],
      ['keys', 'status'],
    ]
    for (const command of commands) {
      const ended = await runCoffer([...command, '--data', vault, ...words], { env })
      expectRefused(ended, 2, /the master key comes from one place: choose one of/)
    }
  })

  test('are refused before a folder is made for a vault in a database', async () => {
    const data = join(root, 'joined')
    const address = 'postgresql://nobody@127.0.0.1:1/vault'
    const words = ['--store', address, '--master-key-file', 'a', '--passphrase']
    const ended = await runCoffer(['verify', '--data', data, ...words])
    expectRefused(ended, 2, /the master key comes from one place/)
    expect(existsSync(data)).toBe(false)
  })

  test('no option takes a key itself', async () => {
    for (const option of ['--master-key', '--passphrase=planted']) {
      const ended = await verify({}, option, digits)
      expect([ended.exitCode, ended.stdout]).toEqual([2, ''])
    }
  })
})
