/**
 * The OpenAPI description of a route, from the same schemas that check its requests.
 *
 * @module
 */
import { Type, type TSchema } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import { idempotencyKeyCharsMax } from '../limits.ts'
import { idempotentMethods } from './idempotency.ts'
import type { Route } from './route.ts'

export const problemSchema = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  instance: Type.String({ description: 'The trace id as a urn.' }),
  errors: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
})

const meanings: Readonly<Record<number, string>> = {
  400: 'The request is not valid; `errors` says where.',
  401: 'No live API key.',
  403: 'The credential does not hold the permission.',
  404: 'Absent, or not covered by the rules of the credential.',
  409: 'In conflict with what is stored.',
  413: 'The body is too large.',
  415: 'The content type is not the expected one.',
}

type Responses = NonNullable<DocumentDecoration['responses']>

const content = (type: string, schema: TSchema) => ({ [type]: { schema } })

function responsesOf(route: Route): Responses {
  const { status, schema } = route.success
  const success =
    schema === undefined
      ? { description: 'Done.' }
      : { description: 'Done.', content: content('application/json', schema) }
  const failures = route.failures.map(failure => [
    String(failure),
    {
      description: meanings[failure] ?? 'Failed.',
      content: content('application/problem+json', problemSchema),
    },
  ])
  return { [String(status)]: success, ...Object.fromEntries(failures) }
}

const pathParameters = (path: string) =>
  path
    .split('/')
    .filter(segment => segment.startsWith(':'))
    .map(segment => ({
      name: segment.slice(1),
      in: 'path',
      required: true,
      schema: Type.String(),
    }))

const queryParameters = (schema: TSchema | undefined) =>
  Object.entries((schema?.['properties'] ?? {}) as Record<string, TSchema>).map(([name, type]) => ({
    name,
    in: 'query',
    required: false,
    schema: type,
  }))

const descriptionOf = ({ description = '', callers }: Route): string =>
  callers === undefined ? description : `${description} Callers: ${callers.join(', ')}.`.trim()

const idempotencyParameter = {
  name: 'SVC-IDEMPOTENCY-KEY',
  in: 'header',
  required: false,
  description: 'The first success of a key is kept for 24 hours and answers every repetition.',
  schema: Type.String({ minLength: 1, maxLength: idempotencyKeyCharsMax }),
}

const headerParameters = ({ method }: Route) =>
  idempotentMethods.has(method) ? [idempotencyParameter] : []

/** An OpenAPI 3 operation object. */
export function describeRoute(route: Route): DocumentDecoration {
  const { body } = route
  const description = descriptionOf(route)
  return {
    summary: route.summary,
    ...(description === '' ? {} : { description }),
    security: [{ key: [] }],
    parameters: [
      ...pathParameters(route.path),
      ...queryParameters(route.query),
      ...headerParameters(route),
    ],
    responses: responsesOf(route),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: content(body.contentType, body.schema) } }),
  }
}
