/**
 * Operations on sessions. Source: spec, "Sessions"; contract sections 3 and 12.
 *
 * @module
 */
import { Elysia } from 'elysia'
import { printInstantUtc } from '../rules/instants.ts'
import { invalid } from '../lib/errors.ts'
import { operation, type OperationCall, type Reply } from '../http/operation.ts'
import { type Pipeline, hooks } from '../http/pipeline.ts'
import { printStretch, readPageRequest } from '../http/request.ts'
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
  if (query.has('page')) throw invalid('query.page', 'expected start: sessions are walked')
  const { size } = readPageRequest(query)
  const start = query.get('start')?.[0] ?? ''
  const { items, next } = await listSessions(deps, caller, { start, at: 'query.start', size })
  return { status: 200, json: printStretch(size, next, items) }
}

const listAll = () =>
  operation({
    name: 'listSessions',
    readsPages: true,
    summary: 'List sessions, newest first, as a walk',
    permission: 'session:read',
    query: listSessionsQuery,
    success: { status: 200, schema: sessionListSchema, examples: sessionListExamples },
    failures: [400, 401, 403],
  })

const end = () =>
  operation({
    name: 'deleteSession',
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
  })

/** Reads no body, even if one is sent (contract section 1). */
const open = () =>
  operation({
    name: 'createSession',
    about: 'object',
    summary: 'Create a session; the answer holds its key and its nonce, once',
    permission: undefined,
    callers: ['public'],
    success: { status: 201, schema: newSessionSchema, examples: newSessionExamples },
    failures: [401, 403],
  })

const authorize = () =>
  operation({
    name: 'authorizeSession',
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
  })

export const sessionRoutes = (deps: SessionDeps, pipeline: Pipeline) =>
  new Elysia()
    .use(hooks(pipeline))
    .get('/sessions', ({ perform }) => perform(call => list(deps, call)), listAll())
    .delete(
      '/sessions/:id',
      ({ params: { id }, perform }) =>
        perform(async ({ caller }) => {
          await endSession(deps, caller, id)
          return { status: 204 }
        }),
      end(),
    )
    .post('/sessions', ({ perform }) => perform(call => create(deps, call)), open())
    .post(
      '/sessions/authorize',
      ({ body, perform }) =>
        perform(
          async ({ caller }) => ({
            status: 200,
            aboutId: await authorizeSession(deps, caller, body),
          }),
          async () => ({ status: 200 }),
        ),
      authorize(),
    )
