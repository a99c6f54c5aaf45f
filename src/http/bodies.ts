/**
 * Request bodies: content type, size, UTF-8, strict JSON, then the route's schema.
 *
 * The framework parses nothing for us: its parser takes invalid UTF-8, duplicate keys and numbers
 * that do not fit, and its error answers repeat the body. Source: contract sections 1 and 2.
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { ValueErrorType, type ValueError } from '@sinclair/typebox/errors'
import { addFault, throwFaults, type Faults } from '../domain/faults.ts'
import { isJsonObject, type JsonObject } from '../domain/json.ts'
import { decodeUtf8 } from '../domain/json-parse.ts'
import { toPlain } from '../domain/json-print.ts'
import { ApiError } from '../errors.ts'
import { bodyFaultsMax } from '../limits.ts'
import { knownPart } from './known-part.ts'
import { parseBody } from './large-bodies.ts'
import type { BodyRule } from './route.ts'

const tooLarge = (bytesMax: number) =>
  new ApiError('payload_too_large', `expected a body of at most ${bytesMax} bytes`)

/** RFC 9110 section 8.3: types are case-insensitive; a charset, if given, must be UTF-8. */
export function assertContentType(header: string | null, expected: string): void {
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';')
  const foreignCharset = parameters
    .map(parameter => parameter.trim())
    .some(parameter => parameter.startsWith('charset=') && !/^charset="?utf-8"?$/.test(parameter))
  if (type.trim() !== expected || foreignCharset) {
    throw new ApiError('unsupported_media_type', `expected the content type ${expected}`)
  }
}

async function readStream(
  stream: ReadableStream<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > bytesMax) throw tooLarge(bytesMax)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function readWhole(request: Request, bytesMax: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared === null) {
    return request.body === null ? new Uint8Array() : readStream(request.body, bytesMax)
  }
  // Sent twice, the lengths come joined by a comma, and are no number (RFC 9110 section 8.6).
  if (!/^\d+$/.test(declared)) throw new ApiError('invalid_request', 'expected one Content-Length')
  if (Number(declared) > bytesMax) throw tooLarge(bytesMax)
  return new Uint8Array(await request.arrayBuffer())
}

/**
 * @throws ApiError `payload_too_large` before reading where the length is declared,
 * `invalid_request` when the sender went away before the end
 */
export async function readBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  try {
    return await readWhole(request, bytesMax)
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new ApiError('invalid_request', 'expected a whole body', undefined, error)
  }
}

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>()

function checkerOf(schema: TSchema): TypeCheck<TSchema> {
  let checker = compiled.get(schema)
  if (checker === undefined) {
    checker = TypeCompiler.Compile(schema)
    compiled.set(schema, checker)
  }
  return checker
}

/** `/rules/0/priority` to `rules[0].priority`. */
const dottedPath = (pointer: string): string =>
  pointer
    .slice(1)
    .split('/')
    .map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('')

/** The library's messages name the expectation only; a schema may say it better in `expected`. */
function messageOf(error: ValueError): string {
  const stated: unknown = error.schema['expected']
  if (typeof stated === 'string') return stated
  return error.type === ValueErrorType.ObjectRequiredProperty ? 'is required' : error.message
}

/** Where a value or null may stand, what is wrong with the value says more than "no union". */
function* innermost(error: ValueError): Iterable<ValueError> {
  const [first] = error.errors
  const isNullable = error.type === ValueErrorType.Union && !('expected' in error.schema)
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
 * @throws ApiError `invalid_request` as `checkSchema`
 */
export function readEnvelope(
  schema: TSchema,
  value: JsonObject,
  opaque: ReadonlySet<string>,
): unknown {
  const body = toPlain(knownPart(schema, value, opaque), opaque)
  checkSchema(schema, body)
  return body
}

/**
 * @param bytesMax of the body as it is sent
 * @returns the body as the schema describes it; opaque members hold a `Json`
 */
export async function readJsonBody(
  request: Request,
  rule: BodyRule,
  bytesMax: number,
): Promise<unknown> {
  assertContentType(request.headers.get('content-type'), rule.contentType)
  const json = await parseBody(decodeUtf8(await readBody(request, bytesMax)))
  if (rule.opaque === 'all') return json
  if (!isJsonObject(json)) {
    throw new ApiError('invalid_request', 'expected a JSON object as the body')
  }
  return readEnvelope(rule.schema, json, rule.opaque)
}
