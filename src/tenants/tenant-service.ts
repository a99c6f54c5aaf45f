/**
 * Operations on the tenant of a credential. Source: contract section 15.
 *
 * @module
 */
import type { Deps } from '../deps.ts'
import type { Caller } from '../rules/caller.ts'
import { ApiError } from '../lib/errors.ts'
import { untilWritten, writeAs, type WriteContext } from '../records/write-rows.ts'
import { unsealTenant, sealTenant, tenantUnique, type TenantRecord } from './tenant-record.ts'

async function findOwnTenant({ keys, store }: Deps, { tenantId }: Pick<Caller, 'tenantId'>) {
  const row = await store.find(tenantUnique(keys, tenantId))
  if (row === undefined) throw new ApiError('storage_corrupt', 'a credential has no tenant')
  return { row, record: unsealTenant(keys, row) }
}

export const getOwnTenant = async (deps: Deps, caller: Caller): Promise<TenantRecord> =>
  (await findOwnTenant(deps, caller)).record

/** Renames the tenant. @returns the changed tenant */
export const renameOwnTenant = (
  deps: Deps,
  caller: Caller & WriteContext,
  name: string,
): Promise<TenantRecord> =>
  untilWritten(async () => {
    const { row, record } = await findOwnTenant(deps, caller)
    const modified = { modifiedBy: caller.applicationId, modifiedAtMs: deps.now() }
    const result: TenantRecord = { ...record, name, ...modified }
    const replace = sealTenant(deps, result, row.version + 1)
    const change = { replace, ordinal: row.ordinal, ifVersion: row.version }
    const about = { ids: () => [record.id] }
    return (await writeAs(deps.store, caller, [change], about)) ? { result } : undefined
  })
