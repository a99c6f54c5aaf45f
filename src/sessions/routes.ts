/**
 * Operations on sessions as data. Source: spec, "Sessions"; contract sections 3 and 12.
 *
 * @module
 */
import { printInstantUtc } from '../domain/instants.ts'
import type { Call, Reply, Route } from '../http/route.ts'
import type { SessionDeps } from './deps.ts'
import { authorizeSessionExamples, newSessionExamples } from './examples.ts'
import { authorizeSessionSchema, newSessionSchema, type AuthorizeSessionBody } from './model.ts'
import { authorizeSession, createSession } from './service.ts'

async function create(deps: SessionDeps, { caller }: Call): Promise<Reply> {
  const { key, nonce, expiresAtMs } = await createSession(deps, caller)
  const shown = {
    session_key: key.reveal(),
    nonce: nonce.reveal(),
    expires_at: printInstantUtc(expiresAtMs),
  }
  return { status: 201, json: JSON.stringify(shown) }
}

/** Both operations of the spec. Creating reads no body, whatever comes (contract section 1). */
export const sessionRoutes = (deps: SessionDeps): readonly Route[] => [
  {
    name: 'createSession',
    method: 'POST',
    path: '/sessions',
    summary: 'Create a session; the answer holds its key and its nonce, once',
    permission: undefined,
    callers: ['public'],
    success: { status: 201, schema: newSessionSchema, examples: newSessionExamples },
    failures: [401, 403],
    handle: call => create(deps, call),
  },
  {
    name: 'authorizeSession',
    method: 'POST',
    path: '/sessions/authorize',
    summary: 'Give a session its permissions and rules',
    permission: undefined,
    callers: ['private'],
    body: {
      contentType: 'application/json',
      schema: authorizeSessionSchema,
      examples: authorizeSessionExamples,
      opaque: new Set(),
    },
    success: { status: 200 },
    failures: [400, 401, 403, 404, 409, 413, 415],
    handle: async ({ caller, body }) => {
      await authorizeSession(deps, caller, body as AuthorizeSessionBody)
      return { status: 200 }
    },
    replay: async () => ({ status: 200 }),
  },
]
