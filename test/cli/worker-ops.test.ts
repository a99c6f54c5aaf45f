/**
 * Health, readiness and metrics of several workers: one answer for all of them, by the process that
 * watches over them; and the address on the vault's own port for load balancers.
 * @module
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { strangersPerTurnMax } from '../../src/limits/limits.ts'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { scraperOf, sumOf, valueOf, type Scraper } from '../support/scrape.ts'
import { until } from '../support/until.ts'
import { exchange } from '../support/wire.ts'
import { workerAfter, workerOf } from '../support/worker-processes.ts'

const workers = 3
const msMax = 300_000
setDefaultTimeout(msMax)

let server: Running
let vault: string
let ops: Scraper
let opsAddress: string
let key: string
let data: string

beforeAll(async () => {
  data = join(temporaryFolder(), 'vault')
  const { stdout } = await runCoffer(['init', '--data', data, '--json'])
  key = (JSON.parse(stdout) as { key: string }).key
  const serving = ['serve', '--data', data, '--port', '0', '--ops-port', '0']
  const more = ['--workers', String(workers), '--check-path', '/up']
  server = await startCoffer([...serving, ...more])
  const [first = '', second = ''] = server.ready.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
  opsAddress = first
  ops = scraperOf(opsAddress)
  vault = second
})

afterAll(async () => {
  expect(await server.end('SIGTERM')).toBe(0)
})

/** Asks by a connection of its own each, so that the kernel spreads them. */
async function askVault(count: number): Promise<void> {
  const headers = { 'SVC-API-KEY': key, connection: 'close' }
  for (let n = 0; n < count; n += 1) {
    const { status } = await fetch(`${vault}/applications/key`, { headers, keepalive: false })
    expect(status).toBe(200)
  }
}

const own = 'coffer_requests_total{operation="getOwnApplication",status="200"}'
const lasted = 'coffer_request_duration_seconds_count{operation="getOwnApplication"}'
const within = 'coffer_request_duration_seconds_bucket{operation="getOwnApplication",le="+Inf"}'
const names = [...Array(workers).keys()].map(String)

const isReady = async (): Promise<boolean> => (await ops.ask('/readyz'))[1] === 'ready\n'

describe('the listener of several workers', () => {
  test('says that all of them live and are ready', async () => {
    expect(await ops.ask('/healthz')).toEqual([200, 'alive\n'])
    expect(await ops.ask('/readyz')).toEqual([200, 'ready\n'])
  })

  test('counts what any of them answered, with its buckets', async () => {
    const before = await ops.metrics()
    await askVault(30)
    const after = await ops.metrics()
    for (const line of [own, lasted, within]) {
      expect([line, (valueOf(after, line) ?? 0) - (valueOf(before, line) ?? 0)]).toEqual([line, 30])
    }
  })

  test('tells of the vault once, and of each process by its name', async () => {
    const text = await ops.metrics()
    expect(valueOf(text, 'coffer_data_keys')).toBe(1)
    for (const name of names) {
      expect(valueOf(text, `coffer_worker_up{worker="${name}"}`)).toBe(1)
      expect(valueOf(text, `coffer_worker_restarts_total{worker="${name}"}`)).toBeDefined()
    }
    for (const name of [...names, 'supervisor']) {
      for (const metric of ['process_resident_memory_bytes', 'process_open_fds']) {
        expect(valueOf(text, `${metric}{worker="${name}"}`)).toBeGreaterThan(0)
      }
      const lag = `coffer_event_loop_lag_seconds{worker="${name}"}`
      expect(valueOf(text, lag)).toBeGreaterThanOrEqual(0)
    }
  })

  test('one that is killed is started again, and nothing that was counted is lost', async () => {
    const before = workerOf(server.pid, 1)
    const restarts = 'coffer_worker_restarts_total{worker="1"}'
    let text = await ops.metrics()
    const again = (valueOf(text, restarts) ?? 0) + 1
    const counted = sumOf(text, 'coffer_requests_total')
    const falls: number[] = []
    process.kill(before, 'SIGKILL')
    await until(async () => {
      text = await ops.metrics()
      if (sumOf(text, 'coffer_requests_total') !== counted) falls.push(counted)
      return valueOf(text, restarts) === again && (await isReady())
    })
    await workerAfter(server.pid, 1, before)
    await askVault(6)
    expect(falls).toEqual([])
    expect(sumOf(await ops.metrics(), 'coffer_requests_total')).toBe(counted + 6)
  })

  test('one that hangs is told of, and its counts stay; it goes on by itself', async () => {
    const pid = workerOf(server.pid, 2)
    const before = await ops.metrics()
    process.kill(pid, 'SIGSTOP')
    try {
      const [alive, ready, text] = await Promise.all([
        ops.ask('/healthz'),
        ops.ask('/readyz'),
        ops.metrics(),
      ])
      expect(alive).toEqual([503, 'a worker does not answer\n'])
      expect(ready).toEqual([503, 'not ready: workers\n'])
      expect(names.map(name => valueOf(text, `coffer_worker_up{worker="${name}"}`))).toEqual([
        1, 1, 0,
      ])
      expect(valueOf(text, 'coffer_check_failed{check="workers"}')).toBe(1)
      expect(valueOf(text, 'process_open_fds{worker="2"}')).toBeUndefined()
      expect(sumOf(text, 'coffer_requests_total')).toBe(sumOf(before, 'coffer_requests_total'))
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await until(isReady)
    expect(valueOf(await ops.metrics(), 'coffer_worker_up{worker="2"}')).toBe(1)
  })
})

describe('the address of --check-path', () => {
  // proves S74
  test('says ok without a key, and nothing else, on the port of the vault', async () => {
    for (const path of ['/up', '/up/']) {
      const answer = await fetch(vault + path, { headers: { origin: 'https://shop.example' } })
      expect([answer.status, await answer.text()]).toEqual([200, 'ok\n'])
      const named = [...answer.headers.keys()].filter(name => name !== 'date').toSorted()
      expect(named).toEqual(['cache-control', 'content-length', 'content-type'])
    }
    expect((await fetch(`${vault}/up`, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${vault}/up`, { method: 'POST' })).status).toBe(405)
    expect((await fetch(`${vault}/up/more`)).status).toBe(404)
  })

  // proves H10
  test('ends a connection on which chunks came, behind which there may be more', async () => {
    const chunks = 'Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n'
    const asked = `GET /up HTTP/1.1\r\nHost: vault\r\n${chunks}`
    const { answers } = await exchange(Number(new URL(vault).port), asked)
    expect(answers.map(({ status }) => status)).toEqual([200])
    expect(answers[0]?.headers.get('connection')).toBe('close')
    const health = `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${chunks}`
    const told = await exchange(Number(new URL(opsAddress).port), health)
    expect(told.answers.map(({ status }) => status)).toEqual([200])
    expect(told.answers[0]?.headers.get('connection')).toBe('close')
  })

  // proves H126
  test('H126: ends a connection that waits for no answer, as the other listener does', async () => {
    // Few enough above the bound that the end overtakes no answer.
    const count = strangersPerTurnMax + 10
    for (const [address, path, status] of [
      [vault, '/up', 200],
      [opsAddress, '/none', 404],
    ] as const) {
      const asked = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(count)
      const { answers, isClosed } = await exchange(Number(new URL(address).port), asked, count)
      expect(isClosed).toBe(true)
      expect(answers.length).toBeLessThan(count)
      expect([answers[0]?.status, answers.at(-1)?.headers.get('connection')]).toEqual([
        status,
        'close',
      ])
    }
  })

  // proves S74
  test('says not ready while the vault is sealed, and not why', async () => {
    const sealed = join(temporaryFolder(), 'sealed')
    await runCoffer(['init', '--data', sealed])
    const words = ['serve', '--data', sealed, '--sealed', '--port', '0', '--check-path', '/healthz']
    const other = await startCoffer(words)
    const [address = ''] = other.ready.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
    const answer = await fetch(`${address}/healthz`)
    expect([answer.status, await answer.text()]).toEqual([503, 'not ready\n'])
    expect(await other.end('SIGTERM')).toBe(0)
  })

  test('is none where the vault has something else, or unless it is asked for', async () => {
    const taken = join(temporaryFolder(), 'taken')
    await runCoffer(['init', '--data', taken])
    const serving = ['serve', '--data', taken, '--port', '0', '--check-path']
    const ended = await runCoffer([...serving, '/tokens'])
    expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toEndWith(
      'coffer: --check-path: the vault answers at /tokens already: choose another\n',
    )
    const wrong = await runCoffer([...serving, '/tokens/up'])
    expect(wrong.exitCode).toBe(2)
    expect((await fetch(`${vault}/healthz`)).status).toBe(404)
  })
})
