/**
 * What is around every operation, as hooks of the framework: the macros `operation` and `page`
 * begin an exchange and check the address, and the first of them also admits and reads.
 *
 * A request that is refused ends before its handler, by an answer and not by an error: thrown
 * through the framework, a refusal of a wrong key takes a third more processor time, and hooks of a
 * host would have errors to answer that are not theirs.
 * @module
 */
import { Elysia } from 'elysia'
import { traceIdOf } from './admission.ts'
import type { Exchange } from './answers.ts'
import type { Operation, Perform, Route } from './operation.ts'
import { assertAddress, readParams } from './request.ts'
import { begin, refuse, type Pipeline } from './pipeline.ts'
import { orElse, type MaybeLater } from '../waiting.ts'

/** What a hook is given. */
interface Hooked {
  readonly request: Request
  /** The pattern under which the route was registered, with every prefix. */
  readonly route: string
}

/** HEAD is GET, of which the server sends no body (RFC 9110 section 9.3.2). */
const readAs = (method: string): string => (method === 'HEAD' ? 'GET' : method)

/** It must be finished. */
export function makeExchange(pipeline: Pipeline, request: Request): Exchange {
  pipeline.tally.enter()
  return { request, traceId: traceIdOf(pipeline, request), isAdmitted: false, isBodyRead: false }
}

/** The operation where it was first asked for; prefixes of a host are part of its path. */
function makeRoute(operation: Operation, basePath: string) {
  let known: Route | undefined
  return ({ method }: Request, pattern: string): Route => {
    const path = pattern.startsWith(basePath) ? pattern.slice(basePath.length) : pattern
    return (known ??= { ...operation, method: readAs(method), path })
  }
}

/** Not a name, since a host may have given any name to something of its own. */
const refusal = Symbol('refusal')

/** What a request that was refused leaves in the place of what its handler would get. */
interface Refused {
  readonly [refusal]?: Response
}

/** The type is that of what a handler gets, since none runs after a refusal. */
const refused = (pipeline: Pipeline, exchange: Exchange, thrown: unknown): never =>
  ({ [refusal]: refuse(pipeline, exchange, thrown) }) satisfies Refused as never

const answerRefused = (context: object): never => (context as Refused)[refusal] as never

/**
 * Whether a request came in by a server, and not from within the process. By a socket of the file
 * system all are taken to, as nothing tells; so is one whose connection has ended.
 */
const hasSent = (server: Bun.Server<unknown> | null, request: Request): boolean =>
  server?.port === undefined || request.signal.aborted || server.requestIP(request) !== null

export function hooks(pipeline: Pipeline) {
  const { deps, operations, server } = pipeline
  return new Elysia()
    .onStart(({ server: listening }) => {
      server.origins = listening ?? undefined
      server.hasSent = request => hasSent(listening, request)
    })
    .macro({
      operation: (operation: Operation) => {
        const routeOf = makeRoute(operation, deps.settings.basePath)
        operations.set(operation.name, operation)
        return {
          detail: { operationId: operation.name },
          resolve({ request, route }: Hooked): MaybeLater<{ perform: Perform }> {
            const exchange = makeExchange(pipeline, request)
            return orElse(
              () => {
                assertAddress(request, server)
                const params = readParams(route, request)
                return begin(pipeline, routeOf(request, route), exchange, params)
              },
              thrown => refused(pipeline, exchange, thrown),
            )
          },
          beforeHandle: answerRefused,
        }
      },
      page: (_isPage: true) => ({
        resolve({ request, route }: Hooked): { exchange: Exchange } {
          const exchange = makeExchange(pipeline, request)
          try {
            assertAddress(request, server)
            readParams(route, request)
            return { exchange }
          } catch (thrown) {
            return refused(pipeline, exchange, thrown)
          }
        },
        beforeHandle: answerRefused,
      }),
    })
}
