/**
 * Entries of the audit log for tokens that have expired, each with its removal.
 * @module
 */
import type { Deps } from '../deps.ts'
import { attempt } from '../lib/errors.ts'
import { tenantsMax } from '../limits/operation-limits.ts'
import type { Change, Row } from '../store/contract.ts'
import { listTenants } from '../tenants/tenant-record.ts'
import { expiryEntryOf } from '../tokens/expired-token.ts'
import { unsealToken } from '../tokens/token-record.ts'

/** Head, record and data: no other kind of row that expires has as many parts. */
const partsOfToken = 3

/** Returns the changes that enter the removal of a row: none if it is no token. */
export type EntriesOfRow = (row: Row) => Promise<readonly Change[]>

/** A row does not say whose it is, so each tenant is tried, first the one of the row before. */
export function makeExpiryEntries(
  deps: Pick<Deps, 'store' | 'keys' | 'now' | 'audit'>,
): EntriesOfRow {
  const { store, keys, now, audit } = deps
  let tenants: readonly string[] = []
  const open = (row: Row) => {
    for (const tenantId of tenants) {
      const token = attempt(() => unsealToken(keys, tenantId, row))
      if (token !== undefined) return { tenantId, id: token.record.id }
    }
    return undefined
  }
  return async row => {
    if (row.parts.length < partsOfToken) return []
    let found = open(row)
    if (found === undefined) {
      tenants = (await listTenants(store, keys, tenantsMax)).map(({ id }) => id)
      found = open(row)
    }
    if (found === undefined) return []
    const { tenantId, id } = found
    tenants = [tenantId, ...tenants.filter(other => other !== tenantId)]
    return [audit.changeOf(expiryEntryOf(now(), tenantId, id))]
  }
}
