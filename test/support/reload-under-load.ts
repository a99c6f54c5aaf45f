/**
 * Certificates that are changed again and again while callers go on: busy and idle kept-alive
 * connections, and new ones for each request. Nobody asks twice for anything.
 * @module
 */
import { openConnection, type Connection } from './connection.ts'
import { shakeHands, startTlsServer } from './tls-server.ts'

export interface Figures {
  readonly requests: number
  readonly connections: number
  /** What became of those that were not answered as they must be. */
  readonly failures: readonly string[]
  readonly slowestMs: number
  /** Handshakes so long after a signal that showed the certificate of before. */
  readonly outdated: number
  /** What the server wrote to stderr. */
  readonly lines: readonly string[]
}

const busy = 6
const fresh = 4
const idle = 6
const idleMs = 700
const freshMs = 10
const busyMs = 1

const endsHere = /\r\nconnection: close/i

interface Load {
  requests: number
  connections: number
  slowestMs: number
  isOver: boolean
  readonly failures: string[]
}

async function askOn(load: Load, port: number, key: string, pauseMs: number, isFresh: boolean) {
  let connection: Connection | undefined
  while (!load.isOver) {
    const startedMs = performance.now()
    try {
      if (connection?.isOpen() !== true) {
        load.connections += 1
        const tls = { rejectUnauthorized: false }
        connection = await openConnection({ hostname: '127.0.0.1', port, tls })
      }
      const { status, head } = await connection.ask('GET', '/applications/key', { key })
      load.requests += 1
      if (status !== 200) load.failures.push(`status ${status}`)
      if (isFresh || endsHere.test(head)) {
        connection.close()
        connection = undefined
      }
    } catch (error) {
      load.failures.push(String(error))
      connection = undefined
    }
    load.slowestMs = Math.max(load.slowestMs, performance.now() - startedMs)
    await Bun.sleep(pauseMs)
  }
  connection?.close()
}

const begin = (load: Load, port: number, key: string): Promise<unknown> => {
  const many = (count: number, pauseMs: number, isFresh: boolean) =>
    Array.from({ length: count }, () => askOn(load, port, key, pauseMs, isFresh))
  return Promise.all([
    ...many(busy, busyMs, false),
    ...many(idle, idleMs, false),
    ...many(fresh, freshMs, true),
  ])
}

/**
 * @param settledMs how long after a signal the next one comes: what it has changed shows by then
 */
export async function reloadUnderLoad(
  reloads: number,
  settledMs: number,
  ...args: readonly string[]
): Promise<Figures> {
  const { server, port, key, certificates, put } = await startTlsServer(...args)
  const load: Load = { requests: 0, connections: 0, slowestMs: 0, isOver: false, failures: [] }
  const loaded = begin(load, port, key)
  let outdated = 0
  for (let count = 1; count <= reloads; count += 1) {
    const wanted = count % 2 === 0 ? 'one' : 'two'
    put(certificates[count % 2 === 0 ? 0 : 1])
    process.kill(server.pid, 'SIGHUP')
    await Bun.sleep(settledMs)
    while ((await shakeHands(port)).name !== wanted) outdated += 1
  }
  load.isOver = true
  await loaded
  await server.end('SIGTERM')
  const lines = (await server.stderr).split('\n').filter(line => line !== '')
  const { requests, connections, failures, slowestMs } = load
  return { requests, connections, failures, slowestMs, outdated, lines }
}
