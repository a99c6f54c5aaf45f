/**
 * Operations on the keys of an application. Source: contract section 15.
 *
 * @module
 */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { hooks } from '../gate/hooks.ts'
import { operation, type Call, type Reply } from '../gate/operation.ts'
import type { Pipeline } from '../gate/pipeline.ts'
import {
  createKeyExamples,
  createKeySchema,
  keyExamples,
  keyListExamples,
  keySchema,
  listKeysQuery,
  newKeyExamples,
  printKey,
} from './key-schema.ts'
import { createKey, deleteKey, getKey, listKeys, type NewKey } from './key-service.ts'
import { idsOf } from './routes.ts'

async function list(deps: Deps, { caller, query }: Call, id: string): Promise<Reply> {
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

const listAll = () =>
  operation({
    name: 'listApplicationKeys',
    summary: 'List the live keys of an application, newest first',
    permission: 'key:read',
    query: listKeysQuery,
    success: { status: 200, schema: Type.Array(keySchema), examples: keyListExamples },
    failures: [400, 401, 403, 404],
  })

const create = () =>
  operation({
    name: 'createApplicationKey',
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
  })

const get = () =>
  operation({
    name: 'getApplicationKey',
    summary: 'Get a live key of an application, without the key itself',
    permission: 'key:read',
    success: { status: 200, schema: keySchema, examples: keyExamples },
    failures: [401, 403, 404],
  })

const remove = () =>
  operation({
    name: 'deleteApplicationKey',
    summary: 'Revoke a key of an application; it is dead at once',
    permission: 'key:rotate',
    success: { status: 204 },
    failures: [401, 403, 404, 409],
  })

export const applicationKeyRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia()
    .use(hooks(pipeline))
    .get(
      '/applications/:id/keys',
      ({ params: { id }, perform }) => perform(call => list(deps, call, id)),
      listAll(),
    )
    .post(
      '/applications/:id/keys',
      ({ params: { id }, body, perform }) =>
        perform(async ({ caller }) =>
          made(await createKey(deps, caller, id, body?.expires_at ?? undefined)),
        ),
      create(),
    )
    .get(
      '/applications/:id/keys/:keyId',
      ({ params: { id, keyId }, perform }) =>
        perform(async ({ caller }) => ({
          status: 200,
          json: printKey(await getKey(deps, caller, id, keyId)),
        })),
      get(),
    )
    .delete(
      '/applications/:id/keys/:keyId',
      ({ params: { id, keyId }, perform }) =>
        perform(async ({ caller }) => {
          await deleteKey(deps, caller, id, keyId)
          return { status: 204 }
        }),
      remove(),
    )
