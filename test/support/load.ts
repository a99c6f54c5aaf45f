/**
 * Callers that keep sending while something happens to a server: on busy and idle kept-alive
 * connections, and on new ones for each request. Nobody retries.
 * @module
 */
import { openConnection, type Answer, type Connection, type Target } from './connection.ts'

export interface LoadFigures {
  requests: number
  connections: number
  slowestMs: number
  /** Requests with a wrong answer or none. */
  readonly failures: string[]
}

const busy = 6
const fresh = 4
const idle = 6
const idleMs = 700
const freshMs = 10
const busyMs = 1

const endsHere = /\r\nconnection: close/i

/** Request that each caller repeats. @throws Error for a wrong answer */
type Ask = (connection: Connection) => Promise<Answer>

interface Load extends LoadFigures {
  isOver: boolean
  readonly target: Target
  readonly ask: Ask
}

/** @param key of any application */
export const askOwn =
  (key: string): Ask =>
  connection =>
    connection.ask('GET', '/applications/key', { key })

async function askOn(load: Load, pauseMs: number, isFresh: boolean) {
  const { target, ask } = load
  let connection: Connection | undefined
  while (!load.isOver) {
    const startedMs = performance.now()
    try {
      if (connection?.isOpen() !== true) {
        load.connections += 1
        connection = await openConnection(target)
      }
      const { status, head } = await ask(connection)
      load.requests += 1
      if (status >= 300) load.failures.push(`status ${status}`)
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

/** @returns a function that ends it, once every open request has ended */
export function beginLoad(target: Target, ask: Ask): () => Promise<LoadFigures> {
  const figures: LoadFigures = { requests: 0, connections: 0, slowestMs: 0, failures: [] }
  const load: Load = Object.assign(figures, { isOver: false, target, ask })
  const many = (count: number, pauseMs: number, isFresh: boolean) =>
    Array.from({ length: count }, () => askOn(load, pauseMs, isFresh))
  const all = Promise.all([
    ...many(busy, busyMs, false),
    ...many(idle, idleMs, false),
    ...many(fresh, freshMs, true),
  ])
  return async () => {
    load.isOver = true
    await all
    const { requests, connections, slowestMs, failures } = load
    return { requests, connections, slowestMs, failures }
  }
}
