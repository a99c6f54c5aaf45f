/**
 * Operations on tokens. Source: spec, "Tokens"; contract section 3.
 *
 * @module
 */
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { flagOf, operation, type OperationCall, type Reply } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { routeOf } from '../http/routes.ts'
import { noteShown, reserveText, type Budgeted } from '../records/budgeted.ts'
import type { Past } from '../records/write-rows.ts'
import { andThen, type MaybeLater } from '../lib/waiting.ts'
import type { CreateAnswer } from './write/create-answer.ts'
import { createToken } from './write/create.ts'
import {
  changedTokenExamples,
  createTokenExamples,
  newTokenExamples,
  tokenExamples,
  updateTokenExamples,
} from './token-examples.ts'
import { shownTransform } from '../rules/access.ts'
import { lesserTransformOf } from './find/filters.ts'
import { spendRepeat } from './find/guesses.ts'
import { loadToken } from './read/load.ts'
import { explainAccess } from './access/print-explanation.ts'
import {
  createTokenSchema,
  getTokenQuery,
  opaqueMembers,
  tokenSchema,
  updateTokenSchema,
} from './schema.ts'
import { recreateAnswer, reupdateAnswer, type KeptItem } from './write/replay.ts'
import { removeToken, updateToken } from './write/update.ts'
import { isMaskEvaluated, standingExtras, viewStored } from './read/view.ts'

const newToken = {
  contentType: 'application/json',
  schema: createTokenSchema,
  examples: createTokenExamples,
  opaque: opaqueMembers,
} as const

const tokenPatch = {
  contentType: 'application/merge-patch+json',
  schema: updateTokenSchema,
  examples: updateTokenExamples,
  opaque: opaqueMembers,
} as const

function created(caller: Budgeted, { id, json, transform }: CreateAnswer): Reply {
  noteShown(caller, id, transform)
  return { status: 201, json, madeId: id }
}

async function recreate(deps: Deps, { caller }: OperationCall, done: Past): Promise<Reply> {
  const [item] = done.effect as unknown as readonly [KeptItem]
  const past = { effect: item, ordinal: done.ordinal }
  return created(caller, await recreateAnswer(deps, caller, past))
}

function read(deps: Deps, { caller, query }: OperationCall, id: string): MaybeLater<Reply> {
  const isExplained = query.size > 0 && flagOf(query, 'explain')
  const asked = query.size > 0 ? lesserTransformOf(query) : undefined
  return andThen(loadToken(deps, caller, 'token:read', id), token => {
    const { grants, tenantId } = caller
    const standing = standingExtras(grants, token.record, deps.now)
    const why = () => JSON.stringify(explainAccess(grants, { operation: 'getToken' }, token.record))
    const extras = isExplained ? { ...standing, access: why() } : standing
    const transform = shownTransform(token.transform, asked)
    const isMasked = transform === 'mask' && isMaskEvaluated(token.record)
    const turn = isMasked ? deps.turns.soon(caller) : undefined
    return andThen(turn, () => {
      const json = viewStored(tenantId, token, transform, extras)
      reserveText(caller, json)
      noteShown(caller, id, transform)
      return { status: 200, json }
    })
  })
}

const changed = (json: string): Reply => ({ status: 200, json })

const create = (deps: Deps) =>
  operation({
    name: 'createToken',
    method: 'POST',
    path: '/tokens',
    summary: 'Create a token',
    permission: 'token:create',
    about: 'token',
    body: newToken,
    success: { status: 201, schema: tokenSchema, examples: newTokenExamples, hasLocation: true },
    failures: [400, 401, 403, 404, 409, 413, 415],
    run: async ({ caller }, body) => created(caller, await createToken(deps, caller, body)),
    replay: (call, done) => recreate(deps, call, done),
    chargeRepeat: (caller, count) => spendRepeat(deps, caller, count),
  })

const get = (deps: Deps) =>
  operation({
    name: 'getToken',
    method: 'GET',
    path: '/tokens/:id',
    summary: 'Get a token',
    permission: 'token:read',
    about: 'token',
    query: getTokenQuery,
    success: { status: 200, schema: tokenSchema, examples: tokenExamples },
    failures: [400, 401, 403, 404],
    run: call => read(deps, call, call.params.id),
  })

const update = (deps: Deps) =>
  operation({
    name: 'updateToken',
    method: 'PATCH',
    path: '/tokens/:id',
    summary: 'Update a token by merge patch',
    permission: 'token:update',
    about: 'token',
    body: tokenPatch,
    success: { status: 200, schema: tokenSchema, examples: changedTokenExamples },
    failures: [400, 401, 403, 404, 409, 413, 415],
    run: async ({ caller, params }, body) =>
      changed(await updateToken(deps, caller, params.id, body)),
    replay: async ({ caller }, done) =>
      changed(await reupdateAnswer(deps, caller, done as Past<string>)),
    chargeRepeat: (caller, count) => spendRepeat(deps, caller, count),
  })

const remove = (deps: Deps) =>
  operation({
    name: 'deleteToken',
    method: 'DELETE',
    path: '/tokens/:id',
    summary: 'Delete a token',
    permission: 'token:delete',
    about: 'token',
    success: { status: 204 },
    failures: [401, 403, 404],
    async run({ caller, params }) {
      await removeToken(deps, caller, params.id)
      return { status: 204 }
    },
  })

/** One token: create, get, update, delete. */
export const tokenRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia()
    .route(...routeOf(pipeline, create(deps)))
    .route(...routeOf(pipeline, get(deps)))
    .route(...routeOf(pipeline, update(deps)))
    .route(...routeOf(pipeline, remove(deps)))
