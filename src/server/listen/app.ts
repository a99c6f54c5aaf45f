/**
 * The served application: the plugin at its base path, and what a server of its own needs beside
 * it.
 *
 * A listening server routes by the target as it was sent, because the framework sees addresses from
 * which the server has removed `..` already (hardening H28); the framework then routes what has
 * passed. Its own `listen` would leave out addresses with a trailing slash, and share the port.
 * @module
 */
import { Elysia } from 'elysia'
import { createBunRouteHandler } from 'elysia/adapter/bun/compose'
import { makePipeline, routesOf } from '../../coffer.ts'
import type { Deps } from '../../deps.ts'
import { entrance } from '../../http/documentation/routes.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Connections } from '../../http/admission.ts'
import { otherMethods } from '../../http/addresses.ts'
import { assertAddress, nothingHere } from '../../http/request.ts'
import { finish, type Pipeline, makeExchange } from '../../http/pipeline.ts'
import { toApiError } from '../../http/problem.ts'
import type { InFlight } from '../../http/in-flight.ts'
import { keepOpenEveryMs } from '../../limits/work-limits.ts'
import type { MaybeLater } from '../../lib/waiting.ts'

type Handler = (request: Request, server: Connections) => MaybeLater<Response>

/** What `Bun.serve` is given. */
interface Listener {
  readonly routes: Readonly<Record<string, Handler>>
  readonly fetch: Handler
  /** What answers when even that failed: the server's own answer would print the error. */
  readonly error: (thrown: unknown) => Response
}

export interface App {
  /** Answers one request within this process; never throws. */
  readonly handle: (request: Request) => Promise<Response>
  readonly listener: Listener
  /** Writes on which day keys were used; the serving process calls it now and then. */
  readonly writeKeyUses: () => Promise<void>
  /** Requests under way, and whether no more are taken. */
  readonly underWay: () => number
  readonly isEnding: () => boolean
  /** Answers 503 from now on; resolves when all that was under way has its answer. */
  readonly drain: () => Promise<void>
}

function refuse(pipeline: Pipeline, request: Request, error: ApiError): Response {
  const exchange = makeExchange(pipeline, request)
  return finish(pipeline, exchange, pipeline.answers.problem(exchange, error))
}

/** At an address that is none: 404 whatever is asked for. */
function nowhere(pipeline: Pipeline, request: Request): Response {
  try {
    pipeline.enterAddress(request, pipeline.server.origins)
    assertAddress(request, pipeline.server)
    return refuse(pipeline, request, nothingHere())
  } catch (thrown) {
    return refuse(pipeline, request, toApiError(thrown))
  }
}

const stopping = () => new ApiError('unavailable', 'The service is stopping.')

function pagesOf(deps: Deps, pipeline: Pipeline) {
  const pages = new Elysia()
  if (!deps.settings.documentationPage) return pages
  const first = entrance(pipeline)
  return pages.use(first).use(otherMethods(pipeline, first.routes))
}

function served(deps: Deps, pipeline: Pipeline) {
  return (
    new Elysia({
      prefix: deps.settings.basePath,
      normalize: false,
      // Else the framework looks for the path behind the eleventh character only.
      handler: { standardHostname: false },
    })
      .use(routesOf(deps, pipeline))
      .use(pagesOf(deps, pipeline))
      // Every error of an operation has been answered: what comes here has no route.
      .onError(({ request, code, error }) =>
        code === 'NOT_FOUND'
          ? nowhere(pipeline, request)
          : refuse(pipeline, request, toApiError(error)),
      )
  )
}

/**
 * Without a usable `Host` the server gives the bare path as the address, in which the framework
 * finds no path (RFC 9112 section 3.2: HTTP/1.0 sends none).
 */
function withHost(request: Request): Request {
  if (!request.url.startsWith('/')) return request
  const { params } = request as Bun.BunRequest
  return Object.assign(new Request(`http://localhost${request.url}`, request), { params })
}

type Served = ReturnType<typeof served>
type Routed = (request: Request) => MaybeLater<Response>

/** How the framework answers a route behind the router of a server; composed when first asked. */
function composed(app: Served, route: Served['routes'][number]): Routed {
  let answer: Routed | undefined
  return request => {
    answer ??= createBunRouteHandler(app, route) as Routed
    return answer(request)
  }
}

/** What answers each method at a path; `ALL` answers those that it does not have. */
function answersByPath(app: Served): ReadonlyMap<string, Readonly<Record<string, Routed>>> {
  const byPath = new Map<string, Record<string, Routed>>()
  for (const route of app.routes) {
    const answers = byPath.get(route.path) ?? {}
    const answer = composed(app, route)
    answers[route.method] = answer
    // The server sends no body of it (RFC 9110 section 9.3.2).
    if (route.method === 'GET') answers['HEAD'] = answer
    byPath.set(route.path, answers)
  }
  return byPath
}

/**
 * No request under way is idle, however long its answer takes: what it waits for has bounds of its
 * own. The server times a connection anew when it has read what came with a request, so now and
 * then all that are under way are looked at, and nothing is done for those answered at once.
 */
function makeWatch({ underWay, keepOpen }: InFlight): () => void {
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    keepOpen()
    if (underWay() > 0) return
    clearInterval(timer)
    timer = undefined
  }
  return () => {
    timer ??= setInterval(look, keepOpenEveryMs).unref()
  }
}

/** @param refusal where it is there, it is all that is answered */
export function buildApp(deps: Deps, refusal?: () => ApiError): App {
  const pipeline = makePipeline(deps)
  const { answers, nextTraceId, server: known, tally, writeKeyUses } = pipeline
  const app = served(deps, pipeline)
  const refused = (request: Request) => refuse(pipeline, request, refusal?.() ?? stopping())
  const watch = makeWatch(tally)
  const isRefusing = (): boolean => refusal !== undefined || tally.isEnding()
  const routes: Record<string, Handler> = {}
  for (const [path, byMethod] of answersByPath(app)) {
    const other = byMethod['ALL'] ?? (request => app.fetch(withHost(request)))
    const routed: Handler = (request, server) => {
      known.origins = server
      if (isRefusing()) return refused(request)
      const answer = (byMethod[request.method] ?? other)(request)
      if (answer instanceof Promise) watch()
      return answer
    }
    routes[path] = routed
    if (path !== '/') routes[path.endsWith('/') ? path.slice(0, -1) : `${path}/`] = routed
  }
  const fetch: Listener['fetch'] = (request, server) => {
    known.origins = server
    return isRefusing() ? refused(request) : nowhere(pipeline, request)
  }
  const error: Listener['error'] = thrown => answers.fault(nextTraceId(), thrown)
  const handle = async (request: Request) => (isRefusing() ? refused(request) : app.fetch(request))
  const { underWay, isEnding, end: drain } = tally
  return { handle, listener: { routes, fetch, error }, writeKeyUses, underWay, isEnding, drain }
}
