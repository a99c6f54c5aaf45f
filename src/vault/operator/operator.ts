/**
 * On whose behalf applications and sessions are administered: of the operator, or of a management
 * application.
 *
 * The operator has the data folder and the master key. It may do what a management application may
 * that holds every permission, and what it does is checked by the same rules. It has no
 * application: what it changes names the nil UUID.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { tenantsMax } from '../../limits/operation-limits.ts'
import { writeAttemptsMax } from '../../limits/work-limits.ts'
import { changedByOthers, CredentialMoved } from '../../records/write-rows.ts'
import type { Caller } from '../../rules/caller.ts'
import { mayHold, permissions } from '../../rules/permissions.ts'
import { listTenants, tenantUnique } from '../../tenants/tenant-record.ts'
import type { Authority } from './operator-operation.ts'

/** RFC 9562 section 5.9. */
export const nobody = '00000000-0000-0000-0000-000000000000'

/** By which an operator waits between two pages: credentials have ordinals above. */
export const nobodysTurn = 0

const noTenant = () => new ApiError('not_found', 'there is no such tenant: see what init printed')

/**
 * @param asked may be left out where there is one tenant alone
 * @throws ApiError `not_found`, `conflict` where there are several
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

/** What it does holds while the tenant stands as it was read. */
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
    credential: { ordinal: row.ordinal, version: row.version },
    dependsOn: [],
    keyNumber: 0,
  }
}

async function callerOf(
  deps: Deps,
  by: Authority,
  tenant: string | undefined,
): Promise<() => Promise<Caller>> {
  if (by === 'operator') {
    const tenantId = await tenantOf(deps, tenant)
    return () => operatorOf(deps, tenantId)
  }
  return async () => {
    const caller = await by()
    if (tenant === undefined || tenant === caller.tenantId) return caller
    throw noTenant()
  }
}

/**
 * Does something in a tenant, again where the credential moved meanwhile.
 * @param tenant may be left out where there is one alone, and by a management application
 * @throws ApiError `not_found` for another tenant; what `by` and `act` throw
 */
export async function actingBy<T>(
  deps: Deps,
  by: Authority,
  tenant: string | undefined,
  act: (caller: Caller) => Promise<T>,
): Promise<T> {
  const caller = await callerOf(deps, by, tenant)
  for (let count = 0; count < writeAttemptsMax; count += 1) {
    try {
      return await act(await caller())
    } catch (error) {
      if (!(error instanceof CredentialMoved)) throw error
    }
  }
  throw changedByOthers()
}
