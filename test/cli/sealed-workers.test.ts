/**
 * Sealing with `--workers`: all begin sealed, open together by shares that their leading process is
 * given, and are sealed together, replaced ones too.
 * @module
 */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { hkdfSync } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer, type Ended, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { foundInMemoryOf } from '../support/process-memory.ts'
import { scraperOf, valueOf, type Scraper } from '../support/scrape.ts'
import { until } from '../support/until.ts'
import { workerAfter, workerOf, workersOf } from '../support/worker-processes.ts'

const workers = 3
/** Requests by connections of their own, so many that the kernel leaves no worker out. */
const asks = 48
const value = 'a value that no answer of a sealed vault may hold'
setDefaultTimeout(300_000)

let data: string
let keyFile: string
let otherKeyFile: string
let server: Running
let vault: string
let ops: Scraper
let opsAddress: string
let shares: readonly string[]
let foreign: readonly string[]
let key: string
let tokenId: string

async function done(ended: Promise<Ended>): Promise<string> {
  const { exitCode, stdout, stderr } = await ended
  expect([exitCode, stderr]).toEqual([0, ''])
  return stdout
}

function expectFailure({ exitCode, stdout, stderr }: Ended, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
  expect(stderr).not.toContain('coffer-share-')
}

/** @returns the key of its manager */
async function makeVault(folder: string, masterKey: string): Promise<string> {
  const words = ['init', '--data', folder, '--master-key-file', masterKey, '--json']
  return (JSON.parse(await done(runCoffer(words))) as { key: string }).key
}

async function sharesOf(folder: string, masterKey: string): Promise<readonly string[]> {
  const words = ['keys', 'split', '--data', folder, '--master-key-file', masterKey]
  const split = await done(runCoffer([...words, '--shares', '4', '--threshold', '3']))
  return split.trimEnd().split('\n')
}

const withKey = (...words: readonly string[]): Promise<Ended> =>
  runCoffer([...words, '--data', data, '--master-key-file', keyFile, '--json'])

const onFolder = (...words: readonly string[]): Promise<Ended> =>
  runCoffer([...words, '--data', data])

const unseal = (which: readonly number[], from = shares): Promise<Ended> =>
  runCoffer(['unseal', '--data', data, '--json'], {
    input: which.map(at => `${from[at]}\n`).join(''),
  })

/** Sends shares to the listener of the leading process. */
async function sendShares(which: readonly number[] = [0, 1, 3]): Promise<void> {
  for (const at of which) {
    const sent = { method: 'POST', body: shares[at] ?? '' }
    expect((await fetch(`${opsAddress}/sys/unseal`, sent)).status).toBe(200)
  }
}

async function ask(method: string, path: string, by: string, body?: object) {
  const headers = { 'SVC-API-KEY': by, 'content-type': 'application/json', connection: 'close' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await fetch(vault + path, { method, headers, keepalive: false, ...sent })
  return { status: answer.status, text: await answer.text() }
}

/** Asks all workers, by connections of their own. */
async function askAll(): Promise<{ statuses: readonly number[]; text: string }> {
  const answers = await Promise.all(
    Array.from({ length: asks }, () => ask('GET', `/tokens/${tokenId}`, key)),
  )
  return {
    statuses: [...new Set(answers.map(({ status }) => status))],
    text: answers.map(({ text }) => text).join(),
  }
}

async function expectSealed(): Promise<void> {
  const { statuses, text } = await askAll()
  expect([statuses, text.includes(value)]).toEqual([[503], false])
  expect(text).toContain('The vault is sealed')
  expect(await ops.ask('/readyz')).toEqual([503, 'not ready: sealed\n'])
}

async function expectOpen(): Promise<void> {
  await until(async () => (await ops.ask('/readyz'))[1] === 'ready\n')
  const { statuses, text } = await askAll()
  expect([statuses, text.includes(value)]).toEqual([[200], true])
}

/** Ends a worker, and waits until the one in its place listens and answers. */
async function killWorker(index: number): Promise<void> {
  const before = workerOf(server.pid, index)
  process.kill(before, 'SIGKILL')
  await workerAfter(server.pid, index, before)
  await until(async () => {
    const text = await ops.metrics()
    return valueOf(text, `coffer_worker_up{worker="${index}"}`) === 1
  })
}

const processes = (): readonly number[] => [server.pid, ...workersOf(server.pid).values()]

const socketAsk = async (name: string): Promise<string> => {
  const asked = { unix: join(data, 'control'), method: 'POST', body: '{}' }
  return (await fetch(`http://control/${name}`, asked)).text()
}

async function isSealed(): Promise<boolean> {
  const { done: told } = JSON.parse(await socketAsk('seal-status')) as { done: { sealed: boolean } }
  return told.sealed
}

/** Seals the vault again, whatever the test before has left. */
async function beSealed(): Promise<void> {
  if (!(await isSealed())) await done(onFolder('seal'))
  await done(onFolder('unseal', '--reset'))
}

async function beOpen(): Promise<void> {
  if (!(await isSealed())) return
  await done(onFolder('unseal', '--reset'))
  await done(unseal([3, 0, 2]))
}

async function makeToken(manager: string): Promise<void> {
  const permissions = ['token:read', 'token:create']
  const rule = { priority: 1, container: '/', transform: 'reveal', permissions }
  const application = { name: 'app', type: 'private', rules: [rule] }
  const made = await ask('POST', '/applications', manager, application)
  key = (JSON.parse(made.text) as { key: string }).key
  const token = await ask('POST', '/tokens', key, { type: 'token', data: value })
  tokenId = (JSON.parse(token.text) as { id: string }).id
}

beforeAll(async () => {
  const root = temporaryFolder()
  data = join(root, 'vault')
  keyFile = join(root, 'key')
  const manager = await makeVault(data, keyFile)
  shares = await sharesOf(data, keyFile)
  otherKeyFile = join(root, 'other-key')
  await makeVault(join(root, 'other'), otherKeyFile)
  foreign = await sharesOf(join(root, 'other'), otherKeyFile)
  const serving = ['serve', '--data', data, '--sealed', '--port', '0', '--ops-port', '0']
  server = await startCoffer([...serving, '--workers', String(workers)])
  const [listener = '', address = ''] = server.ready.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
  opsAddress = listener
  ops = scraperOf(listener)
  vault = address
  tokenId = 'none'
  key = manager
  await expectSealed()
  await beOpen()
  await makeToken(manager)
})

afterAll(async () => {
  expect(await server.end('SIGTERM')).toBe(0)
  const [out, log] = await Promise.all([server.stdout, server.stderr])
  expect(out + log).not.toContain('coffer-share')
  const events = log.match(/"event":"(?:un)?sealed"/g) ?? []
  // Once for all workers.
  for (const [at, event] of events.entries()) expect(event).not.toBe(events[at + 1] ?? '')
})

describe('workers that are sealed', () => {
  beforeEach(beSealed)

  // proves S22
  test('answer 503, all of them, and say so where they are watched', async () => {
    await expectSealed()
    expect(await ops.ask('/healthz')).toEqual([200, 'alive\n'])
    const text = await ops.metrics()
    expect(valueOf(text, 'coffer_check_failed{check="sealed"}')).toBe(1)
    expect(valueOf(text, 'coffer_store_rows')).toBeUndefined()
    expectFailure(await onFolder('status'), /the vault is sealed: run coffer unseal/)
    expectFailure(await withKey('app', 'list'), /the vault is sealed: run coffer unseal/)
    expectFailure(await onFolder('seal'), /the vault is sealed already/)
    expectFailure(await withKey('verify'), /another coffer runs on this data folder/)
  })

  // proves S22
  test('stay so with a share too few, wrong ones, and another key', async () => {
    const two = { sealed: true, shares: 2, threshold: 3 }
    expect(JSON.parse(await done(unseal([0, 1])))).toEqual(two)
    expectFailure(await unseal([0]), /that share is here already/)
    expectFailure(await unseal([2], foreign), /of another key/)
    await expectSealed()
    await done(onFolder('unseal', '--reset'))
    expectFailure(await unseal([0, 1, 2], foreign), /the master key is not the one of/)
    const other = await onFolder('unseal', '--master-key-file', otherKeyFile)
    expectFailure(other, /the master key is not the one of/)
    await expectSealed()
    // No earlier share counts.
    expect(JSON.parse(await done(unseal([3])))).toEqual({ ...two, shares: 1 })
  })

  // proves S22
  test('stay so where one was killed, and keep the shares that came', async () => {
    await done(unseal([1]))
    for (const index of [1, 0]) await killWorker(index)
    await expectSealed()
    await done(unseal([0, 3]))
    await expectOpen()
  })

  test('open together once shares enough came, by socket and listener', async () => {
    await done(unseal([0]))
    await sendShares([1, 3])
    await expectOpen()
    expectFailure(await unseal([0]), /the vault is not sealed/)
    expect(valueOf(await ops.metrics(), 'coffer_check_failed{check="sealed"}')).toBe(0)
  })

  test('open by the key as a whole', async () => {
    await done(onFolder('unseal', '--master-key-file', keyFile))
    await expectOpen()
  })

  // The memory of a guarded process is root's alone.
  // proves S87
  test.skipIf(process.getuid?.() !== 0)('leave nothing that opens the vault', async () => {
    const masterKey = Buffer.from(readFileSync(keyFile, 'latin1').trim(), 'hex')
    const opens = Buffer.from(hkdfSync('sha256', masterKey, 'keyring', 'coffer/1/keyring', 32))
    await beOpen()
    expect(foundInMemoryOf(server.pid, [opens])).toEqual([opens])
    await beSealed()
    for (const pid of processes()) expect(foundInMemoryOf(pid, [opens])).toEqual([])
    for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
      const path = join(data, name)
      if (statSync(path).isFile()) expect(readFileSync(path).includes(opens)).toBe(false)
    }
  })
})

describe('workers that were unsealed', () => {
  beforeEach(beOpen)

  test('serve again where one was killed, by what the process that leads them keeps', async () => {
    for (const index of [1, 0]) {
      await killWorker(index)
      await expectOpen()
    }
  })

  // proves S24
  test('do what is asked at the control socket, with a proof of the master key alone', async () => {
    const status = JSON.parse(await done(onFolder('status', '--json'))) as object
    const [process_id, address, ops_address] = [server.pid, vault, opsAddress]
    expect(status).toMatchObject({ process_id, address, ops_address, backup_to: null })
    expect(await done(withKey('app', 'list'))).toContain('First management application')
    expectFailure(await onFolder('app', 'list'), /asks for its master key/)
    const wrong = ['app', 'list', '--data', data, '--master-key-file', otherKeyFile]
    expectFailure(await runCoffer(wrong), /the master key is not the one of this vault/)
    for (const name of ['app-list', 'keys-rotate', 'keys-rekey', 'app-create']) {
      expect(await socketAsk(name)).toContain('expected a proof of the master key')
    }
    expect(await socketAsk('none')).toContain('no such operation')
  })

  test('follow a rotation, also one that is started after it', async () => {
    const rotated = JSON.parse(await done(withKey('keys', 'rotate'))) as object
    expect(rotated).toMatchObject({ key: 2, rows_damaged: 0 })
    expectFailure(
      await withKey('keys', 'rekey'),
      /workers, and others that serve it, cannot follow: stop all, run this again/,
    )
    await done(withKey('keys', 'retire'))
    for (const index of [2, 0]) await killWorker(index)
    await expectOpen()
  })

  // proves S87
  test('answer 503 once they are sealed, and so does one that is started after it', async () => {
    expect(JSON.parse(await done(onFolder('seal', '--json')))).toMatchObject({ sealed: true })
    await expectSealed()
    await killWorker(2)
    await expectSealed()
  })

  // proves S87
  test('are killed where they do not follow, and the ones in their place are sealed', async () => {
    const before = workerOf(server.pid, 1)
    process.kill(before, 'SIGSTOP')
    await done(onFolder('seal'))
    expect(workersOf(server.pid).get(1)).not.toBe(before)
    await workerAfter(server.pid, 1, before)
    await until(async () => (await ops.ask('/readyz'))[1] === 'not ready: sealed\n')
    await expectSealed()
  })

  // proves S22
  test.skipIf(process.getuid?.() !== 0)('have neither master key nor shares', async () => {
    const digits = readFileSync(keyFile, 'latin1').trim()
    const parts = shares.map(share => share.split('-').at(-2) ?? '')
    const forms = [digits, ...parts].flatMap(hex => [Buffer.from(hex, 'hex'), Buffer.from(hex)])
    const known = Buffer.from('coffer data folder, format ')
    const byKey = () => done(onFolder('unseal', '--master-key-file', keyFile))
    for (const open of [sendShares, () => done(unseal([3, 0, 2])), byKey]) {
      await beSealed()
      await open()
      for (const pid of processes()) {
        expect(foundInMemoryOf(pid, [...forms, known])).toEqual([known])
      }
    }
  })
})

test('workers that began with their key are sealed, and open by it again', async () => {
  const folder = join(temporaryFolder(), 'begun')
  const begunKey = `${folder}.key`
  const manager = await makeVault(folder, begunKey)
  const words = ['serve', '--data', folder, '--master-key-file', begunKey, '--port', '0']
  const begun = await startCoffer([...words, '--workers', '2'])
  const [address = ''] = begun.ready.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
  const headers = { 'SVC-API-KEY': manager, connection: 'close' }
  const statuses = async () => {
    const own = () => fetch(`${address}/applications/key`, { headers, keepalive: false })
    const answers = await Promise.all(Array.from({ length: asks }, own))
    return [...new Set(answers.map(({ status }) => status))]
  }
  expect(await statuses()).toEqual([200])
  await done(runCoffer(['seal', '--data', folder]))
  expect(await statuses()).toEqual([503])
  await done(runCoffer(['unseal', '--data', folder, '--master-key-file', begunKey]))
  expect(await statuses()).toEqual([200])
  expect(await begun.end('SIGTERM')).toBe(0)
  await done(runCoffer(['verify', '--data', folder, '--master-key-file', begunKey]))
})
