/**
 * The application: features mounted on one Elysia instance, with one exit for every error.
 *
 * The framework routes and nothing more: it parses no body and validates nothing, since its own
 * answers would repeat the request (design.md, "Facts about the framework"). Tests start here.
 * @module
 */
import { Elysia } from 'elysia'
import { applicationRoutes } from './applications/routes.ts'
import { authenticator } from './applications/authenticate.ts'
import { hexOf } from './bytes.ts'
import type { Deps } from './deps.ts'
import { ApiError } from './errors.ts'
import { docsPlugin } from './http/docs.ts'
import { handlerOf, traceIdOf, type Pipeline } from './http/pipeline.ts'
import { problemResponse, toApiError } from './http/problem.ts'
import type { Route } from './http/route.ts'
import { tokenRoutes } from './tokens/routes.ts'

/** Unique for this process and every other: a random prefix and a count. */
function traceIds(deps: Deps): () => string {
  const prefix = hexOf(deps.randomBytes(8))
  let count = 0
  return () => `${prefix}-${(count += 1).toString(36)}`
}

/** The segments of a route match those of a path; `:name` matches any one. */
function matches(route: Route, path: string): boolean {
  const expected = route.path.split('/')
  const given = path.replace(/\/$/, '').split('/')
  return (
    expected.length === given.length &&
    expected.every((segment, index) => segment.startsWith(':') || segment === given[index])
  )
}

/** 405 with `Allow` where other methods have a route, else 404. */
function unrouted(pipeline: Pipeline, routes: readonly Route[], request: Request): Response {
  const path = new URL(request.url).pathname
  const allowed = routes.filter(route => matches(route, path)).map(route => route.method)
  const traceId = traceIdOf(pipeline, request)
  if (allowed.length === 0) {
    const error = new ApiError('not_found', 'There is nothing at this address.')
    return problemResponse(error, traceId, pipeline.log)
  }
  const allow = [...new Set(allowed)].join(', ')
  const error = new ApiError('method_not_allowed', `expected one of the methods ${allow}`)
  return problemResponse(error, traceId, pipeline.log, { allow })
}

export function buildApp(deps: Deps) {
  const pipeline: Pipeline = {
    authenticate: authenticator(deps),
    nextTraceId: traceIds(deps),
    log: deps.log,
  }
  const routes = [...tokenRoutes(deps), ...applicationRoutes(deps)]
  const app = new Elysia({ normalize: false })
    .use(docsPlugin(routes))
    .onError(({ code, error, request }) =>
      code === 'NOT_FOUND'
        ? unrouted(pipeline, routes, request)
        : problemResponse(toApiError(error), traceIdOf(pipeline, request), deps.log),
    )
  for (const route of routes) {
    const handle = handlerOf(pipeline, route)
    app.route(route.method, route.path, ({ request, params }) => handle(request, params), {
      parse: 'none',
    })
  }
  return app
}
