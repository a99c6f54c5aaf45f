/**
 * The vault as an Elysia plugin: `new Elysia({ prefix: '/vault' }).use(coffer(deps))`.
 *
 * The listening server, tests and host applications all run this plugin. Hooks of a host see
 * everything that passes, plaintexts included; `.mount` keeps them out (docs/embedding.md).
 * @module
 */
import { Elysia } from 'elysia'
import { applicationAuthenticator, findLiveApplication } from './applications/find-key-caller.ts'
import { findApplication } from './applications/application-service.ts'
import { applicationKeyRoutes } from './applications/key-routes.ts'
import { makeKeyUses, type KeyUses } from './applications/key-uses.ts'
import { applicationRoutes } from './applications/routes.ts'
import type { SimulateDeps } from './applications/simulate.ts'
import { simulateRoutes } from './applications/simulate-routes.ts'
import type { Deps } from './deps.ts'
import { otherMethods } from './http/addresses.ts'
import { makeAnswerBudget, makeBodyBudget } from './http/budgets.ts'
import { makeAnswers } from './http/answers.ts'
import { cacheByGeneration } from './http/credential-cache.ts'
import { makeFloodGuard } from './http/flood-guard.ts'
import { admittedPerTurnMax, strangersPerTurnMax } from './limits/limits.ts'
import { makeRateLimit } from './http/rate-limit.ts'
import { makeStoreTurns } from './http/store-turns.ts'
import { makeKeepAlive } from './http/keep-alive.ts'
import { makeInFlight } from './http/in-flight.ts'
import { makeClientAddress, makeEnterAddress } from './http/client-address.ts'
import { consoleRoutes } from './console/routes.ts'
import { documentation } from './http/documentation/routes.ts'
import { elementRoutes } from './elements/routes.ts'
import type { Pipeline } from './http/pipeline.ts'
import { knowsServer } from './http/routes.ts'
import { makeTraceIds } from './http/trace-id.ts'
import { logProofRoutes } from './logs/proof-routes.ts'
import { logRoutes } from './logs/routes.ts'
import { permissionRoutes } from './permissions/routes.ts'
import {
  grantsOfSession,
  sessionAuthenticator,
  sessionKeyPrefix,
} from './sessions/find-session-caller.ts'
import type { SessionDeps } from './sessions/session-deps.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { hostReports } from './status/host-reports.ts'
import { statusRoutes, type StatusDeps } from './status/routes.ts'
import { build, version } from './lib/version.ts'
import { tenantRoutes } from './tenants/routes.ts'
import { isFirstTenant } from './tenants/tenant-record.ts'
import { compareAccess, countNewlyRevealed } from './tokens/access/compare.ts'
import { accessRoutes } from './tokens/access-routes.ts'
import type { AccessDeps } from './tokens/access/access-deps.ts'
import { bulkRoutes } from './tokens/bulk-routes.ts'
import { previewRoutes } from './tokens/preview-routes.ts'
import { containerRoutes } from './tokens/container-routes.ts'
import { listRoutes } from './tokens/list-routes.ts'
import { tokenRoutes } from './tokens/routes.ts'
import { startWritingKeyUses } from './vault/upkeep.ts'
import { deliveryRoutes } from './webhooks/delivery-routes.ts'
import { feedRoutes } from './webhooks/feed-routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'

/** Chooses the feature that knows a key by the key's prefix. */
function authenticatorOf(deps: SessionDeps, { note }: KeyUses): Pipeline['authenticate'] {
  const findApplication = applicationAuthenticator(deps, note)
  const findSession = sessionAuthenticator(deps)
  return cacheByGeneration(deps, (key, nowMs) =>
    (key.startsWith(sessionKeyPrefix) ? findSession : findApplication)(key, nowMs),
  )
}

const sessionDepsOf = (deps: Deps): SessionDeps => ({
  ...deps,
  findApplication: (...which) => findLiveApplication(deps, ...which),
})

const accessDepsOf = (deps: Deps): AccessDeps => ({
  ...deps,
  grantsOf: async (...which) => (await findApplication(deps, ...which)).record,
  grantsOfSession: (...which) => grantsOfSession(sessionDepsOf(deps), ...which),
})

const simulateDepsOf = (deps: Deps): SimulateDeps => ({
  ...deps,
  compareAccess: (...which) => compareAccess(deps, ...which),
  countNewlyRevealed: (...which) => countNewlyRevealed(deps, ...which),
})

const statusDepsOf = (deps: Deps): StatusDeps => ({
  reports: deps.reports ?? hostReports(deps, { version, build }),
  isFirstTenant: id => isFirstTenant(deps, id),
  nextTurn: deps.turns.next,
})

export function makePipeline(deps: Deps): Pipeline {
  const { settings } = deps
  const keyUses = makeKeyUses(deps)
  const clientAddress = makeClientAddress(settings)
  const keepAlive = makeKeepAlive(deps.keepAliveSeconds)
  return {
    deps,
    answers: makeAnswers(settings, deps.log, keepAlive),
    authenticate: authenticatorOf(sessionDepsOf(deps), keyUses),
    bodyBudget: makeBodyBudget(settings),
    answerBudget: makeAnswerBudget(),
    storeTurns: deps.isStoreFar === true ? makeStoreTurns() : undefined,
    countAdmitted: makeFloodGuard(admittedPerTurnMax),
    countUnadmitted: makeFloodGuard(strangersPerTurnMax),
    clientAddress,
    enterAddress: makeEnterAddress(deps, clientAddress),
    rate: makeRateLimit(settings.requestsPerSecondMax, deps.elapsedMs),
    slotsUnderWay: new Set(),
    nextTraceId: makeTraceIds(deps),
    inFlight: makeInFlight(),
    keepAlive,
    writeKeyUses: keyUses.write,
    operations: new Map(),
    server: { origins: undefined, hasSent: undefined },
  }
}

/** Plugins of all features, and the pages beside them. */
export function routesOf(deps: Deps, pipeline: Pipeline) {
  const operations = new Elysia()
    .use(tokenRoutes(deps, pipeline))
    .use(listRoutes(deps, pipeline))
    .use(containerRoutes(deps, pipeline))
    .use(bulkRoutes(deps, pipeline))
    .use(sessionRoutes(sessionDepsOf(deps), pipeline))
    .use(applicationRoutes(simulateDepsOf(deps), pipeline))
    .use(applicationKeyRoutes(deps, pipeline))
    .use(tenantRoutes(deps, pipeline))
    .use(permissionRoutes(pipeline))
    .use(logProofRoutes(deps, pipeline))
    .use(logRoutes(deps, pipeline))
    .use(webhookRoutes(deps, pipeline))
    .use(deliveryRoutes(deps, pipeline))
    .use(feedRoutes(deps, pipeline))
    .use(accessRoutes(accessDepsOf(deps), pipeline))
    .use(simulateRoutes(simulateDepsOf(deps), pipeline))
    .use(statusRoutes(statusDepsOf(deps), pipeline))
    .use(previewRoutes(deps, pipeline))
  const pages = new Elysia()
  if (deps.settings.documentationPage) pages.use(documentation(pipeline, [...operations.routes]))
  if (deps.settings.consolePage) pages.use(consoleRoutes(pipeline))
  const elements = elementRoutes(pipeline)
  const known = [...operations.routes, ...pages.routes, ...elements.routes]
  return operations
    .use(pages)
    .use(elements)
    .use(otherMethods(pipeline, known))
    .use(knowsServer(pipeline))
}

/** Last-used days of keys are only written while a host listens. */
export function coffer(deps: Deps) {
  const pipeline = makePipeline(deps)
  let stop: (() => void) | undefined
  return routesOf(deps, pipeline)
    .onStart(() => {
      stop = startWritingKeyUses(deps, pipeline.writeKeyUses)
    })
    .onStop(() => stop?.())
}

/** For typed clients: `treaty<Coffer>(address)` of `@elysiajs/eden`. */
export type Coffer = ReturnType<typeof coffer>
