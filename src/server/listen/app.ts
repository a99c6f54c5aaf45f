/**
 * The served application: the plugin at its base path, and everything that a stand-alone server
 * needs beside it.
 *
 * The server routes by the target as sent: the framework only sees addresses from which the server
 * has removed `..` (hardening H28), and routes the remaining requests. The framework's own `listen`
 * would lack addresses with a trailing slash, and share the port.
 * @module
 */
import { Elysia } from 'elysia'
import { createBunRouteHandler } from 'elysia/adapter/bun/compose'
import { makePipeline, routesOf } from '../../coffer.ts'
import type { Deps } from '../../deps.ts'
import { entrance } from '../../http/documentation/routes.ts'
import { ApiError } from '../../lib/errors.ts'
import { otherMethods } from '../../http/addresses.ts'
import { nothingHere } from '../../http/request.ts'
import { answer, assertReachable, beginExchange, type Pipeline } from '../../http/pipeline.ts'
import { toApiError } from '../../http/problem.ts'
import type { InFlight } from '../../http/in-flight.ts'
import { keepOpenEveryMs } from '../../limits/work-limits.ts'
import type { MaybeLater } from '../../lib/waiting.ts'
import type { Handler, Handlers } from './handlers.ts'

export interface App {
  /** Answers one request within this process; never throws. */
  readonly handle: (request: Request) => Promise<Response>
  readonly listener: Handlers
  /** Writes the days on which keys were used; the serving process calls it now and then. */
  readonly writeKeyUses: () => Promise<void>
  /** Number of running requests. */
  readonly underWay: () => number
  readonly isEnding: () => boolean
  /** Answers 503 from now on; resolves when all running requests have their answers. */
  readonly drain: () => Promise<void>
}

const refuse = (pipeline: Pipeline, request: Request, error: ApiError): Promise<Response> =>
  answer(pipeline, beginExchange(pipeline, request), () => {
    throw error
  })

/** Answers an unknown address: 404 for any method. */
const nowhere = (pipeline: Pipeline, request: Request): Promise<Response> =>
  answer(pipeline, beginExchange(pipeline, request), x => {
    assertReachable(pipeline, x)
    throw nothingHere()
  })

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
      // Otherwise the framework looks for the path only after the eleventh character.
      handler: { standardHostname: false },
    })
      .use(routesOf(deps, pipeline))
      .use(pagesOf(deps, pipeline))
      // `handle` has answered the errors of operations: this is for requests without a route, and
      // for faults of the framework.
      .onError(({ request, code, error }) =>
        code === 'NOT_FOUND'
          ? nowhere(pipeline, request)
          : refuse(pipeline, request, toApiError(error)),
      )
  )
}

/**
 * Without a usable `Host`, the server gives the bare path as the address, in which the framework
 * finds no path (RFC 9112 section 3.2: HTTP/1.0 sends none).
 */
function withHost(request: Request): Request {
  if (!request.url.startsWith('/')) return request
  const { params } = request as Bun.BunRequest
  return Object.assign(new Request(`http://localhost${request.url}`, request), { params })
}

type Served = ReturnType<typeof served>
type Routed = (request: Request) => MaybeLater<Response>
/** Handlers of one path; `ALL` handles other methods. */
type ByMethod = Readonly<Record<string, Routed>>

/** Returns the framework's handler of a route, for a server's router; composed on first use. */
function composed(app: Served, route: Served['routes'][number]): Routed {
  let handler: Routed | undefined
  return request => {
    handler ??= createBunRouteHandler(app, route) as Routed
    return handler(request)
  }
}

function handlersByPath(app: Served): ReadonlyMap<string, ByMethod> {
  const byPath = new Map<string, Record<string, Routed>>()
  for (const route of app.routes) {
    const byMethod = byPath.get(route.path) ?? {}
    const handler = composed(app, route)
    byMethod[route.method] = handler
    // The server sends no body for it (RFC 9110 section 9.3.2).
    if (route.method === 'GET') byMethod['HEAD'] = handler
    byPath.set(route.path, byMethod)
  }
  return byPath
}

/** Makes the handler of each path, which is also that of the path with a trailing slash. */
function withSlashes(
  byPath: ReadonlyMap<string, ByMethod>,
  handlerOf: (byMethod: ByMethod) => Handler,
): Readonly<Record<string, Handler>> {
  const handlers: Record<string, Handler> = {}
  for (const [path, byMethod] of byPath) {
    const handler = handlerOf(byMethod)
    handlers[path] = handler
    if (path !== '/') handlers[path.endsWith('/') ? path.slice(0, -1) : `${path}/`] = handler
  }
  return handlers
}

/**
 * Keeps connections with running requests open: the work of a request has its own time limits. The
 * server restarts the idle time of a connection when it has read a request, so running requests are
 * checked at intervals; those that are answered at once cost nothing.
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

/** @param refusal if given, the answer to every request */
export function buildApp(deps: Deps, refusal?: () => ApiError): App {
  const pipeline = makePipeline(deps)
  const { answers, nextTraceId, server: listening, inFlight, writeKeyUses } = pipeline
  const app = served(deps, pipeline)
  const watch = makeWatch(inFlight)
  const isRefusing = (): boolean => refusal !== undefined || inFlight.isEnding()
  const refused = (request: Request) => refuse(pipeline, request, refusal?.() ?? stopping())

  const routed = (byMethod: ByMethod): Handler => {
    // `/tokens/search` has none: its other methods are those of a token with that id.
    const other = byMethod['ALL'] ?? (request => app.fetch(withHost(request)))
    return (request, server) => {
      listening.origins = server
      if (isRefusing()) return refused(request)
      const answered = (byMethod[request.method] ?? other)(request)
      if (answered instanceof Promise) watch()
      return answered
    }
  }
  const unrouted: Handler = (request, server) => {
    listening.origins = server
    return isRefusing() ? refused(request) : nowhere(pipeline, request)
  }
  const listener: Handlers = {
    routes: withSlashes(handlersByPath(app), routed),
    fetch: unrouted,
    error: thrown => answers.fault(nextTraceId(), thrown),
  }
  const handle = async (request: Request) => (isRefusing() ? refused(request) : app.fetch(request))
  const { underWay, isEnding, end: drain } = inFlight
  return { handle, listener, writeKeyUses, underWay, isEnding, drain }
}
