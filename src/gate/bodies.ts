/**
 * Request bodies: content type, UTF-8, strict JSON, then the route's schema.
 *
 * The framework parses nothing for us: its parser takes invalid UTF-8, duplicate keys and numbers
 * that do not fit, and its error answers repeat the body. Source: contract sections 1 and 2.
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { ValueErrorType, type ValueError } from '@sinclair/typebox/errors'
import { addFault, throwFaults, type Faults } from '../rules/faults.ts'
import { decodeUtf8, parseJson, parseJsonInTurns } from '../json/parse.ts'
import { printInTurns } from '../json/print-turns.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { ApiError } from '../errors.ts'
import { keptFor } from '../kept.ts'
import { bodyFaultsMax, shortBodyBytesMax } from '../limits.ts'
import { andThen, type MaybeLater } from '../maybe-later.ts'
import { knownPart } from './known-part.ts'
import type { BodyRule } from './operation.ts'

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

const checkerOf = keptFor((schema: TSchema) => TypeCompiler.Compile(schema))

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

type LetOthersIn = () => Promise<void>

/**
 * @returns the value; what of it is long was printed, so that printing it again takes no time
 * @throws ApiError `invalid_request` as `parseJson`
 */
async function parseLongBody(bytes: Uint8Array, next: LetOthersIn): Promise<Json> {
  await next()
  const text = decodeUtf8(bytes)
  await next()
  const value = await parseJsonInTurns(text, next)
  await next()
  await printInTurns(value, next)
  return value
}

/**
 * @param next resolves when one more piece may be worked on
 * @throws ApiError `invalid_request` as `decodeUtf8` and `parseJson`
 */
const parseBody = (bytes: Uint8Array, next: LetOthersIn): Json | Promise<Json> =>
  bytes.length <= shortBodyBytesMax ? parseJson(decodeUtf8(bytes)) : parseLongBody(bytes, next)

/**
 * @returns the body as the schema describes it; opaque members hold a `Json`
 * @throws ApiError `invalid_request`
 */
export function parseJsonBody(
  bytes: Uint8Array,
  rule: BodyRule,
  letOthersIn: LetOthersIn,
): MaybeLater<unknown> {
  const { schema, opaque } = rule
  return andThen(parseBody(bytes, letOthersIn), json => {
    if (opaque === 'all') return json
    // Generated clients send it where they were given none.
    if (json === null && rule.isOptional === true) return undefined
    if (isJsonObject(json)) return readEnvelope(schema, json, opaque)
    throw new ApiError('invalid_request', 'expected a JSON object as the body')
  })
}
