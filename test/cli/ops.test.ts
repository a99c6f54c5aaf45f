/**
 * The listener for health and metrics, of a process as a person starts it.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { join } from 'node:path'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { startOps } from '../../src/server/watch/ops.ts'
import { failingOf } from '../../src/server/watch/process-report.ts'
import { temporaryFolder } from '../support/folders.ts'

const secret = 'planted-4111111111111111'

let server: Running
let ops: string
let vault: string
let key: string

const addressesIn = (text: string): string[] => text.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []

beforeAll(async () => {
  const data = join(temporaryFolder(), 'vault')
  const { stdout } = await runCoffer(['init', '--data', data, '--json'])
  key = (JSON.parse(stdout) as { key: string }).key
  server = await startCoffer(['serve', '--data', data, '--port', '0', '--ops-port', '0'])
  const [opsAddress = '', address = ''] = addressesIn(server.ready)
  ops = opsAddress
  vault = address
})

afterAll(async () => {
  expect(await server.end('SIGTERM')).toBe(0)
})

const metricsOf = async (address = ops): Promise<string> =>
  (await fetch(`${address}/metrics`)).text()

/** The value of a line of the text format. */
const valueOf = (text: string, line: string): number | undefined => {
  const found = text.split('\n').find(one => one.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length + 1))
}

describe('the listener for health and metrics', () => {
  test('is told of before the vault, at another address', () => {
    expect(server.ready).toMatch(/^Health and metrics are on .*\nCoffer listens on .*\n$/)
    expect(ops).not.toBe(vault)
  })

  test('says that the process lives and is ready, with no key', async () => {
    for (const [path, text] of [
      ['/healthz', 'alive\n'],
      ['/readyz', 'ready\n'],
    ]) {
      const answer = await fetch(ops + path)
      expect([answer.status, await answer.text()]).toEqual([200, text ?? ''])
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect((await fetch(ops + path, { method: 'HEAD' })).status).toBe(200)
    }
  })

  test('answers nothing else, and the vault answers none of it', async () => {
    expect((await fetch(`${ops}/tokens`)).status).toBe(404)
    expect((await fetch(`${ops}/metrics//`)).status).toBe(404)
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect((await fetch(`${ops}/metrics`, { method })).status).toBe(405)
    }
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await fetch(vault + path)).status).toBe(404)
    }
  })

  test('counts each answer once, by operation, status and kind of refusal', async () => {
    const count = (text: string, line: string): number => valueOf(text, line) ?? 0
    const lines = {
      own: 'coffer_requests_total{operation="getOwnApplication",status="200"}',
      unknown: 'coffer_requests_total{operation="listTokens",status="401"}',
      nowhere: 'coffer_requests_total{operation="none",status="404"}',
      refused: 'coffer_refusals_total{kind="unauthenticated"}',
      lasted: 'coffer_request_duration_seconds_count{operation="getOwnApplication"}',
      fast: 'coffer_request_duration_seconds_bucket{operation="getOwnApplication",le="30"}',
    }
    const before = await metricsOf()
    const headers = { 'SVC-API-KEY': key }
    for (let n = 0; n < 3; n += 1) await fetch(`${vault}/applications/key`, { headers })
    for (let n = 0; n < 2; n += 1) await fetch(`${vault}/tokens`)
    await fetch(`${vault}/no/such/address`)
    const after = await metricsOf()
    const grown = Object.entries(lines).map(([name, line]) => [
      name,
      count(after, line) - count(before, line),
    ])
    const expected = { own: 3, unknown: 2, nowhere: 1, refused: 2, lasted: 3, fast: 3 }
    expect(Object.fromEntries(grown)).toEqual(expected)
    expect(count(after, 'coffer_requests_in_flight')).toBe(0)
  })

  test('tells of the store as it grows', async () => {
    const before = await metricsOf()
    const body = JSON.stringify({ name: 'app', type: 'private', permissions: ['token:create'] })
    const headers = { 'SVC-API-KEY': key, 'content-type': 'application/json' }
    await fetch(`${vault}/applications`, { method: 'POST', headers, body })
    const after = await metricsOf()
    for (const line of ['coffer_store_rows', 'coffer_store_tail_rows']) {
      expect(valueOf(after, line)).toBe((valueOf(before, line) ?? NaN) + 1)
    }
    const positive = ['coffer_store_file_bytes', 'coffer_disk_free_bytes', 'coffer_disk_bytes']
    const own = ['process_resident_memory_bytes', 'process_open_fds', 'process_cpu_seconds_total']
    for (const line of [...positive, ...own]) expect(valueOf(after, line)).toBeGreaterThan(0)
    expect(valueOf(after, 'coffer_clock_behind_seconds')).toBeGreaterThanOrEqual(0)
  })

  test('holds no key, and nothing that a caller sent', async () => {
    const headers = { 'SVC-API-KEY': `key_${secret}`, 'SVC-TRACE-ID': secret }
    await fetch(`${vault}/tokens/${secret}?${secret}=1`, { headers })
    await fetch(`${vault}/${secret}`, { headers: { 'SVC-API-KEY': key } })
    const text = await metricsOf()
    expect(text).not.toContain(secret)
    expect(text).not.toContain(key)
  })
})

describe('a page of another site in a browser of this machine', () => {
  const paths = ['/healthz', '/readyz', '/metrics', '/sys/unseal', '/nowhere']
  const asked = (path: string, headers: Record<string, string>, method = 'GET') =>
    fetch(ops + path, { method, headers })

  // proves E26.2, S75
  test('whose name leads here is told nothing, whatever it asks for', async () => {
    const { port } = new URL(ops)
    const hosts = [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'a@127.0.0.1',
    ]
    for (const host of [...hosts, '127.1', '0x7f.1', 'localhost.', '[::1].evil.example']) {
      for (const path of paths) {
        for (const sent of [host, `${host}:${port}`]) {
          const answer = await asked(path, { host: sent }, 'GET')
          expect([sent, path, answer.status]).toEqual([sent, path, 421])
          expect(await answer.text()).not.toContain(host)
        }
      }
    }
  })

  /** Sends one request as it stands. @returns all that comes back */
  const sent = async (text: string): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const parts: string[] = []
    const socket = connect(Number(new URL(ops).port), '127.0.0.1', () => socket.write(text))
    socket.on('data', data => parts.push(data.toString('latin1')))
    socket.once('close', () => resolve(parts.join('')))
    return promise
  }

  // proves E26.2
  test('is told nothing by a host that is none', async () => {
    const named = [
      '[localhost]',
      '[127.0.0.1]',
      '[::1%25lo]',
      '[::1%lo]',
      '::1',
      '1::2:3',
      '[[::1]]',
    ]
    const broken = ['[', ']', '[]', '[::1', '[::1]x', '[::1]80', ':80', '', 'a b', 'localhost x']
    const ports = [
      'localhost:99999',
      'localhost:123456',
      'localhost:-1',
      'localhost:80:80',
      '[::1]:x',
    ]
    const rest = [
      'localhost/healthz',
      'localhost?',
      'localhost#',
      '127.0.0.1%00',
      'localhost, localhost',
    ]
    for (const host of [...named, ...broken, ...ports, ...rest]) {
      for (const path of paths) {
        const answer = await sent(
          `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        )
        expect([host, path, answer.slice(0, 12)]).toEqual([host, path, 'HTTP/1.1 421'])
        expect(answer).toEndWith('ask by an address, localhost or the host that --ops-host names\n')
      }
    }
  })

  // proves E26.2
  test('is told nothing by two hosts, of which one is its own', async () => {
    for (const other of ['evil.example', 'localhost']) {
      const hosts = `Host: localhost\r\nHost: ${other}\r\n`
      const answer = await sent(`GET /healthz HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`)
      expect(answer).toStartWith('HTTP/1.1 421')
    }
  })

  // proves E26.2, S75
  test('is told nothing by an address either, nor is a script that it loads', async () => {
    for (const path of paths) {
      for (const site of ['cross-site', 'Cross-Site', 'same-site']) {
        expect((await asked(path, { 'sec-fetch-site': site })).status).toBe(403)
      }
    }
    for (const site of ['none', 'same-origin']) {
      expect((await asked('/healthz', { 'sec-fetch-site': site })).status).toBe(200)
    }
  })

  test('is who asks by an address or by localhost, and is answered', async () => {
    const { port } = new URL(ops)
    const hosts = ['localhost', 'LOCALHOST', '127.0.0.1', '10.1.2.3', '[::1]', '[2001:db8::1]']
    for (const host of hosts) {
      for (const sent of [host, `${host}:`, `${host}:${port}`]) {
        expect([sent, (await asked('/healthz', { host: sent })).status]).toEqual([sent, 200])
      }
    }
  })

  test('is no probe by HTTP/1.0 that sends no host: it is answered', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const socket = connect(Number(new URL(ops).port), '127.0.0.1', () =>
      socket.write('GET /healthz HTTP/1.0\r\n\r\n'),
    )
    socket.once('data', data => resolve(data.toString('latin1')))
    expect(await promise).toStartWith('HTTP/1.1 200')
    socket.destroy()
  })
})

describe('where the listener cannot be', () => {
  test('a port that is taken keeps the vault from serving, in one line', async () => {
    const data = join(temporaryFolder(), 'vault')
    await runCoffer(['init', '--data', data])
    const taken = new URL(ops).port
    const ended = await runCoffer(['serve', '--data', data, '--port', '0', '--ops-port', taken])
    expect(ended).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `coffer: port ${taken} is in use: stop that process or choose another --ops-port\n`,
    })
  })

  test('no listener is there unless it is asked for', async () => {
    const data = join(temporaryFolder(), 'vault')
    await runCoffer(['init', '--data', data])
    const alone = await startCoffer(['serve', '--data', data, '--port', '0'])
    expect(addressesIn(alone.ready)).toHaveLength(1)
    expect(await alone.end('SIGTERM')).toBe(0)
  })
})

test('a vault that is stopping, and what a check meets that fails, is not ready', async () => {
  const fails = {
    sealed: false,
    stopping: false,
    store: false,
    clock: false,
    clock_ahead: false,
    disk: false,
    fold: false,
    backup: false,
    audit_log: false,
  }
  const checks = {
    sealed: () => fails.sealed,
    stopping: () => fails.stopping,
    clock: () => fails.clock,
    clock_ahead: () => fails.clock_ahead,
    store: () => {
      if (fails.store) throw new Error('it cannot be read')
      return false
    },
    disk: () => fails.disk,
    fold: () => fails.fold,
    backup: () => fails.backup,
    audit_log: () => fails.audit_log,
  }
  const numbers = () => Promise.reject(new Error(secret))
  const told = { failing: () => failingOf(checks), isAlive: () => true, numbers }
  const alone = startOps({ host: '127.0.0.1', port: 0 }, told)
  const ask = async (path: string) => {
    const answer = await fetch(alone.address + path)
    return [answer.status, await answer.text()]
  }
  expect(await ask('/readyz')).toEqual([200, 'ready\n'])
  for (const name of ['sealed', 'stopping', 'store', 'clock', 'disk', 'fold', 'backup'] as const) {
    fails[name] = true
    expect(await ask('/readyz')).toEqual([503, `not ready: ${name}\n`])
    fails[name] = false
  }
  fails.audit_log = true
  expect(await ask('/readyz')).toEqual([200, 'ready, but: audit_log\n'])
  fails.audit_log = false
  fails.clock_ahead = true
  expect(await ask('/readyz')).toEqual([200, 'ready, but: clock_ahead\n'])
  fails.disk = true
  expect(await ask('/readyz')).toEqual([503, 'not ready: clock_ahead, disk\n'])
  fails.clock_ahead = fails.disk = false
  fails.store = fails.fold = true
  expect(await ask('/readyz')).toEqual([503, 'not ready: store, fold\n'])
  expect(await ask('/healthz')).toEqual([200, 'alive\n'])
  expect(await ask('/metrics')).toEqual([500, 'this cannot be told\n'])
  await alone.stop()
})
