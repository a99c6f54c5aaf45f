/**
 * Deduplication: which token stands for another one of equal content.
 *
 * Tokens are equal by type and fingerprint (a fingerprint is taken of both). Whoever deduplicates
 * looks for an equal token by its term, so tokens of any origin count. What decides a race is a
 * unique: every token with deduplication on holds it, unless another live one does, and then it is
 * written only while that one stands. So no two creates ever miss each other.
 * Source: contract section 8.
 * @module
 */
import { uniqueDigest } from '../crypto/digest.ts'
import type { Keys } from '../crypto/scope.ts'
import type { Deps } from '../deps.ts'
import { isExpired } from '../records/deadline.ts'
import type { Change, Query } from '../store/contract.ts'
import { openToken, tokenTerms, tokenUnique, type StoredToken } from './record.ts'
import type { TokenRecord } from './stored-form.ts'

type Contents = Pick<TokenRecord, 'type' | 'fingerprint'>

export const dedupUnique = (keys: Keys, tenantId: string, { type, fingerprint }: Contents) =>
  uniqueDigest(keys.tenant(tenantId), 'token-dedup', type, fingerprint)

/**
 * The live token of equal content; of several the oldest, so that later ones change no answer.
 * @param exceptId a token that is not to be found: the one that looks for its like
 */
export async function findEqual(
  deps: Deps,
  tenantId: string,
  contents: Contents,
  exceptId?: string,
): Promise<StoredToken | undefined> {
  const { keys, store } = deps
  const equal: Query = { term: tokenTerms(keys, tenantId).fingerprint(contents.fingerprint) }
  const query: Query =
    exceptId === undefined
      ? equal
      : { from: equal, except: { unique: tokenUnique(keys, tenantId, exceptId) } }
  const window = { offset: 0, limit: 1, nowMs: deps.now() }
  const { rows, total } = await store.page(query, window)
  const older = total > 1 ? (await store.page(query, { ...window, offset: total - 1 })).rows : rows
  // The oldest may have left between the two looks; then the newest serves.
  const row = older[0] ?? rows[0]
  return row === undefined ? undefined : openToken(keys, tenantId, row)
}

/** How a changed token holds the unique: with what digests it is sealed, with what written. */
export interface Holding {
  readonly uniques: readonly Uint8Array[]
  readonly changes: readonly Change[]
}

/** @param ordinal of the token that is changed */
export async function decideHolding(
  deps: Deps,
  tenantId: string,
  record: TokenRecord,
  ordinal: number,
): Promise<Holding> {
  if (record.deduplicates !== true) return { uniques: [], changes: [] }
  const unique = dedupUnique(deps.keys, tenantId, record)
  const holder = await deps.store.find(unique)
  if (holder === undefined || holder.ordinal === ordinal) return { uniques: [unique], changes: [] }
  const { version: ifVersion } = holder
  return isExpired(holder, deps.settled())
    ? { uniques: [unique], changes: [{ remove: holder.ordinal, ifVersion }] }
    : { uniques: [], changes: [{ require: holder.ordinal, ifVersion }] }
}
