/**
 * A client that floods a server with wrong keys at its own pace, and waits for no answer. Requests
 * that the kernel does not take stay with the client, which counts them. It reopens a connection
 * that ends, as an attacker would. It runs as a process of its own, as `flood.ts` does.
 * @module
 */
import { countAnswers, runAside, wrongKeyRequest, type Answered } from './flood.ts'

export interface SteadyOrder {
  readonly port: number
  readonly connections: number
  readonly perSecond: number
  readonly seconds: number
}

export interface SteadyReport {
  readonly statuses: Readonly<Record<string, number>>
  readonly hasLeaked: boolean
  /** Wrong keys due by the clock. */
  readonly offered: number
  /** Due keys that were written to connections. */
  readonly written: number
  /** Written ones without an answer: their connection ended first. */
  readonly dropped: number
  /** Written ones with neither an answer nor an end of their connection, long after the last. */
  readonly silent: number
  /** Connections that the server ended with an answer that says so. */
  readonly endedInOrder: number
  /**
   * Connections that ended before such an answer was read: closing one with unread bytes resets it,
   * and the reset overtakes the answer (RFC 9112 section 9.6).
   */
  readonly reset: number
  /** Most keys that were due and not yet written, at any time. */
  readonly mostUnwritten: number
}

const tickMs = 5
const batchMax = 1_000
const reopenMs = 1
const lastAnswerMsMax = 30_000
const closing = /\r\nconnection: close\r\n/i
const closingChars = 21

interface Flood extends Answered {
  readonly order: SteadyOrder
  readonly lines: Line[]
  offered: number
  written: number
  dropped: number
  endedInOrder: number
  reset: number
  mostUnwritten: number
  isOver: boolean
}

/** A connection, or its place while it is reopened. */
interface Line {
  socket: Bun.Socket<undefined> | undefined
  unsent: Buffer | undefined
  waiting: number
  /** A possible half answer, and possible half of the header that announces the end. */
  rest: string
  tail: string
  isClosing: boolean
}

function nextBatch(flood: Flood, line: Line): Buffer | undefined {
  const due = flood.offered - flood.written
  const count = Math.min(batchMax, Math.ceil(due / flood.lines.length))
  if (count === 0) return undefined
  let text = ''
  for (let index = 1; index <= count; index += 1) text += wrongKeyRequest(flood.written + index)
  flood.written += count
  line.waiting += count
  return Buffer.from(text, 'latin1')
}

/** Writes due requests until the kernel takes no more on this connection. */
function pump(flood: Flood, line: Line): void {
  while (line.socket !== undefined) {
    line.unsent ??= nextBatch(flood, line)
    if (line.unsent === undefined) return
    const sent = line.socket.write(line.unsent)
    // The kernel's buffer is full, or the connection is gone: an event follows in either case.
    if (sent < line.unsent.length) {
      line.unsent = line.unsent.subarray(Math.max(0, sent))
      return
    }
    line.unsent = undefined
  }
}

function receive(flood: Flood, line: Line, chunk: string): void {
  const counted = countAnswers(line.rest + chunk, flood)
  line.rest = counted.rest
  line.waiting -= counted.count
  const end = line.tail + chunk
  if (closing.test(end)) line.isClosing = true
  line.tail = end.slice(-closingChars)
}

function close(flood: Flood, line: Line): void {
  if (line.socket === undefined) return
  line.socket = undefined
  flood.dropped += line.waiting
  if (line.isClosing) flood.endedInOrder += 1
  else flood.reset += 1
  if (!flood.isOver) void open(flood, line)
}

async function open(flood: Flood, line: Line): Promise<void> {
  const fresh = { unsent: undefined, waiting: 0, rest: '', tail: '', isClosing: false }
  Object.assign(line, fresh)
  const end = (): void => close(flood, line)
  const socket: Bun.SocketHandler<undefined> = {
    data: (_, chunk) => receive(flood, line, chunk.toString('latin1')),
    drain: () => pump(flood, line),
    close: end,
    error: end,
    end: own => void own.end(),
  }
  try {
    line.socket = await Bun.connect({ hostname: '127.0.0.1', port: flood.order.port, socket })
  } catch {
    if (!flood.isOver) setTimeout(() => void open(flood, line), reopenMs)
  }
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, each) => sum + each, 0)
const silentOf = ({ lines }: Flood): number =>
  sumOf(lines.map(({ socket, waiting }) => (socket === undefined ? 0 : waiting)))

/** Follows the clock: a late tick catches up. */
async function offer(flood: Flood): Promise<void> {
  const { order, lines } = flood
  const startedMs = performance.now()
  const total = order.perSecond * order.seconds
  for (let tick = 1; flood.offered < total; tick += 1) {
    await Bun.sleep(Math.max(0, startedMs + tick * tickMs - performance.now()))
    const dueNow = ((performance.now() - startedMs) / 1_000) * order.perSecond
    flood.offered = Math.min(total, Math.floor(dueNow))
    lines.forEach((_, index) => pump(flood, lines[(tick + index) % lines.length] as Line))
    flood.mostUnwritten = Math.max(flood.mostUnwritten, flood.offered - flood.written)
  }
}

async function run(order: SteadyOrder): Promise<SteadyReport> {
  const counts = { offered: 0, written: 0, dropped: 0, endedInOrder: 0, reset: 0 }
  const start = { ...counts, mostUnwritten: 0, isOver: false, statuses: {}, hasLeaked: false }
  const fresh = { socket: undefined, unsent: undefined, waiting: 0, rest: '', tail: '' }
  const place = (): Line => ({ ...fresh, isClosing: false })
  const lines = Array.from({ length: order.connections }, place)
  const flood: Flood = { ...start, order, lines }
  await Promise.all(lines.map(line => open(flood, line)))
  await offer(flood)
  flood.isOver = true
  const endMs = performance.now() + lastAnswerMsMax
  while (silentOf(flood) > 0 && performance.now() < endMs) await Bun.sleep(tickMs)
  const silent = silentOf(flood)
  const { statuses, hasLeaked, offered, written, dropped } = flood
  const { endedInOrder, reset, mostUnwritten } = flood
  const told = { statuses, hasLeaked, offered, written, dropped, silent }
  return { ...told, endedInOrder, reset, mostUnwritten }
}

/** Runs a flood. @throws Error if that fails */
export const startSteadyFlood = async (order: SteadyOrder): Promise<SteadyReport> =>
  (await runAside(import.meta.path, order)) as SteadyReport

if (import.meta.main) {
  console.info(JSON.stringify(await run(JSON.parse(process.argv[2] ?? '') as SteadyOrder)))
  process.exit(0)
}
