/**
 * A listening vault as a hostile client sees it: raw bytes over a socket, unparsed answers.
 * @module
 */
import { expect } from 'bun:test'
import { connect } from 'node:net'
import { startServer } from '../../src/server/process/server.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { readChunks } from './chunks.ts'
import { canary } from './refusal.ts'
import { openTestVault, type TestVault } from './vault.ts'

export interface RawAnswer {
  readonly status: number
  /** Headers by lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface Received {
  readonly answers: readonly RawAnswer[]
  /** True if the server closed the connection. */
  readonly isClosed: boolean
  /** All bytes received, unchanged. */
  readonly text: string
}

export interface Wire {
  readonly vault: TestVault
  readonly port: number
  /** Key of a private application that may do all to tokens, with plaintext. */
  readonly key: string
  /**
   * Writes each piece, then waits for that many answers, or the end of the connection; also waits
   * for the end if an answer announces it. With `expected` 0 it waits for silence.
   */
  send(pieces: Pieces, expected?: number): Promise<Received>
  /** Sends a request with the key and a JSON body; given headers come before those. */
  ask(
    method: string,
    target: string,
    body?: string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
  ): Promise<RawAnswer>
  close(): Promise<void>
}

type Pieces = string | Uint8Array | readonly (string | Uint8Array)[]

/** Silence that counts as no answer, if none is expected. */
const silenceMs = 300
/** Bound of the wait for an expected answer: it ends a failing test. */
const answerMsMax = 120_000

function headersOf(lines: readonly string[]): Map<string, string> {
  return new Map(
    lines.map(line => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}

/** Returns `undefined` while the body is incomplete. */
function readBody(text: string, from: number, headers: ReadonlyMap<string, string>) {
  if (headers.get('transfer-encoding') === 'chunked') {
    const read = readChunks(Buffer.from(text, 'latin1'), from)
    return read && { body: read.body.toString('latin1'), to: read.to }
  }
  const to = from + Number(headers.get('content-length') ?? 0)
  return text.length < to ? undefined : { body: text.slice(from, to), to }
}

/** Parses the whole answers at the beginning of a text. Cannot recognize those to HEAD. */
export function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let rest = text; ;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return answers
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = headersOf(lines)
    const read = readBody(rest, end + 4, headers)
    if (read === undefined) return answers
    const { body } = read
    rest = rest.slice(read.to)
    const status = Number(first.split(' ')[1])
    if (status !== 100) answers.push({ status, headers, body })
  }
}

export function exchange(port: number, pieces: Pieces, expected = 1): Promise<Received> {
  return new Promise((resolve, reject) => {
    let text = ''
    const list = typeof pieces === 'string' || pieces instanceof Uint8Array ? [pieces] : pieces
    const socket = connect(port, '127.0.0.1', () => {
      for (const piece of list) socket.write(piece)
    })
    const finish = (isClosed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ answers: parseAnswers(text), isClosed, text })
    }
    const waitMs = expected === 0 ? silenceMs : answerMsMax
    let timer = setTimeout(() => finish(false), waitMs)
    socket.on('data', data => {
      text += data.toString('latin1')
      const answers = parseAnswers(text)
      const isClosing = answers.at(-1)?.headers.get('connection') === 'close'
      if (expected > 0 && answers.length >= expected && !isClosing) return finish(false)
      clearTimeout(timer)
      timer = setTimeout(() => finish(false), waitMs)
    })
    socket.on('close', () => finish(true))
    socket.on('error', error => ('code' in error ? finish(true) : reject(error)))
  })
}

const permissions = ['create', 'read', 'update', 'delete', 'search', 'use'].map(
  name => `token:${name}`,
)

export async function openWire(seed = 1, settings: Partial<Settings> = {}): Promise<Wire> {
  const vault = await openTestVault(seed, settings)
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  const made = await vault.ask('POST', `${settings.basePath ?? ''}/applications`, {
    key: vault.managementKey,
    body: { name: 'on the wire', type: 'private', rules },
  })
  const key = String(made.body['key'])
  const server = await startServer(vault.deps, { host: '127.0.0.1', port: 0 })
  const port = Number(new URL(server.address).port)
  const json = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' }
  return {
    vault,
    port,
    key,
    send: (pieces, expected) => exchange(port, pieces, expected),
    async ask(method, target, body = '', headers = {}) {
      const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
      const head = requestText(method, target, { ...json, ...length, ...headers })
      const { answers, text } = await exchange(port, body === '' ? [head] : [head, body])
      const [answer] = answers
      if (answer === undefined) throw new Error(`no whole answer, but ${text.length} characters`)
      return answer
    },
    close: () => server.stop(),
  }
}

/** Prints a request; adds `Host` and `Content-Length` if they are missing. */
export function requestText(
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): string {
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const all = { Host: 'vault', ...length, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** Parses the JSON of an answer, whose body is kept byte by byte. */
export const jsonOf = ({ body }: RawAnswer): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(body, 'latin1').toString('utf8'))

/** Everything that an answer shows, headers too. */
function shownBy(received: Received | RawAnswer | undefined): string {
  if (received === undefined) return ''
  if ('text' in received) return received.text
  return `${[...received.headers].join('\n')}\n${received.body}`
}

/**
 * Invariants after every hostile request (hardening I1 and I3): a good request is answered, and the
 * canary is in no answer and in no line of the log.
 */
export async function expectUnharmed(wire: Wire, received?: Received | RawAnswer): Promise<void> {
  const good = await wire.send(requestText('GET', '/tokens', { 'SVC-API-KEY': wire.key }))
  expect(good.answers[0]?.status).toBe(200)
  expect(shownBy(received)).not.toContain(canary)
  expect(wire.vault.logged.join('\n')).not.toContain(canary)
}
