/**
 * Findings of `coffer doctor` about applications: those that may create others, and so a key that
 * reveals. Source: contract section 11.
 * @module
 */
import { unsealApplication, typeTerm } from '../../applications/application-record.ts'
import { pageSizeMax } from '../../limits/limits.ts'
import { tenantsMax } from '../../limits/operation-limits.ts'
import { isExpired } from '../../records/expiry.ts'
import type { Keys } from '../../crypto/keyring.ts'
import type { Row, Store } from '../../store/contract.ts'
import { listTenants } from '../../tenants/tenant-record.ts'
import { wallMs } from '../../server/process/system.ts'
import { note, type DoctorFinding } from './finding.ts'

async function managersOf(store: Store, keys: Keys, tenantId: string): Promise<readonly Row[]> {
  const query = { term: typeTerm(keys, tenantId, 'management') }
  const nowMs = wallMs()
  const found: Row[] = []
  for (let offset = 0; ; offset += pageSizeMax) {
    const { rows } = await store.page(query, { offset, limit: pageSizeMax, nowMs })
    found.push(...rows)
    if (rows.length < pageSizeMax) return found
  }
}

/** Returns ids of applications. */
async function readKeyMakers(store: Store, keys: Keys): Promise<readonly string[]> {
  const tenants = await listTenants(store, keys, tenantsMax)
  const rows = await Promise.all(tenants.map(({ id }) => managersOf(store, keys, id)))
  return rows
    .flat()
    .filter(row => !isExpired(row, wallMs()))
    .map(row => unsealApplication(keys, row).record)
    .filter(({ permissions }) => permissions.includes('application:create'))
    .map(({ id }) => id)
}

const about = 'applications'

export const applicationsUnread: DoctorFinding = note(
  about,
  'while a server runs, applications that can make a key which reveals are not looked for',
)

/** The holder of such a key can get access to every token: keep it like the master key. */
export async function findInApplications(store: Store, keys: Keys): Promise<DoctorFinding> {
  const ids = await readKeyMakers(store, keys)
  return note(about, `applications that can make a key which reveals: ${ids.join(', ')}`)
}
