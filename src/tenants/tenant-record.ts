/**
 * The tenant record: how it is sealed and found.
 *
 * Tenants live in the installation's key scope, since a tenant's own keys are derived from its id.
 * @module
 */
import { termDigest, uniqueDigest, type Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import { jsonRecord } from '../records/json-record.ts'
import type { NewRow, Store } from '../store/contract.ts'

export interface TenantRecord {
  readonly id: string
  readonly name: string
  /** The application that was made with it. */
  readonly ownerId: string
  readonly createdAtMs: number
  readonly modifiedBy?: string
  readonly modifiedAtMs?: number
}

const { seal, open } = jsonRecord<TenantRecord>('tenant')

export const tenantUnique = (keys: Keys, id: string): Uint8Array =>
  uniqueDigest(keys.installation, 'tenant-id', id)

/** The term that the rows of all tenants share. */
const anyTenantTerm = (keys: Keys): Uint8Array => termDigest(keys.installation, 'tenant')

/** Seals the row of a tenant. @param version 1 for a new one, one more with each change */
export function sealTenant(
  deps: Pick<Deps, 'keys' | 'randomBytes'>,
  record: TenantRecord,
  version = 1,
): NewRow {
  const { keys } = deps
  const header = { uniques: [tenantUnique(keys, record.id)], terms: [anyTenantTerm(keys)] }
  return seal(deps, record, header, version)
}

/** @throws ApiError `storage_corrupt` when the row was changed */
export const unsealTenant = open

/** True of the tenant that was made with the vault. */
export async function isFirstTenant(
  { store, keys }: Pick<Deps, 'store' | 'keys'>,
  id: string,
): Promise<boolean> {
  const term = anyTenantTerm(keys)
  const { total } = await store.page({ term }, { offset: 0, limit: 1, nowMs: 0 })
  const { rows } = await store.page({ term }, { offset: total - 1, limit: 1, nowMs: 0 })
  const [oldest] = rows
  return oldest !== undefined && unsealTenant(keys, oldest).id === id
}

/** Returns the newest tenants, at most `limit`. @throws ApiError as `unsealTenant` */
export async function listTenants(
  store: Pick<Store, 'page'>,
  keys: Keys,
  limit: number,
): Promise<readonly TenantRecord[]> {
  const window = { offset: 0, limit, nowMs: 0, uncounted: true } as const
  const { rows } = await store.page({ term: anyTenantTerm(keys) }, window)
  return rows.map(row => unsealTenant(keys, row))
}
