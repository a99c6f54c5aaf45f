/**
 * Findings of `coffer doctor` in the rows of a vault: webhooks, and applications. They are read as
 * `verify` does, so only while no process serves the vault.
 * @module
 */
import {
  lockDataFolder,
  openStoreOf,
  unsealKeysOf,
  type FolderOptions,
  type LockedFolder,
} from '../../server/folder/data-folder.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { applicationsUnread, findInApplications } from './application-findings.ts'
import { fault, type DoctorFinding } from './finding.ts'
import { findInWebhooks } from './webhook-findings.ts'

/** @returns `undefined` while another process has the folder */
function lockStopped(options: FolderOptions): LockedFolder | undefined {
  try {
    return lockDataFolder(options)
  } catch (error) {
    if (error instanceof CommandFailure) return undefined
    throw error
  }
}

async function readRows(
  folder: LockedFolder,
  { storePasswordFile: passwordFile }: FolderOptions,
): Promise<readonly DoctorFinding[]> {
  const { store } = await openStoreOf(folder, { onFailure: () => {}, passwordFile })
  // Closes the store if it fails.
  const keys = await unsealKeysOf(store, folder)
  try {
    return [...(await findInWebhooks(store, keys)), await findInApplications(store, keys)]
  } finally {
    await store.close()
  }
}

/** Once in a process: it holds the lock of the folder until it ends. */
export async function findInRows(options: FolderOptions): Promise<readonly DoctorFinding[]> {
  const folder = lockStopped(options)
  if (folder === undefined) return [applicationsUnread]
  try {
    return await readRows(folder, options)
  } catch (error) {
    if (error instanceof CommandFailure) return [fault('rows', error.message)]
    throw error
  }
}
