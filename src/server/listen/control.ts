/**
 * The control socket, by which an operator speaks to the process that serves a vault.
 *
 * HTTP over a Unix socket in the data folder; both are accessible to their owner only. That admits
 * every program of that user, so sensitive operations ask for a proof as well
 * (`vault/operator/operator-proof.ts`). `POST /<operation>` with a JSON object is answered by lines
 * of JSON: `{"progress": …}` any number of times, then `{"done": …}` or `{"failed": "…"}`.
 * @module
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  unlinkSync,
  type Stats,
} from 'node:fs'
import { request } from 'node:http'
import { basename, dirname, join } from 'node:path'
import type { ControlHeader, ControlRequest } from '../../vault/operator/operator-proof.ts'
import type { Facts, Tell } from '../../vault/operator/operator-operation.ts'
import { utf8 } from '../../lib/bytes.ts'
import type { Log } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import {
  controlBodyBytesMax,
  controlFailureCharsMax,
  controlMessageBytesMax,
  controlSilenceMsMax,
  controlWaitMs,
  socketPathBytesMax,
} from '../../limits/operation-limits.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { peersOf } from './socket-peers.ts'
import { assertOwnWay } from '../folder/path-owners.ts'
import { pathsOf } from '../folder/folder-stamp.ts'
import { lockHolder } from '../folder/instance-lock.ts'

/** Ignores errors of a task, such as a caller that has gone. */
function quietly<T>(task: () => T): T | undefined {
  try {
    return task()
  } catch {
    return undefined
  }
}

const isSocket = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true

/** Removes only a socket: a server made nothing else. */
const removeSocket = (path: string): void =>
  void quietly(() => {
    if (isSocket(path)) unlinkSync(path)
  })

/** An open folder, whose number gives a path that is short enough for a socket. */
interface ShortPath {
  readonly path: string
  readonly close: () => void
}

/** Source: proc(5), `/proc/self/fd`. */
function shorten(path: string): ShortPath {
  if (Buffer.byteLength(path) <= socketPathBytesMax) return { path, close: () => {} }
  const folder = openSync(dirname(path), constants.O_DIRECTORY)
  const close = () => closeSync(folder)
  return { path: join(`/proc/self/fd/${folder}`, basename(path)), close }
}

const lineOf = (message: Facts): string => `${JSON.stringify(message)}\n`

/** Returns our own messages as they are, but no other text, which might contain a value. */
export function failureOf(error: unknown): string {
  if (error instanceof CommandFailure || error instanceof ApiError) return error.message
  return `an error that was not expected, ${systemCodeOf(error) ?? 'a fault of coffer'}`
}

/** An operation, with the request that came with its input. */
export type ControlOperation = (input: Facts, tell: Tell, sent: ControlRequest) => Promise<Facts>

const isObject = (value: unknown): value is Facts =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @returns `undefined` unless it is a JSON object; an empty one for no bytes */
export function inputOf(bytes: Uint8Array): Facts | undefined {
  if (bytes.length === 0) return {}
  const input: unknown = quietly(() => JSON.parse(new TextDecoder().decode(bytes)) as unknown)
  return isObject(input) ? input : undefined
}

/** Continues if the caller has gone: a started operation is finished. */
function answerOf(run: (tell: Tell) => Promise<Facts>): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async start(stream) {
      const say = (message: Facts): void =>
        void quietly(() => stream.enqueue(encoder.encode(lineOf(message))))
      try {
        say({ done: await run(progress => say({ progress })) })
      } catch (error) {
        say({ failed: failureOf(error) })
      }
      quietly(() => stream.close())
    },
  })
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } })
}

const refused = (status: number, failed: string): Response =>
  new Response(lineOf({ failed }), { status, headers: { 'content-type': 'application/x-ndjson' } })

export const unknownOperation =
  'the running server knows no such operation: use the coffer of its version'

export interface Control {
  readonly stop: () => Promise<void>
}

/** Operations that get the body as bytes, so that no secret becomes a string, and wipe it. */
export type ByteOperations = Readonly<Record<string, (sent: Uint8Array) => Promise<Facts>>>

export const findIn =
  <T>(named: Readonly<Record<string, T>>) =>
  (name: string): T | undefined =>
    Object.hasOwn(named, name) ? named[name] : undefined

interface Listening {
  readonly unix: string
  readonly maxRequestBodySize: number
  readonly fetch: (incoming: Request) => Promise<Response>
  readonly error: () => Response
}

/**
 * Connections have no idle timeout: an operation may be silent for minutes, and any program that
 * can open the socket runs as this user or root, and could remove the vault beside it anyway. The
 * types of `Bun.serve` lack this option here.
 * @returns `undefined` if no socket can be made, as on a full disk
 * @throws CommandFailure if there is another entry at the path
 */
function listen(path: string, listening: Listening) {
  const options = { ...listening, development: false, idleTimeout: 0 } as Listening
  try {
    return Bun.serve(options)
  } catch {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined
    throw new CommandFailure(`cannot listen at ${path}: move away what is there`)
  }
}

/**
 * Listens, replacing the socket of a killed process: the serving process holds the folder's lock.
 * @param path of the socket
 * @param find returns an operation by its name; its errors are shown
 * @throws CommandFailure
 */
export function startControl(
  path: string,
  find: (name: string) => ControlOperation | undefined,
  log: Log,
  ofBytes: ByteOperations = {},
): Control {
  removeSocket(path)
  const short = shorten(path)
  const server = listen(path, {
    unix: short.path,
    maxRequestBodySize: controlBodyBytesMax,
    async fetch(incoming) {
      const name = new URL(incoming.url, 'http://control').pathname.slice(1)
      const taking = findIn(ofBytes)(name)
      if (taking !== undefined && incoming.method === 'POST') {
        const sent = new Uint8Array(await incoming.arrayBuffer())
        return answerOf(() => taking(sent))
      }
      let operation: ControlOperation | undefined
      try {
        operation = find(name)
      } catch (error) {
        return refused(503, failureOf(error))
      }
      if (operation === undefined) return refused(404, unknownOperation)
      const body = new Uint8Array(await incoming.arrayBuffer())
      const input = incoming.method === 'POST' ? inputOf(body) : undefined
      if (input === undefined) return refused(400, 'expected POST with a JSON object')
      // A challenge precedes each operation that needs a proof, and does nothing by itself.
      const peers = peersOf(short.path)
      if (name !== 'challenge') log('controlled', { operation: name, ...peers })
      const header = (asked: ControlHeader) => incoming.headers.get(asked)
      return answerOf(tell => operation(input, tell, { name, body, header, peers }))
    },
    error: () => refused(500, 'an error that was not expected'),
  })
  // Without the socket, the vault still serves requests.
  if (server === undefined) log('control_unavailable')
  return {
    async stop() {
      await server?.stop(true)
      removeSocket(path)
      short.close()
    },
  }
}

/** Operations that a server answers at once, unless it is stuck. */
const prompt: readonly string[] = ['status', 'seal-status', 'challenge']

/** Operations that tell how far they are; a false server could go on with that for ever. */
const telling: readonly string[] = ['keys-rotate', 'keys-retire']

const stuck = (lock: string, waitMs: number): CommandFailure => {
  const holder = lockHolder(lock)
  const who = holder === undefined ? 'the running server' : `the running server (${holder})`
  const seconds = waitMs / 1_000
  const advice = 'it is stopped or stuck: see its log, and start it again'
  return new CommandFailure(`${who} has not answered in ${seconds} s: ${advice}`)
}

const elsewhere = (path: string): CommandFailure =>
  new CommandFailure(`${path} leads elsewhere than to a server of this folder: remove it`)

/** Opens the place itself, not what listens there. Source: open(2), O_PATH, of Linux alone. */
const placeFlags = 0o10000000 | constants.O_NOFOLLOW

/**
 * Opens the socket of a folder: its name may lead to another one by the time of the call. The owner
 * of a data folder could have root ask the server of another user.
 * @returns a path that leads to that very socket, where the platform has such paths
 * @throws CommandFailure if it is no socket of this folder; the system's own error
 */
function openSocket(path: string): ShortPath {
  const owner = assertOwnWay(dirname(path))
  const isElsewhere = (stats: Stats): boolean =>
    stats.isSymbolicLink() ||
    (stats.isSocket() && stats.nlink > 1) ||
    (owner !== undefined && stats.uid !== owner)
  if (process.platform !== 'linux' || !existsSync('/proc/self/fd')) {
    if (isElsewhere(lstatSync(path))) throw elsewhere(path)
    return shorten(path)
  }
  const place = openSync(path, placeFlags)
  const close = () => closeSync(place)
  if (!isElsewhere(fstatSync(place))) return { path: `/proc/self/fd/${place}`, close }
  close()
  throw elsewhere(path)
}

/** True if nobody listens there. */
const isNobody = (error: unknown): boolean =>
  ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(systemCodeOf(error) ?? '')

const noCoffer = () =>
  new CommandFailure('what answers is no server of coffer: see what listens there')

const isFailure = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= controlFailureCharsMax

/** @throws CommandFailure unless it is a line of a coffer server */
function messageOf(line: string): Facts {
  const message = quietly(() => JSON.parse(line) as unknown)
  if (isObject(message)) {
    const { failed, done, progress } = message
    if (isFailure(failed) || isObject(done) || isObject(progress)) return message
  }
  throw noCoffer()
}

/** @throws CommandFailure for a line that is no coffer's, or longer than any of it */
async function* linesOf(answer: AsyncIterable<Buffer>): AsyncGenerator<Facts> {
  let begun: string[] = []
  let chars = 0
  const decoder = new TextDecoder()
  for await (const piece of answer) {
    const [first = '', ...others] = decoder.decode(piece, { stream: true }).split('\n')
    begun.push(first)
    chars += first.length
    if (chars > controlMessageBytesMax) throw noCoffer()
    for (const next of others) {
      yield messageOf(begun.join(''))
      begun = [next]
      chars = next.length
    }
  }
}

/** Headers of a request: see `ControlRequest`. */
export type ControlHeaders = Readonly<Partial<Record<ControlHeader, string>>>

interface Posted {
  readonly name: string
  readonly input: Facts | Uint8Array
  readonly headers: ControlHeaders
}

/** @throws the system's own error if nobody listens */
function post(
  path: string,
  { name, input, headers }: Posted,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer>> {
  return new Promise((resolve, reject) => {
    // Sockets bypass any proxy in the environment.
    const where = {
      socketPath: path,
      path: `/${name}`,
      method: 'POST',
      headers: { ...headers },
      signal,
    }
    const asked = request(where, resolve)
    asked.on('error', reject)
    asked.end(input instanceof Uint8Array ? input : utf8(JSON.stringify(input)))
  })
}

/** Ends a wait: for a prompt operation as a whole, for others from one message to the next. */
function boundWait(name: string, silenceMsMax: number) {
  const isPrompt = prompt.includes(name)
  const waitMs = isPrompt ? controlWaitMs : silenceMsMax
  const ending = new AbortController()
  const begin = () => setTimeout(() => ending.abort(), waitMs)
  let timer = begin()
  const end = (): void => clearTimeout(timer)
  const hear = (): void => {
    if (isPrompt) return
    end()
    timer = begin()
  }
  return { signal: ending.signal, waitMs, hear, end }
}

/**
 * Calls an operation of the process that serves a data folder.
 * @param path of its socket
 * @param silenceMsMax time without a message, for operations that may take long
 * @returns the result; `undefined` if nobody serves the folder
 * @throws CommandFailure with the server's message, or if the server ended meanwhile, took longer
 *   than `controlWaitMs` for a prompt operation, or says what no coffer does
 */
export async function callControl(
  path: string,
  name: string,
  input: Facts | Uint8Array,
  tell: Tell = () => {},
  headers: ControlHeaders = {},
  silenceMsMax = controlSilenceMsMax,
): Promise<Facts | undefined> {
  let short: ShortPath | undefined
  const { signal, waitMs, hear, end } = boundWait(name, silenceMsMax)
  try {
    short = openSocket(path)
    const answer = await post(short.path, { name, input, headers }, signal)
    for await (const { progress, done, failed } of linesOf(answer)) {
      if (failed !== undefined) throw new CommandFailure(String(failed))
      if (done !== undefined) return done as Facts
      if (!telling.includes(name)) throw noCoffer()
      hear()
      tell(progress as Facts)
    }
  } catch (error) {
    if (isNobody(error)) return undefined
    if (error instanceof CommandFailure) throw error
    if (signal.aborted) throw stuck(pathsOf(dirname(path)).lock, waitMs)
    throw new CommandFailure('the running server cannot be asked: see whether it still runs')
  } finally {
    end()
    short?.close()
  }
  throw new CommandFailure('the server ended before it was done: see its log')
}
