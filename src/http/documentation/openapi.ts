/**
 * The OpenAPI description of a route, from the same schemas that check its requests.
 *
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import {
  idempotencyKeyCharsMax,
  statedReasonCharsMax,
  traceIdCharsMax,
} from '../../limits/limits.ts'
import { describeSchema, type Components, type Plain, describeFailures } from './failures.ts'
import { takesIdempotencyKey } from '../operation.ts'
import type { Content, Operation } from '../operation.ts'

/** By the beginning of the path, the first that fits; without the version before it. */
const groups: readonly (readonly [path: RegExp, name: string, description: string])[] = [
  [/^\/sessions/, 'Sessions', 'Short-lived access for browsers and mobile applications.'],
  [/^\/applications/, 'Applications', 'Holders of API keys, and who may see what.'],
  [/^\/(?:webhooks|events)/, 'Webhooks', 'What happens in the tenant, told to others.'],
  [/^\/(?:tenants|permissions)/, 'Tenant', 'The own tenant, and what can be granted.'],
  [/^\/access/, 'Access', 'What an application may see, and which rule decides.'],
  [/^\/status/, 'Status', 'Whether the vault is well, and how it is set.'],
  [/^\/expressions/, 'Expressions', 'What expressions make of data, before any is stored.'],
  [/^\/logs/, 'Logs', 'Who asked for what, and what was answered.'],
  [/^\/(?:de)?tokenize/, 'Bulk', 'Many tokens at once.'],
  [/^/, 'Tokens', 'Sensitive data and what may be shown of it.'],
]

/** The tag objects of the document. */
export const tags = groups.map(([, name, description]) => ({ name, description })).toReversed()

function tagOf(path: string): string {
  const bare = path.replace(/^\/v\d+/, '')
  return groups.find(([pattern]) => pattern.test(bare))?.[1] ?? ''
}

const exampleId = 'c06d0789-0a38-40be-b7cc-c28a718f76f1'

const pathParameters = (path: string): readonly Plain[] =>
  path
    .split('/')
    .filter(segment => segment.startsWith(':'))
    .map(segment => ({
      name: segment.slice(1),
      in: 'path',
      required: true,
      description: 'As it was answered, percent-encoded.',
      schema: { type: 'string' },
      example: exampleId,
    }))

/** A list is repeated, `?id=a&id=b`; names to texts are `?metadata[key]=value`. */
const styleOf = ({ type }: TSchema): Plain =>
  type === 'object' ? { style: 'deepObject', explode: true } : {}

function queryParameters(query: TSchema | undefined, components: Components): readonly Plain[] {
  const properties = (query?.['properties'] ?? {}) as Readonly<Record<string, TSchema>>
  return Object.entries(properties).map(([name, { description, examples, ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    description,
    ...styleOf(schema as TSchema),
    schema: describeSchema(schema, components),
    example: (examples as readonly unknown[] | undefined)?.[0],
  }))
}

const visibleAscii = (maxLength: number): Plain => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern: '^[!-~]+$',
})

const traceSchema = visibleAscii(traceIdCharsMax)

const traceParameter = {
  name: 'SVC-TRACE-ID',
  in: 'header',
  required: false,
  description: 'Visible ASCII. Comes back, and stands in the log; one is made where it is absent.',
  schema: traceSchema,
  example: 'checkout-4711',
}

/** Without an example, which the documentation page would send with every request of that kind. */
const idempotencyParameter = {
  name: 'SVC-IDEMPOTENCY-KEY',
  in: 'header',
  required: false,
  description: `Visible ASCII. What the first success of a key has done is kept for 24 hours, and
every repetition with the same body is told what stands of it; 404 where that is nothing. With
another body, while it is under way, and where the answer held a secret, 409. A key that is too long
is 400.`,
  schema: visibleAscii(idempotencyKeyCharsMax),
}

/** Without an example, which the documentation page would send with every request. */
const reasonParameter = {
  name: 'SVC-REASON',
  in: 'header',
  required: false,
  description: `Why this is asked for, such as the number of a support case, for the audit log:
1 to ${statedReasonCharsMax} characters. Those that are not ASCII, and %, are percent-encoded as
UTF-8. A card number or a key in it is 400.`,
  schema: { type: 'string', minLength: 1, pattern: '^[ -~]+$' },
}

const lastEventParameter = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'Of a stream: the id of the last event that came. It goes before `after`.',
  schema: { type: 'string' },
  example: '4711',
}

const headerParameters = (operation: Operation): readonly Plain[] => [
  traceParameter,
  reasonParameter,
  ...(takesIdempotencyKey(operation) ? [idempotencyParameter] : []),
  ...(operation.success.streamExample === undefined ? [] : [lastEventParameter]),
]

/** Headers of every answer. */
export const answerHeaders = {
  'SVC-TRACE-ID': { description: 'Of this request.', schema: traceSchema },
}

const locationHeader = {
  Location: {
    description: 'Where the new thing is.',
    schema: { type: 'string', format: 'uri-reference' },
  },
}

function contentOf(type: string, { schema, examples }: Content, components: Components): Plain {
  const values = Object.entries(examples).map(([name, value]) => [name, { value }])
  return {
    [type]: {
      schema: describeSchema(schema, components),
      examples: Object.fromEntries(values),
    },
  }
}

/** Server-sent events have no schema of their own. */
const streamContentOf = (example: string | undefined): Plain =>
  example === undefined
    ? {}
    : {
        'text/event-stream': {
          schema: { type: 'string' },
          examples: { event: { value: example } },
        },
      }

function describeSuccess({ success }: Operation, components: Components): Plain {
  const { status, schema, examples = {}, hasLocation, isLines, streamExample } = success
  const type = isLines === true ? 'application/x-ndjson' : 'application/json'
  return {
    [String(status)]: {
      description: schema === undefined ? 'Done; the answer is empty.' : 'Done.',
      headers: { ...answerHeaders, ...(hasLocation === true ? locationHeader : {}) },
      ...(schema === undefined
        ? {}
        : {
            content: {
              ...contentOf(type, { schema, examples }, components),
              ...streamContentOf(streamExample),
            },
          }),
    },
  }
}

const descriptionOf = ({ description, permission, callers }: Operation): string =>
  [
    description ?? '',
    permission === undefined ? '' : `Permission: \`${permission}\`.`,
    callers === undefined ? '' : `Callers: ${callers.join(', ')}.`,
  ]
    .filter(text => text !== '')
    .join('\n\n')

/**
 * An OpenAPI 3.1 operation object.
 * @param components that it needs are added
 */
export function describeOperation(operation: Operation, components: Components): Plain {
  const { body } = operation
  return {
    operationId: operation.name,
    tags: [tagOf(operation.path)],
    summary: operation.summary,
    description: descriptionOf(operation),
    security: [{ key: [] }],
    parameters: [
      ...pathParameters(operation.path),
      ...queryParameters(operation.query, components),
      ...headerParameters(operation),
    ],
    responses: {
      ...describeSuccess(operation, components),
      ...describeFailures(operation.failures),
    },
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.isOptional !== true,
            content: contentOf(body.contentType, body, components),
          },
        }),
  }
}
