/**
 * Operations and pages as routes of the framework.
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { MaybeLater } from '../lib/waiting.ts'
import type { StaticPage } from './answers.ts'
import type { Operation } from './operation.ts'
import { answerPage, beginExchange, handle, type Pipeline } from './pipeline.ts'

/** The members that are used of the framework's context. `route` is the whole pattern. */
export interface Asked {
  readonly request: Request
  readonly route: string
}

/** An operation as the framework and its typed client know it. */
interface Hooks<B extends TSchema, Q extends TSchema, S extends TSchema, N extends number> {
  readonly parse: 'none'
  readonly detail: { readonly operationId: string }
  readonly body: B
  readonly query: Q
  readonly response: Record<N, S>
}

type RouteOf<
  B extends TSchema,
  Q extends TSchema,
  S extends TSchema,
  N extends number,
  Method extends string,
  Path extends string,
> = readonly [
  method: Lowercase<Method>,
  path: Path,
  answer: (asked: Asked) => Promise<never>,
  hooks: Hooks<B, Q, S, N>,
]

/**
 * An operation as arguments of `route`. Schemas are there for its types alone: what they say is
 * checked around the operation, since the framework would read bodies before their callers are
 * known, hash names of queries without a seed, and repeat what came in its errors. An answer is
 * printed text, so that what its type says stands in the hooks, and the handler has none.
 */
export function routeOf<
  B extends TSchema,
  Q extends TSchema,
  S extends TSchema,
  N extends 200 | 201 | 204,
  Method extends string,
  Path extends string,
>(pipeline: Pipeline, operation: Operation<B, Q, S, N, Method, Path>) {
  pipeline.operations.set(operation.name, operation)
  const answer = ({ request, route }: Asked) =>
    handle(pipeline, operation, beginExchange(pipeline, request, route, operation))
  const hooks = { parse: 'none', detail: { operationId: operation.name } }
  const route = [operation.method.toLowerCase(), operation.path, answer, hooks]
  return route as unknown as RouteOf<B, Q, S, N, Method, Path>
}

/** Hooks of pages and of answers to other methods: the document does not list them. */
export const hidden = () => ({ parse: 'none', detail: { hide: true } }) as const

/** A page as the handler of a route. */
export const page =
  (pipeline: Pipeline, read: (request: Request) => MaybeLater<StaticPage>) =>
  ({ request, route }: Asked): Promise<Response> =>
    answerPage(pipeline, beginExchange(pipeline, request, route), read)

/**
 * True if a request came in by a server, and not from within the process. Nothing tells by a Unix
 * socket, or once the connection has ended: then it is taken to have come by the server.
 */
const hasSent = (server: Bun.Server<unknown> | null, request: Request): boolean =>
  server?.port === undefined || request.signal.aborted || server.requestIP(request) !== null

/** Tells the pipeline of the server on which a host listens. */
export const knowsServer = ({ server }: Pipeline) =>
  new Elysia().onStart(({ server: listening }) => {
    server.origins = listening ?? undefined
    server.hasSent = request => hasSent(listening, request)
  })
