/**
 * Finding one token for one caller.
 *
 * A token that the caller's rules do not cover answers exactly as an absent one, and both cost the
 * same work: the verdict comes last (contract section 2).
 * @module
 */
import type { Deps } from '../../deps.ts'
import { decideTransform, type Transform } from '../../rules/access.ts'
import type { Caller } from '../../rules/caller.ts'
import type { TokenPermission } from '../../rules/permissions.ts'
import { ApiError } from '../../errors.ts'
import { isExpired } from '../../records/deadline.ts'
import { makeRoom, type Housed } from '../../records/room.ts'
import { openToken, tokenUnique, type StoredToken } from '../record/record.ts'
import { standInOf } from './stand-in.ts'

export interface LoadedToken extends StoredToken {
  /** Of the rule or plain permission that covers the token. */
  readonly transform: Transform
}

export const absentToken = () => new ApiError('not_found', 'There is no such token.')

/**
 * @throws ApiError `not_found` when it is absent, expired, or not covered for that permission;
 *   `overloaded` where its data would take more room than there is
 */
export async function loadToken(
  deps: Deps,
  caller: Caller & Housed,
  permission: TokenPermission,
  id: string,
): Promise<LoadedToken> {
  const { keys, store } = deps
  const { tenantId } = caller
  const nowMs = deps.now()
  const found = await store.find(tokenUnique(keys, tenantId, id))
  const isThere = found !== undefined && !isExpired(found, nowMs)
  const token = openToken(keys, tenantId, isThere ? found : standInOf(deps, tenantId))
  const transform = decideTransform(caller.grants, permission, token.record)
  if (!isThere || transform === undefined) throw absentToken()
  makeRoom(caller, [token.row])
  return { ...token, transform }
}
