/**
 * Parts of the document that all operations share: schemas as components, answers of failures.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { ApiError, invalid, unauthenticated } from '../../lib/errors.ts'
import { cardDigitExpected } from '../../rules/token-types.ts'
import { describeProblem } from '../problem.ts'

/*
 * Schemas as the OpenAPI document prints them: JSON Schema 2020-12, each titled one told once.
 *
 * The document is OpenAPI 3.1, whose schemas may say `const`, `null` and `examples` as ours do.
 * A schema with a title becomes a component of that name, and a reference stands in its place.
 */

/** A schema, or any other object of the document. */
export type Plain = Readonly<Record<string, unknown>>

/** Titled schemas by their titles. */
export type Components = Map<string, Plain>

/** Pattern of a record by the schema library; more readers know `additionalProperties`. */
const anyName = '^(.*)$'

/** A choice of texts as a list of them. */
function asEnum({ anyOf, ...rest }: Plain): Plain | undefined {
  const choices = Array.isArray(anyOf) ? (anyOf as readonly Plain[]) : []
  const isTexts = choices.length > 0 && choices.every(choice => typeof choice['const'] === 'string')
  if (!isTexts) return undefined
  return { ...rest, type: 'string', enum: choices.map(choice => choice['const']) }
}

/** A value or null, where one type says what the value is. */
function asNullable({ anyOf, ...rest }: Plain): Plain | undefined {
  const [value, nothing, ...more] = Array.isArray(anyOf) ? (anyOf as readonly Plain[]) : []
  const isNullable = nothing?.['type'] === 'null' && more.length === 0
  if (!isNullable || typeof value?.['type'] !== 'string' || 'enum' in value) return undefined
  return { ...rest, ...value, type: [value['type'], 'null'] }
}

function asAdditional({ patternProperties, ...rest }: Plain): Plain | undefined {
  const value = (patternProperties as Plain | undefined)?.[anyName]
  return value === undefined ? undefined : { ...rest, additionalProperties: value }
}

function describeMembers(schemas: Plain, components: Components): Plain {
  const entries = Object.entries(schemas)
  return Object.fromEntries(
    entries.map(([name, schema]) => [name, describeSchema(schema as Plain, components)]),
  )
}

function describeKeyword(keyword: string, value: unknown, components: Components): unknown {
  switch (keyword) {
    case 'properties':
    case 'patternProperties':
      return describeMembers(value as Plain, components)
    case 'anyOf':
    case 'allOf':
      return (value as readonly Plain[]).map(schema => describeSchema(schema, components))
    case 'items':
    case 'then':
      return describeSchema(value as Plain, components)
    default:
      return value
  }
}

/** Keywords for the texts of faults; no part of JSON Schema. */
const ownKeywords: ReadonlySet<string> = new Set(['names', 'missing'])

/**
 * @param components that the schema needs are added
 * @returns the schema, or a reference to it where it has a title
 */
export function describeSchema(schema: Plain, components: Components): Plain {
  const { title, ...keywords } = schema
  const entries = Object.entries(keywords).filter(([keyword]) => !ownKeywords.has(keyword))
  const described = Object.fromEntries(
    entries.map(([keyword, value]) => [keyword, describeKeyword(keyword, value, components)]),
  )
  const simplest =
    asEnum(described) ?? asNullable(described) ?? asAdditional(described) ?? described
  if (typeof title !== 'string') return simplest
  components.set(title, simplest)
  return { $ref: `#/components/schemas/${title}` }
}

/*
 * Answers of failures in the OpenAPI document.
 *
 * The examples come from the same function as the answers. Source: contract sections 2 and 3.
 */

const problemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String({ description: 'The trace id as a urn.' }),
    errors: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), {
        description: 'Of a 400: dotted paths to what was expected there.',
      }),
    ),
  },
  { title: 'Problem', description: 'RFC 9457 problem details. No value is ever repeated.' },
)

const meanings: Readonly<Record<number, string>> = {
  400: 'The request is not valid; `errors` says where.',
  401: 'No live API key.',
  403: 'The credential does not hold the permission.',
  404: 'Absent, or not covered by the rules of the credential.',
  409: 'In conflict with what is stored.',
  413: 'The body is too large.',
  415: 'The content type is not the expected one, or the body is coded.',
}

const samples: readonly ApiError[] = [
  invalid('data.number', cardDigitExpected),
  unauthenticated(),
  new ApiError('forbidden', 'expected a credential with the permission token:read'),
  new ApiError('not_found', 'There is no such token, or none that this key may see.'),
  new ApiError('request_timeout', 'expected the whole body within 30 seconds'),
  new ApiError('conflict', 'A token with this id exists: choose another id, or update that token.'),
  new ApiError('payload_too_large', 'expected a body of at most 1048576 bytes'),
  new ApiError('uri_too_long', 'expected an address of at most 8192 bytes'),
  new ApiError('unsupported_media_type', 'expected the content type application/json'),
  new ApiError(
    'too_many_requests',
    'This credential has made too many requests: wait as Retry-After says.',
  ),
  new ApiError('internal', ''),
  new ApiError('unavailable', 'The service is stopping.'),
  new ApiError('storage_full', 'The storage is full. Masked reads go on.'),
]

const examples = samples.map(sample => describeProblem(sample, 'a7f3c0de12b94e55-4'))

/** Any operation may answer so. */
const general: readonly number[] = [400, 408, 414, 415, 429, 500, 503, 507]

const nameOf = (status: number | 'default'): string => `Problem-${status}`

const referTo = (status: number | 'default') => ({
  $ref: `#/components/responses/${nameOf(status)}`,
})

/** Response objects of one operation by their status, and of what any may answer. */
export const describeFailures = (statuses: readonly number[]): Plain => ({
  ...Object.fromEntries(statuses.map(status => [String(status), referTo(status)])),
  default: referTo('default'),
})

const retryAfter = {
  description: 'With 429 and 503: seconds to wait.',
  schema: { type: 'integer' },
}

const acceptEncoding = {
  description: 'With 415 where the body was coded: the codings that are taken.',
  schema: { type: 'string', const: 'identity' },
}

/** Headers of some problems, by their status. */
const headersOf: Readonly<Record<string, Plain>> = { 415: { 'Accept-Encoding': acceptEncoding } }

/**
 * The response objects to which operations refer.
 * @param headers of every answer
 * @param components that they need are added
 */
export function failureResponses(headers: Plain, components: Components): Plain {
  const schema = describeSchema(problemSchema, components)
  // The second is for clients that take no problem documents (contract section 2).
  const contentOf = (content: Plain) => ({
    'application/problem+json': { schema, ...content },
    'application/json': { schema, ...content },
  })
  const told = Object.entries(meanings).map(([status, description]) => {
    const example = examples.find(each => each.status === Number(status))
    const all = { ...headers, ...headersOf[status] }
    return [nameOf(Number(status)), { description, headers: all, content: contentOf({ example }) }]
  })
  const others = examples
    .filter(({ status }) => general.includes(status))
    .map(example => [String(example.status), { value: example }])
  return {
    ...Object.fromEntries(told),
    [nameOf('default')]: {
      description: `Any operation may also fail with ${general.join(', ')}.`,
      headers: { ...headers, 'Retry-After': retryAfter, 'Accept-Encoding': acceptEncoding },
      content: contentOf({ examples: Object.fromEntries(others) }),
    },
  }
}
