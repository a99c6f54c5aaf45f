/**
 * The application: features mounted on one Elysia instance, with one exit for every error.
 *
 * The framework routes and nothing more: it parses no body and validates nothing, since its own
 * answers would repeat the request (design.md, "Facts about the framework"). A listening server
 * routes by the target as it was sent, because the framework sees addresses from which the server
 * has removed `..` already (hardening H28). Tests start here.
 * @module
 */
import { Elysia } from 'elysia'
import { applicationRoutes } from './applications/routes.ts'
import { applicationAuthenticator, findLiveApplication } from './applications/authenticate.ts'
import { hexOf } from './bytes.ts'
import type { Deps } from './deps.ts'
import { openAnswerBudget } from './http/answer-budget.ts'
import { openAnswers } from './http/answers.ts'
import type { Origins } from './http/crowd.ts'
import { openBodyBudget } from './http/body-budget.ts'
import { docsOperations } from './http/docs.ts'
import { openEndpoints, operationOf, type Endpoint, type Endpoints } from './http/endpoints.ts'
import type { Pipeline } from './http/pipeline.ts'
import { openRateLimit } from './http/rate.ts'
import { permissionRoutes } from './permissions/routes.ts'
import { sessionAuthenticator, sessionKeyPrefix } from './sessions/authenticate.ts'
import type { SessionDeps } from './sessions/deps.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { tenantRoutes } from './tenants/routes.ts'
import { bulkRoutes } from './tokens/bulk-routes.ts'
import { tokenRoutes } from './tokens/routes.ts'

/** Unique for this process and every other: a random prefix and a count. */
function traceIds(deps: Deps): () => string {
  const prefix = hexOf(deps.randomBytes(8))
  let count = 0
  return () => `${prefix}-${(count += 1).toString(36)}`
}

/** The prefix of a key tells which feature knows it. */
function authenticatorOf(deps: SessionDeps): Pipeline['authenticate'] {
  const findApplication = applicationAuthenticator(deps)
  const findSession = sessionAuthenticator(deps)
  return (key, isFresh) =>
    (key.startsWith(sessionKeyPrefix) ? findSession : findApplication)(key, isFresh)
}

/** What `Bun.serve` is given. */
interface Listener {
  readonly routes: Readonly<
    Record<string, (request: Bun.BunRequest, server: Origins) => Promise<Response>>
  >
  readonly fetch: (request: Request, server: Origins) => Promise<Response>
  /** What answers when even that failed: the server's own answer would print the error. */
  readonly error: (thrown: unknown) => Response
}

export interface App {
  /** Answers one request within this process; never throws. */
  readonly handle: (request: Request) => Promise<Response>
  /** The same, by the framework's own name. */
  readonly fetch: (request: Request) => Response | Promise<Response>
  readonly listener: Listener
  /** Answers 503 from now on; resolves when all that was under way has its answer. */
  readonly drain: () => Promise<void>
}

/** The server matches what was sent, and decodes parameters in its own way: both must agree. */
function listenerOf({ at, nowhere }: Endpoints, { answers, nextTraceId }: Pipeline): Listener {
  const entries = [...at].flatMap(([path, endpoint]) => {
    const answer = path.includes(':')
      ? (request: Bun.BunRequest, server: Origins) => endpoint(request, server, request.params)
      : (request: Bun.BunRequest, server: Origins) => endpoint(request, server)
    return [
      [path, answer],
      [`${path}/`, answer],
    ] as const
  })
  return {
    routes: Object.fromEntries(entries),
    fetch: (request, server) => nowhere(request, server),
    error: thrown => answers.fault(nextTraceId(), thrown),
  }
}

function mount({ at, nowhere }: Endpoints) {
  // Without it the framework looks for the path behind the eleventh character only.
  const handler = { standardHostname: false }
  const framework = new Elysia({ normalize: false, handler }).onError(({ request }) =>
    nowhere(request),
  )
  const all = (path: string, endpoint: Endpoint) =>
    framework.all(path, ({ request }) => endpoint(request), { parse: 'none' })
  at.forEach((endpoint, path) => all(path, endpoint))
  return framework
}

export function buildApp(deps: Deps): App {
  const { settings } = deps
  const sessionDeps: SessionDeps = {
    ...deps,
    findApplication: (tenantId, id) => findLiveApplication(deps, tenantId, id),
  }
  const answers = openAnswers(settings, deps.log)
  const pipeline: Pipeline = {
    deps,
    answers,
    authenticate: authenticatorOf(sessionDeps),
    bodyBudget: openBodyBudget(settings),
    answerBudget: openAnswerBudget(),
    rate: openRateLimit(settings.requestsPerSecondMax, deps.elapsedMs),
    slotsUnderWay: new Set(),
    nextTraceId: traceIds(deps),
  }
  const routes = [
    ...tokenRoutes(deps),
    ...bulkRoutes(deps),
    ...sessionRoutes(sessionDeps),
    ...applicationRoutes(deps),
    ...tenantRoutes(deps),
    ...permissionRoutes,
  ]
  const operations = [
    ...routes.map(route => operationOf(pipeline, route)),
    ...docsOperations(answers, routes, settings.basePath),
  ]
  const endpoints = openEndpoints(pipeline, settings.basePath, operations)
  const { handle, fetch } = mount(endpoints)
  return { handle, fetch, listener: listenerOf(endpoints, pipeline), drain: endpoints.drain }
}
