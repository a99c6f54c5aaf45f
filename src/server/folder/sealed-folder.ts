/**
 * A data folder whose master key is brought later, and again after it was let go.
 * @module
 */
import {
  checkDatabase,
  openedOf,
  openStoreOf,
  type OpenedFolder,
  type StoreUse,
} from './data-folder.ts'
import { clearLeftCopies } from './copies.ts'
import { checkStamp, explained, pathsOf } from './folder-stamp.ts'
import { lockFolder } from './folder-lock.ts'

/** As `lockDataFolder`, without the key. @throws CommandFailure */
export function lockSealed(data: string): void {
  checkStamp(data)
  checkDatabase(data)
  try {
    lockFolder(data)
    clearLeftCopies(data)
  } catch (error) {
    throw explained(data, error)
  }
}

/**
 * Opens a data folder that this process has locked.
 * @param masterKey wiped
 * @throws CommandFailure with nothing written and the store closed
 */
export async function openLocked(
  data: string,
  masterKey: Uint8Array,
  use: StoreUse,
): Promise<OpenedFolder> {
  const { store, clock, control, compacting } = pathsOf(data)
  const folder = { data, masterKey, store, clock, control, compacting }
  return openedOf(folder, await openStoreOf(folder, use))
}
