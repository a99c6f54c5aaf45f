/**
 * Callers that administer applications and sessions: the operator, or a management application.
 *
 * The operator has the data folder and the master key. It may do what a management application with
 * every permission may, and the same rules check it. It has no application: its changes name the
 * nil UUID.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { tenantsMax } from '../../limits/operation-limits.ts'
import { writeAttemptsMax } from '../../limits/work-limits.ts'
import { changedByOthers, CredentialChanged, type WriteContext } from '../../records/write-rows.ts'
import type { Caller } from '../../rules/caller.ts'
import { mayHold, permissions } from '../../rules/permissions.ts'
import { listTenants, tenantUnique } from '../../tenants/tenant-record.ts'
import type { Authority } from './operator-operation.ts'

/** RFC 9562 section 5.9. */
export const nobody = '00000000-0000-0000-0000-000000000000'

const noTenant = () => new ApiError('not_found', 'there is no such tenant: see what init printed')

/**
 * @param asked may be left out if there is only one tenant
 * @throws ApiError `not_found`, `conflict` if there are several
 */
async function tenantOf(
  { store, keys }: Pick<Deps, 'store' | 'keys'>,
  asked: string | undefined,
): Promise<string> {
  const ids = (await listTenants(store, keys, tenantsMax)).map(({ id }) => id)
  const [only] = asked === undefined ? ids : ids.filter(id => id === asked)
  if (only === undefined) throw noTenant()
  if (asked !== undefined || ids.length === 1) return only
  throw new ApiError('conflict', 'there are several tenants: choose one with --tenant')
}

/** Its writes hold only while the tenant is unchanged since it was read. */
async function operatorOf({ store, keys }: Deps, tenantId: string): Promise<Caller> {
  const row = await store.find(tenantUnique(keys, tenantId))
  if (row === undefined) throw noTenant()
  const all = permissions.filter(permission => mayHold('management', permission))
  return {
    tenantId,
    applicationId: nobody,
    type: 'management',
    grants: { permissions: all, rules: [] },
    expiresAtMs: undefined,
    credential: { ordinal: row.ordinal, version: row.version, uniques: row.uniques },
    dependsOn: [],
    keyNumber: 0,
  }
}

async function callerOf(
  deps: Deps,
  { who }: Authority,
  tenant: string | undefined,
): Promise<() => Promise<Caller>> {
  if (who === 'operator') {
    const tenantId = await tenantOf(deps, tenant)
    return () => operatorOf(deps, tenantId)
  }
  return async () => {
    const caller = await who()
    if (tenant === undefined || tenant === caller.tenantId) return caller
    throw noTenant()
  }
}

/**
 * Acts in a tenant, and again if the credential was changed meanwhile.
 * @param tenant may be left out if there is only one, and by a management application
 * @throws ApiError `not_found` for another tenant; errors of `by` and `act`
 */
export async function actingBy<T>(
  deps: Deps,
  by: Authority,
  tenant: string | undefined,
  act: (caller: Caller & WriteContext) => Promise<T>,
): Promise<T> {
  const caller = await callerOf(deps, by, tenant)
  for (let count = 0; count < writeAttemptsMax; count += 1) {
    try {
      return await act({ ...(await caller()), audit: by.audit })
    } catch (error) {
      if (!(error instanceof CredentialChanged)) throw error
    }
  }
  throw changedByOthers()
}
