/**
 * A second tenant in the store of a vault. No route makes one, so it is written with its first
 * application as for a new vault.
 * @module
 */
import { uuidOf } from '../../src/lib/bytes.ts'
import { composeApplication } from '../../src/applications/application-service.ts'
import { mayHold, permissions } from '../../src/rules/permissions.ts'
import { sealTenant } from '../../src/tenants/tenant-record.ts'
import type { TestVault } from './vault.ts'

/** @returns the same vault as the new tenant sees it */
export async function addTenant(vault: TestVault): Promise<TestVault> {
  const { deps, ask } = vault
  const tenantId = uuidOf(deps.randomBytes(16))
  const { key, record, row } = composeApplication(deps, tenantId, undefined, {
    name: 'of another tenant',
    type: 'management',
    permissions: permissions.filter(permission => mayHold('management', permission)),
  })
  const owned = { name: 'Another tenant', ownerId: record.id, createdAtMs: deps.now() }
  const tenant = sealTenant(deps, { id: tenantId, ...owned })
  const outcome = await deps.store.write([{ insert: tenant }, { insert: row }])
  if (!outcome.ok) throw new Error('the tenant was not written')
  const managementKey = key.reveal()
  return {
    ...vault,
    tenantId,
    managementKey,
    async application(body) {
      const named = { name: 'under test', ...body }
      const made = await ask('POST', '/applications', { key: managementKey, body: named })
      if (made.status !== 201) throw new Error(`no application: ${made.text}`)
      return String(made.body['key'])
    },
  }
}
