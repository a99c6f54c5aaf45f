/**
 * The control socket: how an operator speaks to the process that serves a vault.
 *
 * HTTP over a Unix socket in the data folder, which is its owner's alone, as the folder is. That
 * lets in every program of one user, so an operation asks for more where that would be too little
 * (`vault/operator/operator-proof.ts`). `POST /<operation>` with a JSON object is answered by lines
 * of JSON: `{"progress": …}` any number of times, then `{"done": …}` or `{"failed": "…"}`.
 * @module
 */
import { closeSync, constants, openSync, unlinkSync, lstatSync } from 'node:fs'
import { request } from 'node:http'
import { basename, dirname, join } from 'node:path'
import type { ControlHeader, ControlRequest } from '../../vault/operator/operator-proof.ts'
import type { Facts, Tell } from '../../vault/operator/operator-operation.ts'
import { utf8 } from '../../lib/bytes.ts'
import type { Log } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import {
  controlBodyBytesMax,
  controlWaitMs,
  socketPathBytesMax,
} from '../../limits/operation-limits.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { peersOf } from './socket-peers.ts'
import { pathsOf } from '../folder/folder-stamp.ts'
import { lockHolder } from '../folder/lock-holder.ts'

/** For what may fail because somebody has gone. */
function quietly<T>(task: () => T): T | undefined {
  try {
    return task()
  } catch {
    return undefined
  }
}

const isSocket = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true

/** What is no socket was not made by a server. */
const removeSocket = (path: string): void =>
  void quietly(() => {
    if (isSocket(path)) unlinkSync(path)
  })

/** A folder that is open, by whose number a path begins that is short enough for a socket. */
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

/** What is told of a failure: ours as it is, and of others no word, which might hold a value. */
export function failureOf(error: unknown): string {
  if (error instanceof CommandFailure || error instanceof ApiError) return error.message
  return `an error that was not expected, ${systemCodeOf(error) ?? 'a fault of coffer'}`
}

/** An operation as it is offered here, with what came beside its input. */
export type ControlOperation = (input: Facts, tell: Tell, sent: ControlRequest) => Promise<Facts>

const isObject = (value: unknown): value is Facts =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @returns `undefined` for what is no JSON object; of nothing, one without members */
export function inputOf(bytes: Uint8Array): Facts | undefined {
  if (bytes.length === 0) return {}
  const input: unknown = quietly(() => JSON.parse(new TextDecoder().decode(bytes)) as unknown)
  return isObject(input) ? input : undefined
}

/** Goes on when the caller has gone: what was begun is done. */
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

/** Takes what is sent as it is, so that a secret becomes no text; wipes it. */
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
 * An operation may be silent for minutes, and every program that may open the socket is of the user
 * of this process, or root's, so that it may end the process too: no connection is ended for being
 * idle. The types of `Bun.serve` know of no such time here.
 * @returns `undefined` where no socket can be made, as on a disk without room for a file
 * @throws CommandFailure where something stands that is no file
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
 * Listens where a process listened that was killed: the process that serves has the lock of the
 * folder.
 * @param path of the socket
 * @param find an operation by its name; what it throws is told
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
      // It comes before each operation that asks for a proof, and does nothing by itself.
      const peers = peersOf(short.path)
      if (name !== 'challenge') log('controlled', { operation: name, ...peers })
      const header = (asked: ControlHeader) => incoming.headers.get(asked)
      return answerOf(tell => operation(input, tell, { name, body, header, peers }))
    },
    error: () => refused(500, 'an error that was not expected'),
  })
  // What is stored is served all the same.
  if (server === undefined) log('control_unavailable')
  return {
    async stop() {
      await server?.stop(true)
      removeSocket(path)
      short.close()
    },
  }
}

/** What a server says at once, unless it is stuck. */
const prompt: readonly string[] = ['status', 'seal-status', 'challenge']

const stuck = (lock: string): CommandFailure => {
  const holder = lockHolder(lock)
  const who = holder === undefined ? 'the running server' : `the running server (${holder})`
  const seconds = controlWaitMs / 1_000
  const advice = 'it is stopped or stuck: see its log, and start it again'
  return new CommandFailure(`${who} has not answered in ${seconds} s: ${advice}`)
}

/** Nobody listens there. */
const isNobody = (error: unknown): boolean =>
  ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(systemCodeOf(error) ?? '')

/** @throws CommandFailure for what no server says */
function messageOf(line: string): Facts {
  const message = quietly(() => JSON.parse(line) as unknown)
  if (isObject(message)) {
    const { failed, done, progress } = message
    if (failed !== undefined || isObject(done) || isObject(progress)) return message
  }
  throw new CommandFailure('what answers is no server of coffer: see what listens there')
}

async function* linesOf(answer: AsyncIterable<Buffer>): AsyncGenerator<Facts> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const piece of answer) {
    text += decoder.decode(piece, { stream: true })
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) yield messageOf(line)
  }
}

/** What comes with a request: see `ControlRequest`. */
export type ControlHeaders = Readonly<Partial<Record<ControlHeader, string>>>

interface Posted {
  readonly name: string
  readonly input: Facts | Uint8Array
  readonly headers: ControlHeaders
}

/** @throws the system's own error where nobody listens */
function post(
  path: string,
  { name, input, headers }: Posted,
  signal: AbortSignal | undefined,
): Promise<AsyncIterable<Buffer>> {
  return new Promise((resolve, reject) => {
    // No proxy of the environment is asked for a socket, and none is to be.
    const where = {
      socketPath: path,
      path: `/${name}`,
      method: 'POST',
      headers: { ...headers },
      ...(signal === undefined ? {} : { signal }),
    }
    const asked = request(where, resolve)
    asked.on('error', reject)
    asked.end(input instanceof Uint8Array ? input : utf8(JSON.stringify(input)))
  })
}

/**
 * Has the serving process of a data folder do something.
 * @param path of its socket
 * @returns what it tells at the end; `undefined` where nobody serves the folder
 * @throws CommandFailure with what the server said, when it ended meanwhile, or has not said in
 *   `controlWaitMs` what it says at once
 */
export async function callControl(
  path: string,
  name: string,
  input: Facts | Uint8Array,
  tell: Tell = () => {},
  headers: ControlHeaders = {},
): Promise<Facts | undefined> {
  let short: ShortPath | undefined
  const signal = prompt.includes(name) ? AbortSignal.timeout(controlWaitMs) : undefined
  try {
    short = shorten(path)
    const answer = await post(short.path, { name, input, headers }, signal)
    for await (const { progress, done, failed } of linesOf(answer)) {
      if (failed !== undefined) throw new CommandFailure(String(failed))
      if (done !== undefined) return done as Facts
      if (progress !== undefined) tell(progress as Facts)
    }
  } catch (error) {
    if (isNobody(error)) return undefined
    if (error instanceof CommandFailure) throw error
    if (signal?.aborted === true) throw stuck(pathsOf(dirname(path)).lock)
    throw new CommandFailure('the running server cannot be asked: see whether it still runs')
  } finally {
    short?.close()
  }
  throw new CommandFailure('the server ended before it was done: see its log')
}
