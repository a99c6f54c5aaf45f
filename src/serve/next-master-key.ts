/**
 * A master key that is being replaced: two files, of which the keyring says which one it is.
 *
 * `coffer keys rekey` writes the new key beside the old one, has the keyring sealed under it and
 * renames it into the old one's place. Killed anywhere in between, one of the two opens.
 * @module
 */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from '../files.ts'
import { readMasterKey } from './master-key.ts'

/** Beside a master key, the one that is to take its place. */
export const nextOf = (masterKeyFile: string): string => `${masterKeyFile}.next`

/** Where it has done so already, nothing is left to do. */
export function takePlace(masterKeyFile: string): void {
  if (!existsSync(nextOf(masterKeyFile))) return
  renameSync(nextOf(masterKeyFile), masterKeyFile)
  syncFolder(dirname(masterKeyFile))
}

/** One that was not taken when a command was cut off: the key before stands. */
export function dropNext(masterKeyFile: string): void {
  rmSync(nextOf(masterKeyFile), { force: true })
  syncFolder(dirname(masterKeyFile))
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
