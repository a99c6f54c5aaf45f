/**
 * A data folder whose master key is given later, and again after it was sealed.
 * @module
 */
import { existsSync } from 'node:fs'
import { primitives } from '../../crypto/primitives.ts'
import { keyringKeyOf } from '../../vault/keyring/live-keyring.ts'
import {
  checkDatabase,
  openFound,
  openUnder,
  placesOf,
  type FolderPlaces,
  type OpenedFolder,
  type StoreUse,
} from './data-folder.ts'
import { clearLeftCopies } from './copies.ts'
import { checkStamp, explained } from './folder-stamp.ts'
import { lockFolder } from './folder-lock.ts'

/** Like `LockedFolder`, without the key. */
export interface SealedFolder extends FolderPlaces {
  readonly lockFile: number
  /** True if the previous server was killed; the holder of the lock then makes the socket anew. */
  readonly wasKilled: boolean
}

/** Like `lockDataFolder`, without the key. @throws CommandFailure */
export function lockSealed(data: string): SealedFolder {
  checkStamp(data)
  checkDatabase(data)
  const places = placesOf(data)
  try {
    const lockFile = lockFolder(data)
    clearLeftCopies(data)
    return { ...places, lockFile, wasKilled: existsSync(places.control) }
  } catch (error) {
    throw explained(data, error)
  }
}

/**
 * Opens a data folder that this process has locked.
 * @param masterKey wiped
 * @throws CommandFailure with nothing written and the store closed
 */
export const openLocked = (
  data: string,
  masterKey: Uint8Array,
  use: StoreUse,
): Promise<OpenedFolder> => openFound({ ...placesOf(data), masterKey }, use)

/**
 * Checks that a master key opens a data folder that this process has locked and nobody has open, on
 * behalf of the processes it hands the folder on to.
 * @param masterKey wiped
 * @returns the keyring key for them, which the caller wipes; all else is closed and wiped
 * @throws CommandFailure with nothing written
 */
export async function tryLocked(
  places: FolderPlaces,
  masterKey: Uint8Array,
  use: StoreUse,
): Promise<Uint8Array> {
  const keyringKey = keyringKeyOf(masterKey)
  masterKey.fill(0)
  try {
    const own = primitives.keep(Uint8Array.from(keyringKey))
    const { store, keyring, keys } = await openUnder(places, own, use)
    keyring.close()
    keys.wipe()
    await store.close()
    return keyringKey
  } catch (error) {
    keyringKey.fill(0)
    throw error
  }
}
