/**
 * The end of a token by its deadline: it is removed with its entry in the audit log, from which
 * events come and a restore learns what has ended.
 *
 * The sweep does so for all. A token whose id or seat is wanted before it came goes at once.
 * @module
 */
import type { AuditEntry } from '../audit/entry.ts'
import type { Deps } from '../deps.ts'
import { attempt } from '../lib/errors.ts'
import { removalOf } from '../records/read-row.ts'
import type { Digest, Glimpse } from '../store/contract.ts'
import { unsealToken, verdictParts } from './token-record.ts'

export const expiryEntryOf = (atMs: number, tenantId: string, id: string): AuditEntry => ({
  atMs,
  tenantId,
  actorType: 'vault',
  operation: 'tokenExpired',
  entityType: 'token',
  entityIds: [id],
  result: 200,
})

/**
 * Frees a unique that an expired token holds; if it has changed meanwhile, nothing happens.
 * @param holder as it was glanced at by that unique
 * @throws ApiError `storage_full`, `unavailable`
 */
export async function removeExpired(
  { store, keys, now, audit }: Pick<Deps, 'store' | 'keys' | 'now' | 'audit'>,
  tenantId: string,
  unique: Digest,
  holder: Glimpse,
): Promise<void> {
  const whole = holder.parts.length >= verdictParts ? holder : await store.find(unique)
  // A damaged one has no id that could be told.
  const token = whole && attempt(() => unsealToken(keys, tenantId, whole))
  const entry = token && expiryEntryOf(now(), tenantId, token.record.id)
  await store.write([removalOf(holder), ...(entry === undefined ? [] : [audit.changeOf(entry)])])
}
