/**
 * What is around every operation, as hooks of the framework: the macros `operation` and `page` begin
 * an exchange and check the address, the first of them also admits and reads, and `onError` is the
 * one exit for errors.
 *
 * @module
 */
import { Elysia } from 'elysia'
import { ApiError } from '../errors.ts'
import { traceIdOf } from './admission.ts'
import type { Exchange } from './answers.ts'
import type { Operation, Perform, Route } from './operation.ts'
import { assertAddress, readParams } from './paths.ts'
import { begin, fail, finish, type Pipeline } from './pipeline.ts'
import { orElse, type MaybeLater } from '../maybe-later.ts'

/** What a hook is given. */
interface Hooked {
  readonly request: Request
  /** The pattern under which the route was registered, with every prefix. */
  readonly route: string
}

/** HEAD is GET, of which the server sends no body (RFC 9110 section 9.3.2). */
const readAs = (method: string): string => (method === 'HEAD' ? 'GET' : method)

/** It must be finished. */
export function openExchange(pipeline: Pipeline, request: Request): Exchange {
  pipeline.tally.enter()
  return { request, traceId: traceIdOf(pipeline, request), isAdmitted: false, isBodyRead: false }
}

/** The operation where it was first asked for; prefixes of a host are part of its path. */
function openRoute(operation: Operation, basePath: string) {
  let known: Route | undefined
  return ({ method }: Request, pattern: string): Route => {
    const path = pattern.startsWith(basePath) ? pattern.slice(basePath.length) : pattern
    return (known ??= { ...operation, method: readAs(method), path })
  }
}

export function hooks(pipeline: Pipeline) {
  const { answers, deps, operations, server, failed } = pipeline
  return (
    new Elysia()
      .onStart(({ server: listening }) => {
        server.origins = listening ?? undefined
        server.hasRouter = true
      })
      // What a host throws for its own reasons is the host's. The type keeps the answer out of those
      // of the routes, as typed clients see them.
      .onError({ as: 'scoped' }, ({ error }): undefined => {
        const exchange = failed.get(error)
        if (exchange === undefined || !(error instanceof ApiError)) return undefined
        return finish(pipeline, exchange, answers.problem(exchange, error)) as never
      })
      .macro({
        operation: (operation: Operation) => {
          const routeOf = openRoute(operation, deps.settings.basePath)
          operations.set(operation.name, operation)
          return {
            detail: { operationId: operation.name },
            resolve({ request, route }: Hooked): MaybeLater<{ perform: Perform }> {
              const exchange = openExchange(pipeline, request)
              return orElse(
                () => {
                  assertAddress(request, server)
                  const params = readParams(route, request)
                  return begin(pipeline, routeOf(request, route), exchange, params)
                },
                thrown => fail(pipeline, exchange, thrown),
              )
            },
          }
        },
        page: (_isPage: true) => ({
          resolve({ request, route }: Hooked): { exchange: Exchange } {
            const exchange = openExchange(pipeline, request)
            try {
              assertAddress(request, server)
              readParams(route, request)
              return { exchange }
            } catch (thrown) {
              return fail(pipeline, exchange, thrown)
            }
          },
        }),
      })
  )
}
