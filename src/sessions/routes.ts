/**
 * Operations on sessions. Source: spec, "Sessions"; contract sections 3 and 12.
 *
 * @module
 */
import { Elysia } from 'elysia'
import { printInstantUtc } from '../rules/instants.ts'
import { operation, type OperationCall, type Reply } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { printStretch, readPageRequest } from '../http/paging.ts'
import { routeOf } from '../http/routes.ts'
import type { SessionDeps } from './session-deps.ts'
import { endSession, authorizeSession, createSession } from './session-service.ts'
import {
  authorizeSessionExamples,
  newSessionExamples,
  sessionListExamples,
} from './session-examples.ts'
import { listSessions } from './list.ts'
import {
  authorizeSessionSchema,
  listSessionsQuery,
  newSessionSchema,
  sessionListSchema,
} from './schema.ts'

async function create(deps: SessionDeps, { caller }: OperationCall): Promise<Reply> {
  const { id, key, nonce, expiresAtMs } = await createSession(deps, caller)
  const shown = {
    id,
    session_key: key.reveal(),
    nonce: nonce.reveal(),
    expires_at: printInstantUtc(expiresAtMs),
  }
  return { status: 201, json: JSON.stringify(shown), aboutId: id }
}

async function list(deps: SessionDeps, { caller, query }: OperationCall): Promise<Reply> {
  const { size } = readPageRequest(query)
  const start = query.get('start')?.[0] ?? ''
  const { items, next } = await listSessions(deps, caller, { start, at: 'query.start', size })
  return { status: 200, json: printStretch(size, next, items) }
}

const listAll = (deps: SessionDeps) =>
  operation({
    name: 'listSessions',
    method: 'GET',
    path: '/sessions',
    readsPages: true,
    summary: 'List sessions, newest first, as a walk',
    permission: 'session:read',
    query: listSessionsQuery,
    success: { status: 200, schema: sessionListSchema, examples: sessionListExamples },
    failures: [400, 401, 403],
    run: call => list(deps, call),
  })

const end = (deps: SessionDeps) =>
  operation({
    name: 'deleteSession',
    method: 'DELETE',
    path: '/sessions/:id',
    about: 'object',
    summary: 'End a session; its key is refused from then on',
    description:
      'For management applications with `session:delete`; and for private ones, of sessions that ' +
      'they authorized.',
    permission: 'session:delete',
    isOwn: ({ type }) => type === 'private',
    callers: ['management', 'private'],
    success: { status: 204 },
    failures: [401, 403, 404],
    async run({ caller, params }) {
      await endSession(deps, caller, params.id)
      return { status: 204 }
    },
  })

/** Reads no body, even if one is sent (contract section 1). */
const open = (deps: SessionDeps) =>
  operation({
    name: 'createSession',
    method: 'POST',
    path: '/sessions',
    about: 'object',
    summary: 'Create a session; the answer holds its key and its nonce, once',
    permission: undefined,
    callers: ['public'],
    success: { status: 201, schema: newSessionSchema, examples: newSessionExamples },
    failures: [401, 403],
    run: call => create(deps, call),
  })

const authorize = (deps: SessionDeps) =>
  operation({
    name: 'authorizeSession',
    method: 'POST',
    path: '/sessions/authorize',
    about: 'object',
    summary: 'Give a session its permissions and rules',
    permission: undefined,
    callers: ['private'],
    body: {
      contentType: 'application/json',
      schema: authorizeSessionSchema,
      examples: authorizeSessionExamples,
      opaque: new Set<string>(),
    },
    success: { status: 200 },
    failures: [400, 401, 403, 404, 409, 413, 415],
    run: async ({ caller }, body) => ({
      status: 200,
      aboutId: await authorizeSession(deps, caller, body),
    }),
    replay: async () => ({ status: 200 }),
  })

export const sessionRoutes = (deps: SessionDeps, pipeline: Pipeline) =>
  new Elysia()
    .route(...routeOf(pipeline, listAll(deps)))
    .route(...routeOf(pipeline, end(deps)))
    .route(...routeOf(pipeline, open(deps)))
    .route(...routeOf(pipeline, authorize(deps)))
