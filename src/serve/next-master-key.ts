/**
 * A master key that is being replaced: two files, of which the keyring says which one it is.
 *
 * `coffer keys rekey` writes the new key beside the old one, has the keyring sealed under it and
 * renames it into the old one's place. Killed anywhere in between, one of the two opens.
 * @module
 */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { keyBytes } from '../crypto/primitives.ts'
import { syncFolder } from '../files.ts'
import { readMasterKey, writeMasterKey } from './master-key.ts'
import { randomBytes } from './system.ts'

/** Beside a master key, the one that is to take its place. */
const nextOf = (file: string): string => `${file}.next`

/** Where it has done so already, nothing is left to do. */
function takePlace(file: string): void {
  if (!existsSync(nextOf(file))) return
  renameSync(nextOf(file), file)
  syncFolder(dirname(file))
}

/**
 * Puts another master key in the place of the one in a file.
 * @param seal seals the keyring under it; when it throws, the key before stands, unless a commit
 *   failed of which nobody knows what came: then both are there, and the one that opens counts
 * @throws CommandFailure when the new key cannot be written
 */
export async function replaceMasterKey(
  file: string,
  seal: (masterKey: Uint8Array) => Promise<void>,
): Promise<void> {
  // What a command left that was cut off was not taken: the vault is open with the other.
  rmSync(nextOf(file), { force: true })
  const masterKey = randomBytes(keyBytes)
  writeMasterKey(nextOf(file), masterKey)
  try {
    syncFolder(dirname(file))
    await seal(masterKey)
    takePlace(file)
  } finally {
    masterKey.fill(0)
  }
}

/**
 * Opens something with the master key, or with the one beside it that was to take its place, which
 * then takes it.
 * @param masterKeyFile where the key was read, if it was
 * @throws what opening with the first one throws, where neither opens
 */
export async function openWithEither<T>(
  masterKeyFile: string | undefined,
  masterKey: Uint8Array,
  open: (masterKey: Uint8Array) => Promise<T>,
): Promise<T> {
  try {
    return await open(masterKey)
  } catch (error) {
    if (masterKeyFile === undefined || !existsSync(nextOf(masterKeyFile))) throw error
    const next = readMasterKey(nextOf(masterKeyFile))
    try {
      const opened = await open(next)
      takePlace(masterKeyFile)
      return opened
    } catch {
      throw error
    } finally {
      next.fill(0)
    }
  }
}
