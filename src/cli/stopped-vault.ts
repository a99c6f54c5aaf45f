/**
 * A vault that no process serves, opened with its keys to be read.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import {
  lockDataFolder,
  openStoreOf,
  unsealKeysOf,
  type FolderOptions,
} from '../server/folder/data-folder.ts'
import { CommandFailure } from '../server/process/failure.ts'
import type { OperatedStore } from '../store/operated.ts'

/**
 * Reads a vault, and closes it.
 * @returns `undefined` while another process has the folder
 * @throws CommandFailure if it does not open
 */
export async function readStopped<T>(
  options: FolderOptions,
  read: (store: OperatedStore, keys: Keys) => Promise<T>,
): Promise<T | undefined> {
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
    return await read(store, keys)
  } finally {
    await store.close()
  }
}
