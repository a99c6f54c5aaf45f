/**
 * A bare HTTP/1.1 client over one kept-alive connection: it takes little time from the server
 * beside it, and knows when the last byte of an answer came.
 *
 * One request at a time, never retried. It takes answers with a length, in chunks, or without a
 * body.
 * @module
 */
import { readChunks } from './chunks.ts'

export type Target =
  | { readonly unix: string }
  | { readonly hostname: string; readonly port: number; readonly tls?: Bun.TLSOptions }

export interface Question {
  readonly key?: string | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  readonly type?: string
  /** More header lines, by name. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  /** Status line and header lines. */
  readonly head: string
  readonly text: string
}

export interface Connection {
  /** @throws Error when the connection ended before the last byte of the answer */
  ask(method: string, path: string, question?: Question): Promise<Answer>
  isOpen(): boolean
  close(): void
}

const headEnd = Buffer.from('\r\n\r\n')
const lengthLine = /\r\ncontent-length: *(\d+)/i
const chunkedLine = /^transfer-encoding: chunked$/im
const bodiless = 204

const endedEarly = (what: string): Error => new Error(`the connection ended before ${what}`)

function requestBytes(method: string, path: string, question: Question): Buffer {
  const { key, body, type, headers = {} } = question
  const usual = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  let head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n`
  if (key !== undefined) head += `svc-api-key: ${key}\r\n`
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`
  if (body === undefined) return Buffer.from(`${head}\r\n`)
  const text = JSON.stringify(body)
  const length = Buffer.byteLength(text)
  return Buffer.from(
    `${head}content-type: ${type ?? usual}\r\ncontent-length: ${length}\r\n\r\n${text}`,
  )
}

/** Parses the answer in these bytes; `undefined` if it is incomplete. */
function parseAnswer(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf(headEnd)
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const from = end + headEnd.length
  if (chunkedLine.test(head)) {
    const read = readChunks(bytes, from)
    return read && { status, head, text: read.body.toString('utf8') }
  }
  const length = lengthLine.exec(head)?.[1]
  if (length === undefined && status !== bodiless) throw new Error('an answer without a length')
  const to = from + Number(length ?? 0)
  return bytes.length < to ? undefined : { status, head, text: bytes.toString('utf8', from, to) }
}

interface Waiter {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
  /** Method and path. */
  readonly asked: string
}

/** State of a connection between two events of its socket. */
interface Wire {
  received: Buffer
  unsent: Buffer
  waiter: Waiter | undefined
  isOpen: boolean
}

const nothing = Buffer.alloc(0)

function settle(wire: Wire, answer: Answer | Error): void {
  const { waiter } = wire
  wire.waiter = undefined
  wire.received = nothing
  if (answer instanceof Error) waiter?.reject(answer)
  else waiter?.resolve(answer)
}

function receive(wire: Wire, chunk: Buffer): void {
  wire.received = wire.received.length === 0 ? chunk : Buffer.concat([wire.received, chunk])
  try {
    const answer = parseAnswer(wire.received)
    if (answer !== undefined) settle(wire, answer)
    // The socket may reuse the memory of the chunk.
    else if (wire.received === chunk) wire.received = Buffer.from(chunk)
  } catch (error) {
    settle(wire, error instanceof Error ? error : endedEarly('a whole answer'))
  }
}

function send(wire: Wire, socket: Bun.Socket<undefined>): void {
  const sent = socket.write(wire.unsent)
  wire.unsent = sent < wire.unsent.length ? wire.unsent.subarray(Math.max(0, sent)) : nothing
}

function end(wire: Wire): void {
  wire.isOpen = false
  const { waiter, received } = wire
  settle(wire, endedEarly(`the answer to ${waiter?.asked}: ${received.length} bytes of it came`))
}

/** Sends one request over its own connection. @throws Error as `openConnection` and `ask` */
export async function askOnce(
  target: Target,
  ...asked: Parameters<Connection['ask']>
): Promise<Answer> {
  const connection = await openConnection(target)
  return connection.ask(...asked).finally(() => connection.close())
}

/** @throws Error when nobody listens there */
export async function openConnection(target: Target): Promise<Connection> {
  const wire: Wire = { received: nothing, unsent: nothing, waiter: undefined, isOpen: true }
  const handlers: Bun.SocketHandler<undefined> = {
    data: (_, chunk) => receive(wire, chunk),
    drain: own => send(wire, own),
    close: () => end(wire),
    error: () => end(wire),
    end: () => end(wire),
  }
  const socket = await ('unix' in target
    ? Bun.connect({ ...target, socket: handlers })
    : Bun.connect({ ...target, socket: handlers }))
  return {
    ask(method, path, question = {}) {
      const asked = `${method} ${path}`
      if (!wire.isOpen) return Promise.reject(endedEarly(`${asked} was asked`))
      return new Promise((resolve, reject) => {
        wire.waiter = { resolve, reject, asked }
        wire.unsent = requestBytes(method, path, question)
        send(wire, socket)
      })
    },
    isOpen: () => wire.isOpen,
    close: () => socket.end(),
  }
}
