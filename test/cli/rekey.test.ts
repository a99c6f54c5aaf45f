/**
 * `coffer keys rekey` from any source of the master key: the new key is in a file, and no mistake
 * loses the old one. Source: docs/operations.md, "Another master key".
 * @module
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  runCoffer,
  startCoffer,
  type Ended,
  type Running,
  type RunOptions,
} from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

setDefaultTimeout(300_000)

const started: Running[] = []
afterAll(async () => {
  await Promise.all(started.map(server => server.end('SIGKILL')))
})

let root: string
beforeAll(() => {
  root = temporaryFolder()
})

const randomKey = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')
const passphrase = 'correct horse battery staple'

/** A way to tell a command where the master key is. */
interface Source {
  readonly words: readonly string[]
  readonly options?: RunOptions
}

let count = 0
const fresh = (name: string): string => join(root, `${name}-${(count += 1)}`)

function keyFile(): string {
  const path = fresh('key')
  writeFileSync(path, `${randomKey()}\n`, { mode: 0o600 })
  return path
}

function credential(): Source {
  const folder = fresh('credentials')
  mkdirSync(folder)
  writeFileSync(join(folder, 'coffer.master-key'), randomKey(), { mode: 0o400 })
  return {
    words: ['--master-key-credential', 'coffer.master-key'],
    options: { env: { CREDENTIALS_DIRECTORY: folder } },
  }
}

const sources: Readonly<Record<string, () => Source>> = {
  'a file': () => ({ words: ['--master-key-file', keyFile()] }),
  'a credential of systemd': credential,
  'the environment': () => ({ words: [], options: { env: { COFFER_MASTER_KEY: randomKey() } } }),
  'a passphrase': () => ({
    words: ['--passphrase-fd', '0'],
    options: { input: `${passphrase}\n` },
  }),
}

interface Vault {
  readonly data: string
  readonly run: (...words: readonly string[]) => Promise<Ended>
  readonly serve: (...words: readonly string[]) => Promise<Running>
}

async function makeVault({ words, options }: Source): Promise<Vault> {
  const data = fresh('vault')
  const run = (...asked: readonly string[]) =>
    runCoffer([...asked, '--data', data, ...words], options)
  expect((await run('init')).exitCode).toBe(0)
  return {
    data,
    run,
    async serve(...more) {
      const asked = ['serve', '--data', data, '--port', '0', ...words, ...more]
      const server = await startCoffer(asked, options)
      started.push(server)
      return server
    },
  }
}

function expectRefusal({ exitCode, stdout, stderr }: Ended, code: number, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([code, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
}

const opensWith = async (data: string, file: string): Promise<boolean> =>
  (await runCoffer(['verify', '--data', data, '--master-key-file', file])).exitCode === 0

describe.each(Object.entries(sources))('a vault with its master key from %s', (_, source) => {
  test.each([
    ['beside a server', true],
    ['without one', false],
  ])('has a new one in a file, %s, and opens with no other', async (_where, isServed) => {
    const { data, run, serve } = await makeVault(source())
    const server = isServed ? await serve() : undefined
    const file = fresh('new-key')
    const { exitCode, stdout, stderr } = await run('keys', 'rekey', '--new-master-key-file', file)
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`The vault opens with the new master key in ${file}`)
    expect(stdout).not.toContain(readFileSync(file, 'latin1').trim())
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
    if (server !== undefined) expect(await server.end('SIGTERM')).toBe(0)
    expect(await opensWith(data, file)).toBe(true)
    expectRefusal(await run('keys', 'status'), 1, /is not the one of/)
  })
})

describe('a key that is replaced in its file', () => {
  test('stays beside it, and opens the backups from before', async () => {
    const file = keyFile()
    const { data, run } = await makeVault({ words: ['--master-key-file', file] })
    const old = readFileSync(file)
    const backup = fresh('backup')
    expect((await run('backup', '--to', backup)).exitCode).toBe(0)
    const { exitCode, stdout } = await run('keys', 'rekey')
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringContaining(`The one before is in ${file}.before`) as string,
    ])
    expect(readFileSync(`${file}.before`)).toEqual(old)
    expect((statSync(`${file}.before`).mode & 0o777).toString(8)).toBe('600')
    expect(readFileSync(file)).not.toEqual(old)
    expect(await opensWith(data, file)).toBe(true)
    const look = (key: string) =>
      runCoffer(['restore', backup, '--verify-only', '--master-key-file', key])
    expect((await look(`${file}.before`)).exitCode).toBe(0)
    expect((await look(file)).exitCode).toBe(1)
    const doctor = await run('doctor')
    expect(doctor.stdout).toContain(`${file}.before is a master key of before`)
  })

  test('is not lost by another rekey, unless that is asked for', async () => {
    const file = keyFile()
    const { data, run } = await makeVault({ words: ['--master-key-file', file] })
    expect((await run('keys', 'rekey')).exitCode).toBe(0)
    const kept = [readFileSync(file), readFileSync(`${file}.before`)]
    expectRefusal(
      await run('keys', 'rekey'),
      1,
      /is there with another key, which older backups may need/,
    )
    expect([readFileSync(file), readFileSync(`${file}.before`)]).toEqual(kept)
    expect((await run('keys', 'rekey', '--forget-old-key')).exitCode).toBe(0)
    expect(readFileSync(file)).not.toEqual(kept[0])
    expect([readFileSync(`${file}.before`)]).toEqual(kept.slice(1))
    expect(await opensWith(data, file)).toBe(true)
  })

  test('is named where it is, behind a link', async () => {
    const file = keyFile()
    const link = fresh('link')
    symlinkSync(file, link)
    const { run } = await makeVault({ words: ['--master-key-file', link] })
    const { stdout } = await run('keys', 'rekey')
    expect(stdout).toContain(`The one before is in ${file}.before`)
    expect(existsSync(`${file}.before`)).toBe(true)
  })

  test('is not hidden by something else in its place', async () => {
    const file = keyFile()
    const { run } = await makeVault({ words: ['--master-key-file', file] })
    const old = readFileSync(file)
    writeFileSync(`${file}.before`, 'cut', { mode: 0o600 })
    expectRefusal(await run('keys', 'rekey'), 1, /move it to them first/)
    expect(readFileSync(file)).toEqual(old)
  })

  test('is kept nowhere where that is asked for', async () => {
    const file = keyFile()
    const { run } = await makeVault({ words: ['--master-key-file', file] })
    expect((await run('keys', 'rekey', '--forget-old-key')).exitCode).toBe(0)
    expect(existsSync(`${file}.before`)).toBe(false)
    expect((await run('doctor')).stdout).not.toContain('.before')
  })

  test('that a rekey has kept before it was cut off is no hindrance to the next', async () => {
    const file = keyFile()
    const { data, run } = await makeVault({ words: ['--master-key-file', file] })
    writeFileSync(`${file}.before`, readFileSync(file), { mode: 0o600 })
    writeFileSync(`${file}.next`, `${randomKey()}\n`, { mode: 0o600 })
    expect((await run('keys', 'rekey')).exitCode).toBe(0)
    expect(await opensWith(data, file)).toBe(true)
    expect(await opensWith(data, `${file}.before`)).toBe(false)
  })
})

describe('a file for the new key', () => {
  test('that has a key already, maybe one that others have read, is refused', async () => {
    const own = keyFile()
    const { data, run } = await makeVault({ words: ['--master-key-file', own] })
    const file = keyFile()
    const before = readFileSync(file)
    const ended = await run('keys', 'rekey', '--new-master-key-file', file)
    expectRefusal(ended, 1, /is there already, and stays as it is/)
    expect(readFileSync(file)).toEqual(before)
    expect(await opensWith(data, own)).toBe(true)
  })

  test('that is no file, has something else, or has the key of the vault is refused', async () => {
    const own = keyFile()
    const { data, run } = await makeVault({ words: ['--master-key-file', own] })
    const folder = fresh('folder')
    mkdirSync(folder)
    const text = fresh('text')
    writeFileSync(text, 'precious', { mode: 0o600 })
    const fifo = fresh('fifo')
    Bun.spawnSync(['mkfifo', fifo])
    const copy = fresh('copy')
    cpSync(own, copy)
    for (const [path, says] of [
      [folder, /stays as it is/],
      [text, /stays as it is/],
      [fifo, /stays as it is/],
      [own, /stays as it is/],
      [copy, /stays as it is/],
      [join(root, 'absent', 'key'), /check that its folder exists/],
    ] as const) {
      expectRefusal(await run('keys', 'rekey', '--new-master-key-file', path), 1, says)
    }
    expect(readFileSync(text, 'latin1')).toBe('precious')
    expect(statSync(fifo).isFIFO()).toBe(true)
    expect(await opensWith(data, own)).toBe(true)
  })

  test('and a key that is to be forgotten contradict each other', async () => {
    const { run } = await makeVault({ words: ['--master-key-file', keyFile()] })
    const file = fresh('new-key')
    const ended = await run('keys', 'rekey', '--new-master-key-file', file, '--forget-old-key')
    expectRefusal(ended, 2, /stays where it is/)
    expect(existsSync(file)).toBe(false)
  })
})

describe('a server', () => {
  test('that has its key from no file, and a command that names one, are told', async () => {
    const key = randomKey()
    const { serve, data } = await makeVault({
      words: [],
      options: { env: { COFFER_MASTER_KEY: key } },
    })
    await serve()
    const file = fresh('key')
    writeFileSync(file, `${key}\n`, { mode: 0o600 })
    const words = ['keys', 'rekey', '--data', data, '--master-key-file', file]
    expectRefusal(await runCoffer(words), 1, /name one for the new key with --new-master-key-file/)
    expect(existsSync(`${file}.before`)).toBe(false)
    const next = fresh('new-key')
    const again = await runCoffer([...words, '--new-master-key-file', next])
    expect([again.exitCode, again.stderr]).toEqual([0, ''])
  })

  test('of three workers is to be stopped first', async () => {
    const own = keyFile()
    const { data, run, serve } = await makeVault({ words: ['--master-key-file', own] })
    const server = await serve('--workers', '3')
    const file = fresh('new-key')
    const rekey = () => run('keys', 'rekey', '--new-master-key-file', file)
    const says = /stop all, run this again, start them; \S+ has a new key: remove it, unless/
    expectRefusal(await rekey(), 1, says)
    expect(await server.end('SIGTERM')).toBe(0)
    rmSync(file)
    expect((await rekey()).exitCode).toBe(0)
    expect(await opensWith(data, file)).toBe(true)
  })
})
