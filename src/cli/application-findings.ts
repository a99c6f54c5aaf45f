/**
 * Findings of `coffer doctor` about applications: those that may create others, and so a key that
 * reveals.
 *
 * Reads the store as `verify` does, so only while no process serves it. Source: contract section
 * 11.
 * @module
 */
import { unsealApplication, typeTerm } from '../applications/application-record.ts'
import { pageSizeMax } from '../limits/limits.ts'
import { tenantsMax } from '../limits/operation-limits.ts'
import { isExpired } from '../records/deadline.ts'
import type { Keys } from '../crypto/keyring.ts'
import type { Row, Store } from '../store/contract.ts'
import { listTenants } from '../tenants/tenant-record.ts'
import {
  lockDataFolder,
  unsealKeysOf,
  openStoreOf,
  type FolderOptions,
} from '../server/folder/data-folder.ts'
import { CommandFailure } from '../server/process/failure.ts'
import { wallMs } from '../server/process/system.ts'
import { fault, note, type DoctorFinding } from './finding.ts'

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

/** @returns ids of applications; `undefined` while another process has the folder */
async function findKeyMakers(options: FolderOptions): Promise<readonly string[] | undefined> {
  let folder: ReturnType<typeof lockDataFolder>
  try {
    folder = lockDataFolder(options)
  } catch (error) {
    if (error instanceof CommandFailure) return undefined
    throw error
  }
  const { store } = await openStoreOf(folder, {
    onFailure: () => {},
    passwordFile: options.storePasswordFile,
  })
  // Closes the store if it fails.
  const keys = await unsealKeysOf(store, folder)
  try {
    const tenants = await listTenants(store, keys, tenantsMax)
    const rows = await Promise.all(tenants.map(({ id }) => managersOf(store, keys, id)))
    return rows
      .flat()
      .filter(row => !isExpired(row, wallMs()))
      .map(row => unsealApplication(keys, row).record)
      .filter(({ permissions }) => permissions.includes('application:create'))
      .map(({ id }) => id)
  } finally {
    await store.close()
  }
}

/** The holder of such a key can get access to every token: keep it like the master key. */
export async function findInApplications(options: FolderOptions): Promise<DoctorFinding> {
  let ids: readonly string[] | undefined
  try {
    ids = await findKeyMakers(options)
  } catch (error) {
    if (error instanceof CommandFailure) return fault('applications', error.message)
    throw error
  }
  const text =
    ids === undefined
      ? 'while a server runs, applications that can make a key which reveals are not looked for'
      : `applications that can make a key which reveals: ${ids.join(', ')}`
  return note('applications', text)
}
