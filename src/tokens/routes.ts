/**
 * Operations on tokens. Source: spec, "Tokens"; contract section 3.
 *
 * @module
 */
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { operation, type OperationCall, type Repetition, type Reply } from '../http/operation.ts'
import { type Pipeline, hooks } from '../http/pipeline.ts'
import { noteShown, type Budgeted } from '../records/budgeted.ts'
import { andThen, type MaybeLater } from '../lib/waiting.ts'
import type { CreateAnswer } from './write/decide-token.ts'
import { createToken } from './write/create.ts'
import {
  changedTokenExamples,
  createTokenExamples,
  newTokenExamples,
  tokenExamples,
  updateTokenExamples,
} from './token-examples.ts'
import { loadToken } from './read/load.ts'
import { createTokenSchema, opaqueMembers, tokenSchema, updateTokenSchema } from './schema.ts'
import { recreateAnswer, reupdateAnswer, type KeptItem, type Past } from './write/replay.ts'
import { removeToken, updateToken } from './write/update.ts'
import { standingFrame, viewStored } from './read/view.ts'

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
  noteShown(caller, transform)
  return { status: 201, json, madeId: id }
}

async function recreate(deps: Deps, { caller, done }: Repetition): Promise<Reply> {
  const [item] = done.effect as unknown as readonly [KeptItem]
  const past = { effect: item, ordinal: done.ordinal }
  return created(caller, await recreateAnswer(deps, caller, past))
}

const read = (deps: Deps, { caller }: OperationCall, id: string): MaybeLater<Reply> =>
  andThen(loadToken(deps, caller, 'token:read', id), token => {
    const { grants, tenantId } = caller
    const json = viewStored(
      tenantId,
      token,
      token.transform,
      standingFrame(grants, token.record, deps.now),
    )
    caller.room?.needs(json.length)
    noteShown(caller, token.transform)
    return { status: 200, json }
  })

const changed = (json: string): Reply => ({ status: 200, json })

const reupdate = async (deps: Deps, { caller, done }: Repetition): Promise<Reply> =>
  changed(await reupdateAnswer(deps, caller, done as Past<string>))

const create = () =>
  operation({
    name: 'createToken',
    summary: 'Create a token',
    permission: 'token:create',
    about: 'token',
    body: newToken,
    success: { status: 201, schema: tokenSchema, examples: newTokenExamples, hasLocation: true },
    failures: [400, 401, 403, 404, 409, 413, 415],
  })

const get = () =>
  operation({
    name: 'getToken',
    summary: 'Get a token',
    permission: 'token:read',
    about: 'token',
    success: { status: 200, schema: tokenSchema, examples: tokenExamples },
    failures: [401, 403, 404],
  })

const update = () =>
  operation({
    name: 'updateToken',
    summary: 'Update a token by merge patch',
    permission: 'token:update',
    about: 'token',
    body: tokenPatch,
    success: { status: 200, schema: tokenSchema, examples: changedTokenExamples },
    failures: [400, 401, 403, 404, 409, 413, 415],
  })

const remove = () =>
  operation({
    name: 'deleteToken',
    summary: 'Delete a token',
    permission: 'token:delete',
    about: 'token',
    success: { status: 204 },
    failures: [401, 403, 404],
  })

/** One token: create, get, update, delete. */
export const tokenRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia()
    .use(hooks(pipeline))
    .post(
      '/tokens',
      ({ body, perform }) =>
        perform(
          async ({ caller }) => created(caller, await createToken(deps, caller, body)),
          again => recreate(deps, again),
        ),
      create(),
    )
    .get(
      '/tokens/:id',
      ({ params: { id }, perform }) => perform(call => read(deps, call, id)),
      get(),
    )
    .patch(
      '/tokens/:id',
      ({ params: { id }, body, perform }) =>
        perform(
          async ({ caller }) => changed(await updateToken(deps, caller, id, body)),
          again => reupdate(deps, again),
        ),
      update(),
    )
    .delete(
      '/tokens/:id',
      ({ params: { id }, perform }) =>
        perform(async ({ caller }) => {
          await removeToken(deps, caller, id)
          return { status: 204 }
        }),
      remove(),
    )
