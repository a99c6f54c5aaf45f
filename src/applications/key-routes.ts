/**
 * Keys of an application: their wire shapes, and the operations on them.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { printInstantUtc } from '../rules/instants.ts'
import { expiryTextCharsMax, idFilterMax } from '../limits/limits.ts'
import {
  type ShownKey,
  createKey,
  deleteKey,
  getKey,
  listKeys,
  type NewKey,
} from './key-service.ts'
import { apiKeyPattern } from './api-keys.ts'
import { closed } from '../lib/schemas.ts'
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { operation, type OperationCall, type Reply } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { routeOf } from '../http/routes.ts'
import { idsOf } from './routes.ts'

/*
 * Wire shapes of the keys of an application. Source: contract section 15.
 *
 * The names are those of published clients (`applicationKeys`), with the expiry and the day of the
 * last use added.
 */

const createKeySchema = Type.Object(
  {
    expires_at: Type.Optional(
      Type.Union([
        Type.String({
          maxLength: expiryTextCharsMax,
          description: 'From then on the key is refused.',
        }),
        Type.Null(),
      ]),
    ),
  },
  { title: 'CreateApplicationKeyRequest' },
)

const keySchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    key: Type.Optional(
      Type.String({ pattern: apiKeyPattern, description: 'Only when it was just made.' }),
    ),
    version: Type.String({
      pattern: '^[1-9][0-9]*$',
      description: 'Counts the keys of its application.',
    }),
    created_by: Type.Optional(Type.String({ format: 'uuid' })),
    created_at: Type.Optional(Type.String({ format: 'date-time' })),
    expires_at: Type.Optional(Type.String({ format: 'date-time' })),
    last_used_on: Type.Optional(
      Type.String({ format: 'date', description: 'In UTC; written a little after the use.' }),
    ),
  },
  { title: 'ApplicationKey' },
)

const listKeysQuery = Type.Object(
  {
    id: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: idFilterMax,
        description: 'Ids of keys.',
        examples: [['4b2f8f0a-6a0e-4c55-9d5c-0a4b8f0c7e21']],
      }),
    ),
    type: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Taken, since published clients send it; all keys are of one type.',
        examples: [['any']],
      }),
    ),
  },
  closed,
)

const example = {
  id: '4b2f8f0a-6a0e-4c55-9d5c-0a4b8f0c7e21',
  version: '2',
  created_by: '1b6f6b9a-3f5e-4e0b-9a53-2f0c1a7a9d10',
  created_at: '2026-03-01T08:20:00.000+00:00',
  expires_at: '2036-01-01T00:00:00.000+00:00',
}

const keyExamples = { used: { ...example, last_used_on: '2026-03-04' } }
const keyListExamples = { one: [keyExamples.used] }
const newKeyExamples = { made: { ...example, key: 'key_3wVZ9mFqTnL5hYpKcR8sXb' } }
const createKeyExamples = { lasting: {}, expiring: { expires_at: '1/1/2036' } }

/** Returns the JSON text of a key; `secret` only right after it was made. */
const printKey = ({ id, key }: ShownKey, secret?: string): string =>
  JSON.stringify({
    id,
    key: secret,
    version: String(key.number + 1),
    created_by: key.createdBy,
    created_at: printInstantUtc(key.createdAtMs),
    expires_at: key.expiresAt?.text,
    last_used_on: key.lastUsedOn,
  })

/*
 * Operations on the keys of an application. Source: contract section 15.
 */

async function list(deps: Deps, { caller, query }: OperationCall, id: string): Promise<Reply> {
  const ids = idsOf(query).map(each => each.toLowerCase())
  const keys = await listKeys(deps, caller, id)
  const asked = keys.filter(key => ids.length === 0 || ids.includes(key.id))
  return { status: 200, json: `[${asked.map(key => printKey(key)).join(',')}]` }
}

const made = (key: NewKey): Reply => ({
  status: 201,
  json: printKey(key, key.secret.reveal()),
  madeId: key.id,
})

const listAll = (deps: Deps) =>
  operation({
    name: 'listApplicationKeys',
    method: 'GET',
    path: '/applications/:id/keys',
    about: 'object',
    summary: 'List the live keys of an application, newest first',
    permission: 'key:read',
    query: listKeysQuery,
    success: { status: 200, schema: Type.Array(keySchema), examples: keyListExamples },
    failures: [400, 401, 403, 404],
    run: call => list(deps, call, call.params.id),
  })

const create = (deps: Deps) =>
  operation({
    name: 'createApplicationKey',
    method: 'POST',
    path: '/applications/:id/keys',
    about: 'object',
    summary: 'Make one more key of an application; the answer holds it, once',
    permission: 'key:rotate',
    body: {
      contentType: 'application/json',
      schema: createKeySchema,
      opaque: new Set<string>(),
      examples: createKeyExamples,
      isOptional: true,
    },
    success: { status: 201, schema: keySchema, examples: newKeyExamples, hasLocation: true },
    failures: [400, 401, 403, 404, 409, 413, 415],
    run: async ({ caller, params }, body) =>
      made(await createKey(deps, caller, params.id, body?.expires_at ?? undefined)),
  })

const get = (deps: Deps) =>
  operation({
    name: 'getApplicationKey',
    method: 'GET',
    path: '/applications/:id/keys/:keyId',
    about: 'object',
    summary: 'Get a live key of an application, without the key itself',
    permission: 'key:read',
    success: { status: 200, schema: keySchema, examples: keyExamples },
    failures: [401, 403, 404],
    run: async ({ caller, params: { id, keyId } }) => ({
      status: 200,
      json: printKey(await getKey(deps, caller, id, keyId)),
    }),
  })

const remove = (deps: Deps) =>
  operation({
    name: 'deleteApplicationKey',
    method: 'DELETE',
    path: '/applications/:id/keys/:keyId',
    about: 'object',
    summary: 'Revoke a key of an application; it is dead at once',
    permission: 'key:rotate',
    success: { status: 204 },
    failures: [401, 403, 404, 409],
    async run({ caller, params: { id, keyId } }) {
      await deleteKey(deps, caller, id, keyId)
      return { status: 204 }
    },
  })

export const applicationKeyRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia()
    .route(...routeOf(pipeline, listAll(deps)))
    .route(...routeOf(pipeline, create(deps)))
    .route(...routeOf(pipeline, get(deps)))
    .route(...routeOf(pipeline, remove(deps)))
