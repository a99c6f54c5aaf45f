/**
 * `coffer keys`: keys are made, taken over and retired, beside a running server and without one.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { lockInstance } from '../../src/server/folder/instance-lock.ts'
import { openTables, tableNames } from '../../src/store/lmdb/environment.ts'
import { cofferCommand, runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { openFilesOf } from '../support/worker-processes.ts'
import { requestOf, type Ask } from '../support/vault.ts'

let root: string
let made: string
let manager: string

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  const { stdout } = await runCoffer(['init', '--data', made, '--json'])
  manager = (JSON.parse(stdout) as { key: string }).key
})

function copyOfMade(name: string): string {
  const copy = join(root, name)
  cpSync(made, copy, { recursive: true })
  return copy
}

const keys = (what: string, data: string, ...more: readonly string[]): Promise<Ended> =>
  runCoffer(['keys', what, '--data', data, ...more])

interface KeyStatus {
  readonly number: number
  readonly state: string
  readonly rows: number
}

async function json<T>(ended: Promise<Ended>): Promise<T> {
  const { exitCode, stdout, stderr } = await ended
  expect([exitCode, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as T
}

interface Status {
  readonly master_key: number
  readonly keys: readonly KeyStatus[]
  readonly keyrings_to_scrub: number
}

const statusOf = (data: string): Promise<Status> => json(keys('status', data, '--json'))

function expectFailure({ exitCode, stdout, stderr }: Ended, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
}

/** A served copy, with an application that may do everything with tokens. */
async function serve(data: string, ...more: readonly string[]) {
  const socket = join(data, '..', `${data.slice(-4)}.sock`)
  const server = await startCoffer(['serve', '--data', data, '--socket', socket, ...more])
  const ask = async (method: string, path: string, asked: Ask) => {
    const response = await fetch(requestOf(method, path, asked), { unix: socket })
    const text = await response.text()
    return { status: response.status, body: JSON.parse(text) as Record<string, unknown> }
  }
  return { server, ask }
}

const permissions = ['create', 'read', 'update', 'search', 'delete'].map(name => `token:${name}`)
const rule = { description: 'all', priority: 1, container: '/', transform: 'reveal', permissions }

async function makeTokens({ ask }: Awaited<ReturnType<typeof serve>>, count: number) {
  const body = { name: 'app', type: 'private', rules: [rule] }
  const key = String((await ask('POST', '/applications', { key: manager, body })).body['key'])
  const ids: string[] = []
  for (let number = 0; number < count; number += 1) {
    const token = { type: 'token', data: `value ${number}`, search_indexes: ['{{ data }}'] }
    const { status, body: answer } = await ask('POST', '/tokens', { key, body: token })
    expect(status).toBe(201)
    ids.push(String(answer['id']))
  }
  return { key, ids }
}

describe('coffer keys rotate and retire', () => {
  // proves S17
  test('all stays readable and found beside a server, and the key before is gone', async () => {
    const data = copyOfMade('rota')
    const served = await serve(data)
    const { ask, server } = served
    const { key, ids } = await makeTokens(served, 40)
    const before = await ask('GET', `/tokens/${ids[3]}`, { key })
    const rotated = await json<{ key: number; rows_resealed: number }>(
      keys('rotate', data, '--json'),
    )
    expect(rotated).toMatchObject({ key: 2, rows_damaged: 0 })
    expect(rotated.rows_resealed).toBeGreaterThanOrEqual(42)
    const { keys: known } = await statusOf(data)
    expect(known.map(({ number, state, rows }) => [number, state, rows > 0])).toEqual([
      [1, 'readable', false],
      [2, 'current', true],
    ])
    const receipt = await json<Record<string, unknown>>(keys('retire', data, '--json'))
    expect(receipt).toMatchObject({ keys: [{ number: 1 }], rows_left: 0, scrubbed: true })
    expect(String(receipt['not_covered'])).toMatch(/backups.*in memory/)
    expect((await statusOf(data)).keys.map(({ number }) => number)).toEqual([2])
    const after = await ask('GET', `/tokens/${ids[3]}`, { key })
    expect(after).toEqual(before)
    const query = { query: 'data:"value 7"' }
    const found = await ask('POST', '/tokens/search', { key, body: query })
    expect(found.body).toMatchObject({ pagination: { total_items: 1 } })
    expect((await ask('GET', '/tokens/none-of-that-id', { key })).status).toBe(404)
    expect((await ask('GET', '/tokens', { key: 'ses_none' })).status).toBe(401)
    expect(await server.end('SIGTERM')).toBe(0)
    expect((await runCoffer(['verify', '--data', data])).exitCode).toBe(0)
  })

  test('while somebody reads the files the receipt says what is left, and that fails', async () => {
    const data = copyOfMade('held')
    const reader = openTables(join(data, 'store'), tableNames, true)
    const held = reader.root.useReadTransaction()
    expect(reader.rows.getRange({ transaction: held }).asArray).not.toEqual([])
    await json(keys('rotate', data, '--json'))
    const retired = await keys('retire', data, '--json')
    expect(JSON.parse(retired.stdout)).toMatchObject({ keys: [{ number: 1 }], scrubbed: false })
    expect([retired.exitCode, retired.stderr]).toEqual([
      1,
      expect.stringContaining('run keys retire again'),
    ])
    expect((await keys('retire', data)).exitCode).toBe(1)
    held.done()
    await reader.root.close()
    const again = await keys('retire', data)
    expect([again.exitCode, again.stderr]).toEqual([0, ''])
    expect(again.stdout).toContain('keyrings of before are nowhere in the files')
  })

  // proves S17
  test('the sealed bytes of a keyring with a retired key are nowhere in the folder', async () => {
    const data = copyOfMade('scrb')
    const database = join(data, 'store', 'data.mdb')
    // The row of the keyring alone lies under master key 0: the keyring, and its age.
    const head = Buffer.from([2, 1, 0, 0, 0, 0, 2])
    const bytes = readFileSync(database)
    const at = bytes.indexOf(head)
    expect(at).toBeGreaterThan(0)
    // Head, then what is encrypted of index key, fingerprint key and the first data key.
    const sealed = bytes.subarray(at, at + 63 + 100)
    const pieces = Array.from({ length: 10 }, (_, i) => sealed.subarray(16 * i, 16 * i + 16))
    const left = () => pieces.filter(piece => readFileSync(database).includes(piece)).length
    // Else the next commit, of the audit log, may already use the page again.
    const reader = openTables(join(data, 'store'), tableNames, true)
    const held = reader.root.useReadTransaction()
    expect(reader.rows.getRange({ transaction: held }).asArray).not.toEqual([])
    await json(keys('rotate', data, '--json'))
    expect(left()).toBeGreaterThan(0)
    held.done()
    await reader.root.close()
    await json(keys('retire', data, '--json'))
    expect(left()).toBe(0)
    const { exitCode } = await runCoffer(['verify', '--data', data])
    expect([exitCode, left()]).toEqual([0, 0])
  })

  test('there is a bound of keys, and retiring makes room', async () => {
    const data = copyOfMade('many')
    for (let number = 2; number <= 4; number += 1) await json(keys('rotate', data, '--json'))
    expectFailure(await keys('rotate', data), /run keys retire/)
    await json(keys('retire', data, '--json'))
    expect(await json(keys('rotate', data, '--json'))).toMatchObject({ key: 5 })
  })

  test('a rotation that was cut off goes on with the next start', async () => {
    const data = copyOfMade('cuts')
    const served = await serve(data)
    const { key, ids } = await makeTokens(served, 60)
    const rotating = Bun.spawn([...cofferCommand, 'keys', 'rotate', '--data', data], {
      stdout: 'ignore',
      stderr: 'ignore',
    })
    // Killed once the key is there, wherever the rows are by then.
    const database = join(data, 'store', 'data.mdb')
    const sealedAnew = Buffer.from([2, 1, 0, 0, 0, 2])
    while (!readFileSync(database).includes(sealedAnew)) await Bun.sleep(1)
    await served.server.end('SIGKILL')
    await rotating.exited
    const again = await serve(data)
    for (;;) {
      const [first] = (await statusOf(data)).keys
      if (first?.rows === 0) break
      await Bun.sleep(10)
    }
    expect((await again.ask('GET', `/tokens/${ids[0]}`, { key })).status).toBe(200)
    await json(keys('retire', data, '--json'))
    expect((await again.ask('GET', `/tokens/${ids[59]}`, { key })).status).toBe(200)
    await again.server.end('SIGTERM')
  })

  test('workers follow a key that another one has made', async () => {
    const data = copyOfMade('work')
    const args = ['serve', '--data', data, '--port', '0', '--workers', '3']
    const server = await startCoffer(args)
    const url = /http:\S+/.exec(server.ready)?.[0] ?? ''
    const ask = (key: string, path: string) =>
      fetch(url + path, { headers: { 'SVC-API-KEY': key, connection: 'close' } })
    await json(keys('rotate', data, '--json'))
    const { key } = await json<{ key: string }>(
      runCoffer(['app', 'create', '--data', data, '--json']),
    )
    const seen = await Promise.all(
      Array.from({ length: 30 }, () => ask(key, '/applications').then(({ status }) => status)),
    )
    expect(new Set(seen)).toEqual(new Set([200]))
    expectFailure(await keys('rekey', data), /cannot follow/)
    await json(keys('retire', data, '--json'))
    const later = await Promise.all(
      Array.from({ length: 30 }, () => ask(manager, '/applications').then(({ status }) => status)),
    )
    expect(new Set(later)).toEqual(new Set([200]))
    await server.end('SIGTERM')
  })
})

describe('coffer keys rekey', () => {
  const masterKeyOf = (data: string) => join(data, 'master.key')

  // proves S18
  test('the vault opens with the new master key alone, with a server and without', async () => {
    const data = copyOfMade('reke')
    const old = readFileSync(masterKeyOf(data))
    const { server, ask } = await serve(data)
    expect(await json(keys('rekey', data, '--json'))).toEqual({ master_key: 1, scrubbed: true })
    expect((await ask('GET', '/applications', { key: manager })).status).toBe(200)
    await server.end('SIGTERM')
    const again = keys('rekey', data, '--forget-old-key', '--json')
    expect(await json(again)).toEqual({ master_key: 2, scrubbed: true })
    expect((await runCoffer(['verify', '--data', data])).exitCode).toBe(0)
    expect(existsSync(`${masterKeyOf(data)}.next`)).toBe(false)
    writeFileSync(masterKeyOf(data), old)
    expectFailure(await keys('status', data), /not the one of/)
  })

  test('no file but the one that the vault is opened with gets a new key', async () => {
    const data = copyOfMade('asid')
    const other = join(root, 'other')
    await runCoffer(['init', '--data', other])
    const copy = join(root, 'copy.key')
    writeFileSync(copy, readFileSync(masterKeyOf(data)), { mode: 0o600 })
    const { server } = await serve(data)
    const inIts = /the master key of this vault is in \S+asid\/master.key: name/
    for (const [file, says] of [
      [masterKeyOf(other), /is not the one of this vault/],
      [copy, inIts],
    ] as const) {
      const before = readFileSync(file)
      const asked = keys('rekey', data, '--master-key-file', file)
      expectFailure(await asked, says)
      expect(readFileSync(file)).toEqual(before)
      expect(existsSync(`${file}.next`)).toBe(false)
    }
    const own = readFileSync(masterKeyOf(data))
    writeFileSync(masterKeyOf(data), readFileSync(masterKeyOf(other)))
    expectFailure(await keys('rekey', data), /is not the one of this vault/)
    expect(readFileSync(masterKeyOf(data))).toEqual(readFileSync(masterKeyOf(other)))
    writeFileSync(masterKeyOf(data), own)
    await server.end('SIGTERM')
    expect((await statusOf(data)).master_key).toBe(0)
  })

  test("behind a link the file gets the new key, and stays its owner's", async () => {
    const data = copyOfMade('link')
    const file = join(root, 'linked.key')
    renameSync(masterKeyOf(data), file)
    symlinkSync(file, masterKeyOf(data))
    // Only root may give a file away.
    const uid = process.getuid?.() === 0 ? 65_534 : (process.getuid?.() ?? 0)
    chownSync(file, uid, uid === 65_534 ? uid : (process.getgid?.() ?? 0))
    const old = readFileSync(file)
    expect(await json(keys('rekey', data, '--json'))).toMatchObject({ master_key: 1 })
    expect(lstatSync(masterKeyOf(data)).isSymbolicLink()).toBe(true)
    expect(readFileSync(file)).not.toEqual(old)
    expect(statSync(file).uid).toBe(uid)
    renameSync(file, `${file}.next`)
    writeFileSync(file, old, { mode: 0o600 })
    expect((await statusOf(data)).master_key).toBe(1)
    expect(existsSync(`${file}.next`)).toBe(false)
  })

  test('cut off before the keyring was sealed anew, it leaves the key before', async () => {
    const data = copyOfMade('cut1')
    writeFileSync(`${masterKeyOf(data)}.next`, `${'ab'.repeat(32)}\n`, { mode: 0o600 })
    expect((await statusOf(data)).master_key).toBe(0)
    expect(await json(keys('rekey', data, '--json'))).toMatchObject({ master_key: 1 })
    expect((await statusOf(data)).master_key).toBe(1)
  })

  test('cut off after that, it is ended by the next process that opens the vault', async () => {
    const data = copyOfMade('cut2')
    const old = readFileSync(masterKeyOf(data))
    await json(keys('rekey', data, '--json'))
    renameSync(masterKeyOf(data), `${masterKeyOf(data)}.next`)
    writeFileSync(masterKeyOf(data), old, { mode: 0o600 })
    expect((await statusOf(data)).master_key).toBe(1)
    expect(existsSync(`${masterKeyOf(data)}.next`)).toBe(false)
    expect(readFileSync(masterKeyOf(data))).not.toEqual(old)
  })

  test.skipIf(process.platform !== 'linux')(
    'a command that waits for a rekey to end opens the vault with the key that it leaves',
    async () => {
      const data = copyOfMade('wait')
      const file = masterKeyOf(data)
      const old = readFileSync(file)
      await json(keys('rekey', data, '--json'))
      const next = readFileSync(file)
      const time = { elapsedMs: () => performance.now(), sleep: Bun.sleepSync }
      writeFileSync(file, old, { mode: 0o600 })
      const lock = join(data, 'lock')
      const held = lockInstance(lock, time)
      const words = ['keys', 'status', '--data', data]
      const status = Bun.spawn([...cofferCommand, ...words], { stdout: 'ignore', stderr: 'pipe' })
      // It opens the lock once it has looked at the folder, and waits a second for it.
      while (!openFilesOf(status.pid).includes(lock)) await Bun.sleep(1)
      writeFileSync(`${file}.next`, next, { mode: 0o600 })
      renameSync(`${file}.next`, file)
      closeSync(held)
      expect([await status.exited, await new Response(status.stderr).text()]).toEqual([0, ''])
    },
  )
})
