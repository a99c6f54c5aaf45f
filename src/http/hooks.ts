/**
 * What is around every operation, as hooks of the framework: `derive` begins an exchange, the
 * macros `operation` and `page` check the address, the first of them also admits and reads, and
 * `onError` is the one exit for errors.
 *
 * @module
 */
import { Elysia } from 'elysia'
import { ApiError } from '../errors.ts'
import { traceIdOf } from './admission.ts'
import type { Exchange } from './answers.ts'
import type { Operation, Perform, Route } from './operation.ts'
import { assertAddress, readParams } from './paths.ts'
import { begin, finish, type Pipeline } from './pipeline.ts'
import { toApiError } from './problem.ts'

/** What a hook is given; the exchange is there, since `derive` comes first. */
interface Hooked {
  readonly exchange?: Exchange
  readonly request: Request
  /** The pattern under which the route was registered, with every prefix. */
  readonly route: string
}

/** HEAD is GET, of which the server sends no body (RFC 9110 section 9.3.2). */
const readAs = (method: string): string => (method === 'HEAD' ? 'GET' : method)

export const openExchange = (pipeline: Pipeline, request: Request): Exchange => ({
  request,
  traceId: traceIdOf(pipeline, request),
  isAdmitted: false,
  isBodyRead: false,
})

/** The operation where it was first asked for; prefixes of a host are part of its path. */
function openRoute(operation: Operation, basePath: string) {
  let known: Route | undefined
  return ({ method }: Request, pattern: string): Route => {
    const path = pattern.startsWith(basePath) ? pattern.slice(basePath.length) : pattern
    return (known ??= { ...operation, method: readAs(method), path })
  }
}

export function hooks(pipeline: Pipeline) {
  const { answers, deps, operations, server } = pipeline
  return (
    new Elysia()
      .onStart(({ server: listening }) => {
        server.origins = listening ?? undefined
        server.hasRouter = true
      })
      .derive({ as: 'scoped' }, ({ request }) => ({ exchange: openExchange(pipeline, request) }))
      // What a host throws for its own reasons is the host's. The type keeps the answer out of those
      // of the routes, as typed clients see them.
      .onError({ as: 'scoped' }, ({ exchange, error }): undefined => {
        if (exchange === undefined || !(error instanceof ApiError)) return undefined
        return finish(pipeline, exchange, answers.problem(exchange, error)) as never
      })
      .macro({
        operation: (operation: Operation) => {
          const routeOf = openRoute(operation, deps.settings.basePath)
          operations.set(operation.name, operation)
          return {
            detail: { operationId: operation.name },
            async resolve({ exchange, request, route }: Hooked): Promise<{ perform: Perform }> {
              try {
                assertAddress(request, server)
                const params = readParams(route, request)
                return await begin(pipeline, routeOf(request, route), exchange as Exchange, params)
              } catch (thrown) {
                throw toApiError(thrown)
              }
            },
          }
        },
        page: (_isPage: true) => ({
          beforeHandle({ request, route }: Hooked) {
            assertAddress(request, server)
            readParams(route, request)
          },
        }),
      })
  )
}
