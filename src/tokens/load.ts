/**
 * Finding one token for one caller.
 *
 * A token that the caller's rules do not cover answers exactly as an absent one
 * (contract section 2).
 * @module
 */
import type { Deps } from '../deps.ts'
import { decideTransform, type Transform } from '../domain/access.ts'
import type { Caller } from '../domain/caller.ts'
import type { TokenPermission } from '../domain/permissions.ts'
import { ApiError } from '../errors.ts'
import { isExpired, openToken, tokenUnique, type StoredToken } from './record.ts'

export interface LoadedToken extends StoredToken {
  /** Of the rule or plain permission that covers the token. */
  readonly transform: Transform
}

export const absentToken = () => new ApiError('not_found', 'There is no such token.')

/** @throws ApiError `not_found` when it is absent, expired, or not covered for that permission */
export async function loadToken(
  deps: Deps,
  caller: Caller,
  permission: TokenPermission,
  id: string,
): Promise<LoadedToken> {
  const row = await deps.store.find(tokenUnique(deps.keys, caller.tenantId, id))
  if (row === undefined || isExpired(row, deps.now())) throw absentToken()
  const token = openToken(deps.keys, caller.tenantId, row)
  const transform = decideTransform(caller.grants, permission, token.record)
  if (transform === undefined) throw absentToken()
  return { ...token, transform }
}
