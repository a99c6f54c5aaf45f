/**
 * Operations on tokens as data. Source: spec, "Tokens"; contract section 3.
 *
 * @module
 */
import type { Deps } from '../deps.ts'
import type { BodyRule, Call, Repetition, Reply, Route } from '../http/route.ts'
import type { Answer } from './batch.ts'
import { createToken } from './create.ts'
import {
  changedTokenExamples,
  createTokenExamples,
  newTokenExamples,
  tokenExamples,
  updateTokenExamples,
} from './examples.ts'
import { listRoutes } from './list-routes.ts'
import { loadToken } from './load.ts'
import {
  createTokenSchema,
  opaqueMembers,
  tokenSchema,
  updateTokenSchema,
  type CreateTokenBody,
  type TokenChanges,
} from './model.ts'
import { recreateAnswer, reupdateAnswer, type KeptItem, type Past } from './replay.ts'
import { removeToken } from './remove.ts'
import { updateToken } from './update.ts'
import { standingFrame, viewStored } from './view.ts'

const newToken: BodyRule = {
  contentType: 'application/json',
  schema: createTokenSchema,
  examples: createTokenExamples,
  opaque: opaqueMembers,
}

const tokenPatch: BodyRule = {
  contentType: 'application/merge-patch+json',
  schema: updateTokenSchema,
  examples: updateTokenExamples,
  opaque: opaqueMembers,
}

const idOf = (call: Call): string => call.params['id'] ?? ''

const created = ({ id, json }: Answer): Reply => ({
  status: 201,
  json,
  location: `/tokens/${encodeURIComponent(id)}`,
})

const create = async (deps: Deps, { caller, body }: Call): Promise<Reply> =>
  created(await createToken(deps, caller, body as CreateTokenBody))

async function recreate(deps: Deps, { caller, done }: Repetition): Promise<Reply> {
  const [item] = done.effect as unknown as readonly [KeptItem]
  return created(await recreateAnswer(deps, caller, { effect: item, ordinal: done.ordinal }))
}

async function read(deps: Deps, call: Call): Promise<Reply> {
  const { caller } = call
  const token = await loadToken(deps, caller, 'token:read', idOf(call))
  const { grants, tenantId } = caller
  const json = viewStored(tenantId, token, token.transform, standingFrame(grants, token.record))
  caller.room?.needs(json.length)
  return { status: 200, json }
}

async function update(deps: Deps, call: Call): Promise<Reply> {
  const json = await updateToken(deps, call.caller, idOf(call), call.body as TokenChanges)
  return { status: 200, json }
}

const reupdate = async (deps: Deps, { caller, done }: Repetition): Promise<Reply> => ({
  status: 200,
  json: await reupdateAnswer(deps, caller, done as Past<string>),
})

const readRoutes = (deps: Deps): readonly Route[] => [
  ...listRoutes(deps),
  {
    name: 'getToken',
    method: 'GET',
    path: '/tokens/:id',
    summary: 'Get a token',
    permission: 'token:read',
    success: { status: 200, schema: tokenSchema, examples: tokenExamples },
    failures: [401, 403, 404],
    handle: call => read(deps, call),
  },
]

/** The five operations of the spec. */
export const tokenRoutes = (deps: Deps): readonly Route[] => [
  {
    name: 'createToken',
    method: 'POST',
    path: '/tokens',
    summary: 'Create a token',
    permission: 'token:create',
    body: newToken,
    success: { status: 201, schema: tokenSchema, examples: newTokenExamples, hasLocation: true },
    failures: [400, 401, 403, 404, 409, 413, 415],
    handle: call => create(deps, call),
    replay: repetition => recreate(deps, repetition),
  },
  ...readRoutes(deps),
  {
    name: 'updateToken',
    method: 'PATCH',
    path: '/tokens/:id',
    summary: 'Update a token by merge patch',
    permission: 'token:update',
    body: tokenPatch,
    success: { status: 200, schema: tokenSchema, examples: changedTokenExamples },
    failures: [400, 401, 403, 404, 409, 413, 415],
    handle: call => update(deps, call),
    replay: repetition => reupdate(deps, repetition),
  },
  {
    name: 'deleteToken',
    method: 'DELETE',
    path: '/tokens/:id',
    summary: 'Delete a token',
    permission: 'token:delete',
    success: { status: 204 },
    failures: [401, 403, 404],
    handle: async call => {
      await removeToken(deps, call.caller, idOf(call))
      return { status: 204 }
    },
  },
]
