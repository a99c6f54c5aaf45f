/**
 * A client that floods a server, and waits for answers: pipelined requests over a few connections,
 * with a limit on unanswered ones. It runs as a process of its own, takes one argument of JSON,
 * and prints its report as one line.
 * @module
 */
import { canary } from '../../support/refusal.ts'

export interface FloodOrder {
  readonly port: number
  readonly connections: number
  /** Unanswered requests per connection. */
  readonly depth: number
  readonly total: number
  /** If given, makes sessions with this key; else tries wrong keys, each a different one. */
  readonly sessionKey?: string
}

export interface FloodReport {
  /** Number of answers per status. */
  readonly statuses: Readonly<Record<string, number>>
  readonly seconds: number
  /** Connections that ended before their last answer. */
  readonly broken: number
  /** True if the canary was in an answer. */
  readonly hasLeaked: boolean
}

const marker = 'HTTP/1.1 '
const statusChars = 3
const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const keyChars = 22

/** In turn: a key of the right form, one with the canary, and none at all. */
function wrongKey(number: number): string {
  if (number % 4 === 3) return `key_${canary}-${number}`
  let text = ''
  for (let rest = number; rest > 0; rest = Math.floor(rest / digits.length)) {
    text += digits[rest % digits.length] ?? ''
  }
  return number % 4 === 2 ? text : `key_${text.padEnd(keyChars, '7')}`
}

/** A request with a wrong key, wrong in one of several ways. @param number picks the key */
export const wrongKeyRequest = (number: number): string =>
  `GET /tokens HTTP/1.1\r\nhost: vault\r\nsvc-api-key: ${wrongKey(number)}\r\n\r\n`

const sessionRequest = (key: string): string =>
  `POST /sessions HTTP/1.1\r\nhost: vault\r\nsvc-api-key: ${key}\r\ncontent-length: 0\r\n\r\n`

const requestOf = ({ sessionKey }: FloodOrder, number: number): string =>
  sessionKey === undefined ? wrongKeyRequest(number) : sessionRequest(sessionKey)

/** Totals of the answers over all connections. */
export interface Answered {
  /** Number of answers per status. */
  readonly statuses: Record<string, number>
  hasLeaked: boolean
}

interface Tally extends Answered {
  asked: number
  broken: number
}

/** Counts the answers that begin in a text. @returns the count, and a possible half answer */
export function countAnswers(text: string, tally: Answered): { count: number; rest: string } {
  let count = 0
  let from = 0
  for (;;) {
    const at = text.indexOf(marker, from)
    if (at < 0 || at + marker.length + statusChars > text.length) break
    from = at + marker.length + statusChars
    const status = text.slice(from - statusChars, from)
    tally.statuses[status] = (tally.statuses[status] ?? 0) + 1
    count += 1
  }
  if (text.includes(canary)) tally.hasLeaked = true
  return { count, rest: text.slice(Math.max(from, text.length - marker.length - statusChars)) }
}

async function runConnection(order: FloodOrder, tally: Tally): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let [unsent, rest, waiting] = ['', '', 0]
  const send = (socket: Bun.Socket<undefined>): void => {
    while (waiting < order.depth && tally.asked < order.total) {
      unsent += requestOf(order, (tally.asked += 1))
      waiting += 1
    }
    if (unsent !== '') unsent = unsent.slice(Math.max(0, socket.write(unsent)))
    if (waiting === 0) socket.end()
  }
  const end = (): void => {
    if (waiting > 0) tally.broken += 1
    waiting = 0
    resolve()
  }
  const data = (socket: Bun.Socket<undefined>, chunk: Buffer): void => {
    const counted = countAnswers(rest + chunk.toString('latin1'), tally)
    rest = counted.rest
    waiting -= counted.count
    if (waiting <= order.depth / 2) send(socket)
  }
  const socket = { open: send, drain: send, data, close: end, error: end, end }
  await Bun.connect({ hostname: '127.0.0.1', port: order.port, socket })
  await promise
}

async function flood(order: FloodOrder): Promise<FloodReport> {
  const tally: Tally = { asked: 0, statuses: {}, broken: 0, hasLeaked: false }
  const startedMs = performance.now()
  await Promise.all(Array.from({ length: order.connections }, () => runConnection(order, tally)))
  const { statuses, broken, hasLeaked } = tally
  return { statuses, broken, hasLeaked, seconds: (performance.now() - startedMs) / 1_000 }
}

/**
 * Runs a client in a process of its own, from its file.
 * @returns its report
 * @throws Error if that fails
 */
export async function runAside(file: string, order: object): Promise<unknown> {
  const command = [process.execPath, file, JSON.stringify(order)]
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  return JSON.parse(await new Response(child.stdout).text())
}

/** Runs a flood. @throws Error if that fails */
export const startFlood = async (order: FloodOrder): Promise<FloodReport> =>
  (await runAside(import.meta.path, order)) as FloodReport

if (import.meta.main) {
  console.info(JSON.stringify(await flood(JSON.parse(process.argv[2] ?? '') as FloodOrder)))
}
