/**
 * `coffer serve --workers`: several processes on one port and one folder are one vault, and what
 * ends any of them ends nothing else. Contract section 13; docs/decisions.md, "Beyond one machine".
 * @module
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { acceptTurnMs, workerStartsMax } from '../../src/limits/operation-limits.ts'
import { sweepIntervalMs } from '../../src/limits/work-limits.ts'
import { countRows } from '../crash/kill/rows.ts'
import { runCoffer, startCoffer, type Running, withoutWarnings } from '../support/coffer-process.ts'
import { openConnection, type Answer, type Connection } from '../support/connection.ts'
import { temporaryFolder } from '../support/folders.ts'
import { startSleeper } from '../support/lock-sleepers.ts'
import { until } from '../support/until.ts'
import {
  countConnections,
  isRunning,
  workerAfter,
  workerOf,
  workersOf,
  openFilesOf,
} from '../support/worker-processes.ts'

const workers = 3
/** Number of connections, so large that no worker is left out. */
const connectionCount = 48
const permissions = ['create', 'read', 'update', 'delete'].map(name => `token:${name}`)

// Each starts several processes, on machines that may be slow.
setDefaultTimeout(300_000)

/** All are ended, even if their test failed. */
const started: Running[] = []
afterAll(async () => {
  await Promise.all(started.map(server => server.end('SIGKILL')))
})

let root: string
let managementKey: string
beforeAll(async () => {
  root = temporaryFolder()
  const { stdout } = await runCoffer(['init', '--data', join(root, 'made'), '--json'])
  managementKey = (JSON.parse(stdout) as { key: string }).key
})

interface Instance {
  readonly server: Running
  readonly data: string
  readonly port: number
  readonly key: string
}

const portOf = (line: string): number => Number(/:(\d+)\s*$/.exec(line)?.[1])
const parse = <T>({ text }: Answer): T => JSON.parse(text) as T

const connectTo = (port: number, count: number): Promise<Connection[]> =>
  Promise.all(Array.from({ length: count }, () => openConnection({ hostname: '127.0.0.1', port })))

const isOpen = (port: number): Promise<boolean> =>
  connectTo(port, 1).then(
    connections => (closeAll(connections), true),
    () => false,
  )

function closeAll(connections: readonly Connection[]): void {
  for (const connection of connections) connection.close()
}

interface Application {
  readonly id: string
  readonly key: string
}

async function makeApplication(connection: Connection): Promise<Application> {
  const rule = { priority: 1, container: '/', transform: 'reveal', permissions }
  const body = { name: 'app', type: 'private', rules: [rule] }
  const question = { key: managementKey, body }
  return parse<Application>(await connection.ask('POST', '/applications', question))
}

const optionsFor = (data: string) => ['serve', '--data', data, '--port', '0']

async function startInstance(name: string): Promise<Instance> {
  const data = join(root, name)
  cpSync(join(root, 'made'), data, { recursive: true })
  const server = await startCoffer([...optionsFor(data), '--workers', String(workers)])
  started.push(server)
  const port = portOf(server.ready)
  const connections = await connectTo(port, 1)
  const [first] = connections
  if (first === undefined) throw new Error('no connection')
  const { key } = await makeApplication(first)
  closeAll(connections)
  return { server, data, port, key }
}

/** Ends it as an operator does; gives what it wrote to stderr. */
async function endInstance({ server }: Instance): Promise<string> {
  const pids = [...workersOf(server.pid).values()]
  expect(await server.end('SIGTERM')).toBe(0)
  expect(pids.filter(isRunning)).toEqual([])
  expect(await server.stdout).toBe('')
  return withoutWarnings(await server.stderr)
}

const statusesOf = async (answers: readonly Promise<Answer>[]): Promise<number[]> =>
  (await Promise.all(answers)).map(({ status }) => status).toSorted((a, b) => a - b)

const times = (count: number, status: number): number[] =>
  Array.from({ length: count }, () => status)

describe('several workers are one vault', () => {
  let instance: Instance
  let connections: Connection[]
  let first: Connection
  let others: Connection[]
  beforeAll(async () => {
    instance = await startInstance('together')
    connections = await connectTo(instance.port, connectionCount)
    await Promise.all(connections.map(own => own.ask('GET', '/tokens', { key: instance.key })))
    const [one, ...rest] = connections
    if (one === undefined) throw new Error('no connection')
    first = one
    others = rest
  })
  afterAll(async () => {
    closeAll(connections)
    expect(await endInstance(instance)).toBe('')
  })

  const create = (connection: Connection, body: object, headers = {}) =>
    connection.ask('POST', '/tokens', { key: instance.key, body, headers })
  const read = (connection: Connection, id: string) =>
    connection.ask('GET', `/tokens/${id}`, { key: instance.key })

  const count = () =>
    [...workersOf(instance.server.pid).values()].map(own => countConnections(own, instance.port))
  const sumOf = (counts: readonly number[]) => counts.reduce((sum, one) => sum + one, 0)

  test('each of them has some of the connections', async () => {
    let counts = count()
    // The connection by which readiness was asked for may still be about to close.
    await until(() => sumOf((counts = count())) === connectionCount)
    expect(counts.length).toBe(workers)
    expect(Math.min(...counts)).toBeGreaterThan(0)
    expect(countConnections(instance.server.pid, instance.port)).toBe(0)
  })

  test('connections that come one after the other come to each in turn', async () => {
    const before = count()
    const later: Connection[] = []
    while (later.length < connectionCount) {
      const [own] = await connectTo(instance.port, 1)
      if (own === undefined) throw new Error('no connection')
      await own.ask('GET', '/tokens', { key: instance.key })
      later.push(own)
      await Bun.sleep(2 * acceptTurnMs)
    }
    const more = count().map((each, at) => each - (before[at] ?? 0))
    expect(Math.min(...more)).toBeGreaterThan(connectionCount / workers / 2)
    closeAll(later)
    while (sumOf(count()) > connectionCount) await Bun.sleep(10)
  })

  test('they say once that they are ready', () => {
    expect(instance.server.ready).toBe(`Coffer listens on http://127.0.0.1:${instance.port}\n`)
  })

  test('a change that one answered with 201, 200 or 204, all others show at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = `shown-${round}`
      expect((await create(first, { id, type: 'token', data: 1 })).status).toBe(201)
      expect(await statusesOf(others.map(own => read(own, id)))).toEqual(times(others.length, 200))
      const question = { key: instance.key, body: { data: 2 } }
      expect((await first.ask('PATCH', `/tokens/${id}`, question)).status).toBe(200)
      const read2 = await Promise.all(others.map(own => read(own, id)))
      expect(read2.every(answer => parse<{ data: number }>(answer).data === 2)).toBe(true)
      const deleted = await first.ask('DELETE', `/tokens/${id}`, { key: instance.key })
      expect(deleted.status).toBe(204)
      expect(await statusesOf(others.map(own => read(own, id)))).toEqual(times(others.length, 404))
    }
  })

  test('a key that was regenerated, or whose application is gone, is refused by all', async () => {
    const { id, key } = await makeApplication(first)
    const useAll = (used: string) =>
      statusesOf(connections.map(own => own.ask('GET', '/tokens', { key: used })))
    expect(await useAll(key)).toEqual(times(connectionCount, 200))
    const path = `/applications/${id}`
    const regenerated = await first.ask('POST', `${path}/regenerate`, { key: managementKey })
    expect(await useAll(key)).toEqual(times(connectionCount, 401))
    const next = parse<Application>(regenerated).key
    expect(await useAll(next)).toEqual(times(connectionCount, 200))
    expect((await first.ask('DELETE', path, { key: managementKey })).status).toBe(204)
    expect(await useAll(next)).toEqual(times(connectionCount, 401))
  })

  test('of parallel creates of one id one lands', async () => {
    const creates = connections.map(own => create(own, { id: 'only', type: 'token', data: 1 }))
    expect(await statusesOf(creates)).toEqual([201, ...times(connectionCount - 1, 409)])
  })

  test('parallel creates with deduplication name one token', async () => {
    const body = { type: 'token', data: 'equal', deduplicate_token: true }
    const answers = await Promise.all(connections.map(own => create(own, body)))
    expect(answers.every(({ status }) => status === 201)).toBe(true)
    expect(new Set(answers.map(answer => parse<{ id: string }>(answer).id)).size).toBe(1)
  })

  test('one idempotency key does one thing', async () => {
    const headers = { 'SVC-Idempotency-Key': 'once' }
    const body = { type: 'token', data: 'once', metadata: { idempotent: 'once' } }
    const answers = await Promise.all(connections.map(own => create(own, body, headers)))
    expect(answers.every(({ status }) => [201, 409].includes(status))).toBe(true)
    const replays = await Promise.all(connections.map(own => create(own, body, headers)))
    expect(replays.every(({ status }) => status === 201)).toBe(true)
    const made = [...answers.filter(({ status }) => status === 201), ...replays]
    expect(new Set(made.map(answer => parse<{ id: string }>(answer).id)).size).toBe(1)
    const path = '/tokens?metadata.idempotent=once'
    const list = await first.ask('GET', path, { key: instance.key })
    expect(parse<{ pagination: { total_items: number } }>(list).pagination.total_items).toBe(1)
  })

  test('no update is lost among parallel ones of one token', async () => {
    await create(first, { id: 'patched', type: 'token', data: {} })
    const patches = connections.map((own, index) => {
      const body = { data: { [`writer ${index}`]: index } }
      return own.ask('PATCH', '/tokens/patched', { key: instance.key, body })
    })
    expect(await statusesOf(patches)).toEqual(times(connectionCount, 200))
    const { data } = parse<{ data: object }>(await read(first, 'patched'))
    expect(Object.keys(data).length).toBe(connectionCount)
  })
})

describe('the end of a worker', () => {
  test('by kill -9 ends no other one, and another one comes in its place', async () => {
    const instance = await startInstance('killed')
    const { server, port, key } = instance
    const before = workersOf(server.pid)
    // It sleeps on a word that nobody changes, like one that waits in vain for a free lock.
    const sleeper = await startSleeper(join(instance.data, 'store', 'lock.mdb'), 0)
    for (const index of [0, 1]) {
      const pid = workerOf(server.pid, index)
      process.kill(pid, 'SIGKILL')
      await workerAfter(server.pid, index, pid)
    }
    expect(await sleeper.exited).toBe(0)
    expect(workersOf(server.pid).get(2)).toBe(before.get(2) ?? 0)
    const after = [...workersOf(server.pid).values()]
    const connections: Connection[] = []
    const everyoneServes = () => after.every(pid => countConnections(pid, port) > 0)
    while (!everyoneServes()) connections.push(...(await connectTo(port, 8)))
    const answers = connections.map(own => own.ask('GET', '/tokens', { key }))
    expect(new Set(await statusesOf(answers))).toEqual(new Set([200]))
    closeAll(connections)
    const lines = (await endInstance(instance)).trim().split('\n')
    const events = lines.map(line => JSON.parse(line) as object)
    const ended = { event: 'worker_ended', signal: 'SIGKILL' }
    expect(events).toEqual([
      expect.objectContaining({ ...ended, worker: 0 }),
      expect.objectContaining({ ...ended, worker: 1 }),
    ])
  })

  test('for as long as it cannot start again leaves the others', async () => {
    const instance = await startInstance('missing')
    const { server, data, port, key } = instance
    const [masterKey, elsewhere] = [join(data, 'master.key'), join(data, 'elsewhere')]
    renameSync(masterKey, elsewhere)
    const before = workersOf(server.pid)
    process.kill(workerOf(server.pid, 1), 'SIGKILL')
    const starts = new Set<number | undefined>([undefined, before.get(1)])
    const countStarts = () => starts.add(workersOf(server.pid).get(1)).size - 2
    await until(() => countStarts() > workerStartsMax)
    renameSync(elsewhere, masterKey)
    for (const index of [0, 2]) {
      expect(workersOf(server.pid).get(index)).toBe(before.get(index) ?? 0)
    }
    const connections: Connection[] = []
    const isBack = () => countConnections(workersOf(server.pid).get(1) ?? 0, port) > 0
    await until(async () => {
      if (isBack()) return true
      connections.push(...(await connectTo(port, 8)))
      await Bun.sleep(200)
      return false
    })
    const answers = connections.map(own => own.ask('GET', '/tokens', { key }))
    expect(new Set(await statusesOf(answers))).toEqual(new Set([200]))
    closeAll(connections)
    expect((await endInstance(instance)).split('"worker_missing"')).toHaveLength(2)
  })
})

describe('the end of the process that watches', () => {
  test('by kill -9 ends all workers; until then nobody else gets the folder', async () => {
    const { server, data, port } = await startInstance('orphaned')
    const pids = [...workersOf(server.pid).values()]
    for (const pid of pids) expect(openFilesOf(pid)).toContain(join(data, 'lock'))
    const second = await runCoffer(optionsFor(data))
    expect([second.exitCode, second.stdout]).toEqual([1, ''])
    await server.end('SIGKILL')
    await until(() => !pids.some(isRunning))
    // The system closes their sockets a moment after it has ended them.
    await until(async () => !(await isOpen(port)))
    const alone = await startCoffer(optionsFor(data))
    expect(workersOf(alone.pid).size).toBe(0)
    expect(await alone.end('SIGTERM')).toBe(0)
  })
})

describe('the sweep', () => {
  const count = 20
  const leadMsMin = 10_000

  /** @returns when they are due, by the clock on the wall */
  async function createDue({ port, key }: Instance, leadMs: number): Promise<number> {
    const connections = await connectTo(port, 1)
    const dueMs = Date.now() + leadMs
    const token = { type: 'token', data: 'due', expires_at: new Date(dueMs).toISOString() }
    const body = Array.from({ length: count }, () => token)
    const answer = await connections[0]?.ask('POST', '/tokenize', { key, body })
    expect(answer?.status).toBe(200)
    closeAll(connections)
    return dueMs
  }

  test('is of one worker alone, and of the one in its place', async () => {
    const instance = await startInstance('swept')
    const { server, data } = instance
    const rows = await countRows(data)
    const sweeper = workerOf(server.pid, 0)
    let dueMs = 0
    // Tries again with twice the time if a busy machine has made them too late.
    for (let leadMs = leadMsMin; dueMs <= Date.now(); leadMs *= 2) {
      process.kill(sweeper, 'SIGCONT')
      await until(async () => (await countRows(data)) === rows)
      dueMs = await createDue(instance, leadMs)
      process.kill(sweeper, 'SIGSTOP')
    }
    await Bun.sleep(dueMs - Date.now() + 2 * sweepIntervalMs)
    expect(await countRows(data)).toBe(rows + count)
    process.kill(sweeper, 'SIGKILL')
    await workerAfter(server.pid, 0, sweeper)
    await until(async () => (await countRows(data)) === rows)
    await endInstance(instance)
  })
})

describe('refusals', () => {
  test.each([
    ['with a socket', ['--socket', '/nowhere/s', '--workers', '2']],
    ['of none', ['--workers', '0']],
    ['of too many', ['--workers', '65']],
  ])('workers %s', async (_, options) => {
    const args = ['serve', '--data', join(root, 'made'), ...options]
    const { exitCode, stdout, stderr } = await runCoffer(args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^coffer: --workers or COFFER_WORKERS: expected .+; see --help\n$/)
  })

  // proves E12.1
  test('the port of workers is in use for another vault', async () => {
    const instance = await startInstance('sharing')
    const data = join(root, 'intruder')
    cpSync(join(root, 'made'), data, { recursive: true })
    const port = String(instance.port)
    for (const count of ['1', '2']) {
      const args = ['serve', '--data', data, '--port', port, '--workers', count]
      const { exitCode, stdout, stderr } = await runCoffer(args)
      expect([exitCode, stdout]).toEqual([1, ''])
      expect(stderr).toStartWith(`coffer: port ${port} is in use`)
    }
    await endInstance(instance)
  })

  test('a worker that nobody ordered, whom no help speaks of', async () => {
    const unordered = await runCoffer(['worker', '0'])
    expect([unordered.exitCode, unordered.stdout]).toEqual([2, ''])
    const help = await runCoffer(['--help'])
    expect(help.stdout).toContain('serve')
    expect(help.stdout).not.toContain('worker')
  })
})
