/**
 * Request bodies: content type, UTF-8, strict JSON, then the route's schema.
 *
 * The framework parses nothing for us: its parser takes invalid UTF-8, duplicate keys and numbers
 * that do not fit, and its error answers repeat the body. Source: contract sections 1 and 2.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { ValueErrorType, type ValueError } from '@sinclair/typebox/errors'
import { addFault, throwFaults, type Faults, ApiError } from '../lib/errors.ts'
import { decodeUtf8, parseJson, parseJsonInTurns } from '../lib/json/parse-json.ts'
import { printPartsInTurns } from '../lib/json/print-turns.ts'
import { isJsonObject, type Json, type JsonObject } from '../lib/json/json.ts'
import { keptFor } from '../lib/maps.ts'
import {
  bodyFaultsMax,
  shortBodyBytesMax,
  bodyMsMax,
  unreadBodyBytesMax,
} from '../limits/limits.ts'
import { bodyChunksPerTurn } from '../limits/work-limits.ts'
import { andThen, type MaybeLater } from '../lib/waiting.ts'
import { expectedOneOf } from '../lib/spelling.ts'
import { knownPart } from './strict-body.ts'
import type { BodyRule } from './operation.ts'
import type { BodyLease } from './budgets.ts'

/**
 * RFC 9110 section 8.3: types are case-insensitive; a charset, if given, must be UTF-8, by its name
 * or the label that clients write as often. Source: WHATWG Encoding, section 4.2.
 */
export function assertContentType(header: string | null, expected: string): void {
  // As nearly all write it, and asked for more than once.
  if (header === expected) return
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';')
  const foreignCharset = parameters
    .map(parameter => parameter.trim())
    .some(parameter => parameter.startsWith('charset=') && !/^charset="?utf-?8"?$/.test(parameter))
  if (type.trim() !== expected || foreignCharset) {
    throw new ApiError('unsupported_media_type', `expected the content type ${expected}`)
  }
}

const checkerOf = keptFor((schema: TSchema) => TypeCompiler.Compile(schema))

/** `/rules/0/priority` to `rules[0].priority`. */
const dottedPath = (pointer: string): string =>
  pointer
    .slice(1)
    .split('/')
    .map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('')

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === ''

/**
 * The library's messages name the expectation only. A schema may say more: the `names` that are
 * allowed, and what is told where its value is `missing`.
 */
function messageOf(error: ValueError): string {
  const { names, missing }: Record<string, unknown> = error.schema
  if (Array.isArray(names)) return expectedOneOf(error.value, names)
  if (typeof missing === 'string' && isMissing(error.value)) return missing
  return error.type === ValueErrorType.ObjectRequiredProperty
    ? 'is required'
    : worded(error.message)
}

function worded(message: string): string {
  const [, kind] = /^Expected (\w+)$/.exec(message) ?? []
  if (kind === undefined) return message.replace(/^E/, 'e')
  return `expected ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`
}

/** For a value or null, the fault of the value says more than "no union". */
function* innermost(error: ValueError): Iterable<ValueError> {
  const [first] = error.errors
  const isNullable = error.type === ValueErrorType.Union && !('names' in error.schema)
  if (!isNullable || first === undefined) yield error
  else for (const inner of first) yield* innermost(inner)
}

/** @throws ApiError `invalid_request` with the first faults; `errors` holds our own paths only */
export function checkSchema(schema: TSchema, value: unknown): void {
  const checker = checkerOf(schema)
  if (checker.Check(value)) return
  const faults: Faults = new Map()
  for (const error of checker.Errors(value)) {
    for (const inner of innermost(error)) {
      const at = dottedPath(inner.path)
      if (!faults.has(at)) addFault(faults, at, messageOf(inner))
      if (faults.size >= bodyFaultsMax) throwFaults(faults)
    }
  }
  throwFaults(faults)
}

/**
 * @param opaque members of the top-level object that stay a `Json`
 * @returns what the schema knows of the value, as it describes it
 * @throws ApiError `invalid_request` as `checkSchema`, and for a name that is nearly a known one
 */
export function readEnvelope(
  schema: TSchema,
  value: JsonObject,
  opaque: ReadonlySet<string>,
): unknown {
  const body = knownPart(schema, value, opaque)
  checkSchema(schema, body)
  return body
}

export type Pause = () => Promise<void>

/**
 * @returns the value; what of it is long was printed, so that printing it again takes no time
 * @throws ApiError `invalid_request` as `parseJson`
 */
async function parseLongBody(bytes: Uint8Array, next: Pause): Promise<Json> {
  await next()
  const text = decodeUtf8(bytes)
  await next()
  const value = await parseJsonInTurns(text, next)
  await next()
  await printPartsInTurns(value, next)
  return value
}

/**
 * @param next resolves when one more piece may be worked on
 * @throws ApiError `invalid_request` as `decodeUtf8` and `parseJson`
 */
export const parseBody = (bytes: Uint8Array, next: Pause): Json | Promise<Json> =>
  bytes.length <= shortBodyBytesMax ? parseJson(decodeUtf8(bytes)) : parseLongBody(bytes, next)

/**
 * @returns the body as the schema describes it; opaque members hold a `Json`
 * @throws ApiError `invalid_request`
 */
export function parseJsonBody(
  bytes: Uint8Array,
  rule: BodyRule,
  pause: Pause,
): MaybeLater<unknown> {
  const { schema, opaque } = rule
  return andThen(parseBody(bytes, pause), json => {
    if (opaque === 'all') return json
    // Generated clients send it where they were given none.
    if (json === null && rule.isOptional === true) return undefined
    if (isJsonObject(json)) return readEnvelope(schema, json, opaque)
    throw new ApiError('invalid_request', 'expected a JSON object as the body')
  })
}

/*
 * Reading the body of a request: within its bounds, at most once, and not at all if no operation
 * asks for it.
 *
 * Facts about the server: what arrives of a body is kept until the request is answered, whether it
 * is read or not; from then on, and once the body is cancelled, it is dropped. Of GET and HEAD the
 * server drops everything. A reader that waits gets each chunk by itself, however small; what
 * comes while none waits comes as one.
 */

const tooLarge = (bytesMax: number) =>
  new ApiError('payload_too_large', `expected a body of at most ${bytesMax} bytes`)

const tooSlow = (msMax: number) =>
  new ApiError('request_timeout', `expected the whole body within ${msMax / 1_000} seconds`)

/** The same bytes with room for more: so that many small chunks take no more than few. */
function grow(bytes: Uint8Array, length: number): Uint8Array {
  const grown = Buffer.allocUnsafe(Math.max(length, 2 * bytes.length, shortBodyBytesMax))
  grown.set(bytes)
  return grown
}

/** Counts bytes that have come, not the declared length: a number alone reserves no memory. */
async function readStream(
  stream: ReadableStream<Uint8Array>,
  lease: BodyLease,
  bytesMax: number,
): Promise<Uint8Array> {
  let bytes: Uint8Array = new Uint8Array()
  let length = 0
  let counted = 0
  let chunks = 0
  for await (const chunk of stream) {
    const start = length
    length += chunk.length
    if (length > bytesMax) throw tooLarge(bytesMax)
    if (length > shortBodyBytesMax) {
      lease.take(length - counted)
      counted = length
    }
    if (length > bytes.length) bytes = grow(bytes, length)
    bytes.set(chunk, start)
    chunks += 1
    if (chunks % bodyChunksPerTurn === 0) await setImmediate()
  }
  return bytes.subarray(0, length)
}

async function readWhole(
  request: Request,
  lease: BodyLease,
  bytesMax: number,
): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared === null) {
    return request.body === null ? new Uint8Array() : readStream(request.body, lease, bytesMax)
  }
  // Sent twice, the lengths come joined by a comma, and are no number (RFC 9110 section 8.6).
  if (!/^\d+$/.test(declared)) throw new ApiError('invalid_request', 'expected one Content-Length')
  const length = Number(declared)
  if (length > bytesMax) throw tooLarge(bytesMax)
  if (length <= shortBodyBytesMax || request.body === null) {
    return new Uint8Array(await request.arrayBuffer())
  }
  lease.assertRoom(length)
  const bytes = await readStream(request.body, lease, bytesMax)
  if (bytes.length === length) return bytes
  throw new ApiError('invalid_request', 'expected a whole body')
}

const notWhole = (cause: unknown) =>
  new ApiError('invalid_request', 'expected a whole body', undefined, cause)

/** Settles as the reading does, or when it is late: by one promise, where a race makes four. */
const inTime = (reading: Promise<Uint8Array>, msMax: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooSlow(msMax)), msMax)
    const settle = (task: () => void) => {
      clearTimeout(timer)
      task()
    }
    reading.then(
      bytes => settle(() => resolve(bytes)),
      error => settle(() => reject(error instanceof ApiError ? error : notWhole(error))),
    )
  })

/** True if a request declares a body (RFC 9112 section 6). */
export const bringsBody = ({ headers }: Request): boolean =>
  headers.has('transfer-encoding') || (headers.get('content-length') ?? '0') !== '0'

/**
 * The bytes of a body.
 * @param msMax from the moment at which it is asked for to its last byte
 * @throws ApiError `payload_too_large` and `overloaded` before reading where the length is
 *   declared, `request_timeout`, and `invalid_request` when the sender went away before the end
 */
export const readBytes = (
  request: Request,
  lease: BodyLease,
  bytesMax: number,
  msMax: number = bodyMsMax,
): Promise<Uint8Array> => inTime(readWhole(request, lease, bytesMax), msMax)

/** Nobody will read a body, so the server need not keep it; of GET and HEAD it keeps none. */
export const dropBody = (request: Request): Promise<void> | undefined =>
  request.method === 'GET' || request.method === 'HEAD' ? undefined : request.body?.cancel()

/**
 * True if so much of an unread body may be on its way that the connection ends with the answer, as
 * it does behind chunks in any case.
 */
export function leavesMuch({ headers }: Request): boolean {
  const declared = headers.get('content-length')
  // A length that is no number counts as more.
  return declared !== null && !(Number(declared) <= unreadBodyBytesMax)
}
