/**
 * Operations on the keys of an application as data. Source: contract section 15.
 *
 * @module
 */
import { Type } from '@sinclair/typebox'
import type { Deps } from '../deps.ts'
import { invariant } from '../errors.ts'
import type { Call, Reply, Route } from '../http/route.ts'
import {
  createKeyExamples,
  createKeySchema,
  keyExamples,
  keyListExamples,
  keySchema,
  listKeysQuery,
  newKeyExamples,
  printKey,
  type CreateKeyBody,
} from './key-model.ts'
import { createKey, deleteKey, getKey, listKeys } from './key-service.ts'
import { idsOf } from './routes.ts'

const path = '/applications/:id/keys'

function parameter({ params }: Call, name: 'id' | 'keyId'): string {
  const value = params[name]
  invariant(value !== undefined, 'the path of this route has its parameters')
  return value
}

async function list(deps: Deps, call: Call): Promise<Reply> {
  const ids = idsOf(call.query).map(id => id.toLowerCase())
  const keys = await listKeys(deps, call.caller, parameter(call, 'id'))
  const asked = keys.filter(({ id }) => ids.length === 0 || ids.includes(id))
  return { status: 200, json: `[${asked.map(key => printKey(key)).join(',')}]` }
}

async function create(deps: Deps, call: Call): Promise<Reply> {
  const body = call.body as CreateKeyBody | undefined
  const id = parameter(call, 'id')
  const made = await createKey(deps, call.caller, id, body?.expires_at ?? undefined)
  const location = `/applications/${encodeURIComponent(id)}/keys/${made.id}`
  return { status: 201, json: printKey(made, made.secret.reveal()), location }
}

export const applicationKeyRoutes = (deps: Deps): readonly Route[] => [
  {
    name: 'listApplicationKeys',
    method: 'GET',
    path,
    summary: 'List the live keys of an application, newest first',
    permission: 'key:read',
    query: listKeysQuery,
    success: { status: 200, schema: Type.Array(keySchema), examples: keyListExamples },
    failures: [400, 401, 403, 404],
    handle: call => list(deps, call),
  },
  {
    name: 'createApplicationKey',
    method: 'POST',
    path,
    summary: 'Make one more key of an application; the answer holds it, once',
    permission: 'key:rotate',
    body: {
      contentType: 'application/json',
      schema: createKeySchema,
      opaque: new Set(),
      examples: createKeyExamples,
      isOptional: true,
    },
    success: { status: 201, schema: keySchema, examples: newKeyExamples, hasLocation: true },
    failures: [400, 401, 403, 404, 409, 413, 415],
    handle: call => create(deps, call),
  },
  {
    name: 'getApplicationKey',
    method: 'GET',
    path: `${path}/:keyId`,
    summary: 'Get a live key of an application, without the key itself',
    permission: 'key:read',
    success: { status: 200, schema: keySchema, examples: keyExamples },
    failures: [401, 403, 404],
    handle: async call => {
      const key = await getKey(deps, call.caller, parameter(call, 'id'), parameter(call, 'keyId'))
      return { status: 200, json: printKey(key) }
    },
  },
  {
    name: 'deleteApplicationKey',
    method: 'DELETE',
    path: `${path}/:keyId`,
    summary: 'Revoke a key of an application; it is dead at once',
    permission: 'key:rotate',
    success: { status: 204 },
    failures: [401, 403, 404, 409],
    handle: async call => {
      await deleteKey(deps, call.caller, parameter(call, 'id'), parameter(call, 'keyId'))
      return { status: 204 }
    },
  },
]
