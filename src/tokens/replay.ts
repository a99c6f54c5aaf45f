/**
 * Answering again for tokens that were made before, by what stands of them now.
 *
 * Of each only its id is kept, and whether it stood for an equal one. Whoever asks sees it as the
 * answer of a create under its present grants; a token that was deleted, has expired, is covered no
 * more, or took the id of one that is gone, is absent. Source: contract section 1.
 * @module
 */
import type { Deps } from '../deps.ts'
import { atMostMask, decideTransform } from '../domain/access.ts'
import type { Caller } from '../domain/caller.ts'
import type { Effect } from '../records/write.ts'
import { spendUpdate } from './guesses.ts'
import { showEqual, type Answer } from './batch.ts'
import { absentToken, loadToken, type LoadedToken } from './load.ts'
import { reachOf } from './reach.ts'
import { frameOf } from './update.ts'
import { viewStored } from './view.ts'
import { openWork, type Work } from './work.ts'

/** One token of what was done, as it is kept. */
export interface KeptItem {
  readonly id: string
  readonly deduplicated?: boolean
}

export const itemOf = (answer: Answer | undefined): Effect =>
  answer === undefined
    ? null
    : {
        id: answer.id,
        ...(answer.deduplicated === undefined ? {} : { deduplicated: answer.deduplicated }),
      }

/** What was done, and the ordinal below which every token of it stands. */
export interface Past<T> {
  readonly effect: T
  readonly ordinal: number
}

/** @throws ApiError `not_found`, also for a later token of the same id */
async function loadPast(
  deps: Deps,
  caller: Caller,
  permission: 'token:create' | 'token:update',
  { effect: id, ordinal }: Past<string>,
): Promise<LoadedToken> {
  const token = await loadToken(deps, caller, permission, id)
  if (token.row.ordinal > ordinal) throw absentToken()
  return token
}

/** @throws ApiError `not_found` */
export async function recreateAnswer(
  deps: Deps,
  caller: Caller,
  { effect: { id, deduplicated }, ordinal }: Past<KeptItem>,
  { meter }: Work = openWork(deps, caller),
): Promise<Answer> {
  const token = await loadPast(deps, caller, 'token:create', { effect: id, ordinal })
  const { tenantId } = caller
  if (deduplicated === true) {
    return showEqual(caller, token.record, (transform, frame) =>
      viewStored(tenantId, token, transform, frame, meter),
    )
  }
  const frame = deduplicated === undefined ? {} : { deduplicated }
  // What others have made of it since is for who may read it.
  const isChanged = token.row.version > 1
  if (isChanged && decideTransform(caller.grants, 'token:read', token.record) === undefined) {
    return { id, json: JSON.stringify({ id, type: token.record.type }), ...frame }
  }
  const json = viewStored(tenantId, token, atMostMask(token.transform), frame, meter)
  return { id, json, ...frame }
}

/**
 * @returns the JSON text of a token that was changed before, as its update answers
 * @throws ApiError `not_found`
 */
export async function reupdateAnswer(
  deps: Deps,
  caller: Caller,
  past: Past<string>,
): Promise<string> {
  const token = await loadPast(deps, caller, 'token:update', past)
  spendUpdate(deps, caller, token.record)
  const frame = await frameOf(deps, caller, reachOf(deps, caller), token.record)
  return viewStored(caller.tenantId, token, atMostMask(token.transform), frame)
}
