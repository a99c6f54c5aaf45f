/**
 * A master key that is being replaced: two files, of which the keyring says which one it is.
 *
 * `coffer keys rekey` writes the new key beside the old one, has the keyring sealed under it and
 * renames it into the old one's place. Killed anywhere in between, one of the two opens.
 * @module
 */
import { chownSync, existsSync, realpathSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { keyBytes } from '../crypto/primitives.ts'
import { syncFolder } from '../files.ts'
import { CommandFailure } from './failure.ts'
import { readMasterKey, writeMasterKey } from './master-key.ts'
import { removeFile } from './regular-files.ts'
import { randomBytes } from './system.ts'

/** Beside a master key, the one that is to take its place. */
const nextOf = (file: string): string => `${file}.next`

/** Where it has done so already, nothing is left to do. */
function takePlace(file: string): void {
  if (!existsSync(nextOf(file))) return
  renameSync(nextOf(file), file)
  syncFolder(dirname(file))
}

/** The master key that is to be replaced. */
export interface StandingKey {
  /** Where whoever opens the vault reads it; `undefined` where it is in no file. */
  readonly file: string | undefined
  /** Whether the vault opens with a key now. */
  readonly isOf: (masterKey: Uint8Array) => boolean
}

/**
 * A new key in another file is one that nobody reads, and the key that was there, maybe that of
 * another vault, is gone for good.
 * @returns the file itself, behind any link
 */
function checkStanding(asked: string, { file, isOf }: StandingKey): string {
  if (file === undefined) throw new CommandFailure('the master key of this vault is in no file')
  const place = realpathSync(file)
  if (!existsSync(asked) || realpathSync(asked) !== place) {
    throw new CommandFailure(`the master key of this vault is in ${file}: name that file`)
  }
  const masterKey = readMasterKey(place)
  try {
    if (isOf(masterKey)) return place
  } finally {
    masterKey.fill(0)
  }
  throw new CommandFailure(`the key in ${file} is not the one of this vault: put that one there`)
}

/** Whoever replaces it may be root, and who serves may not. */
function writeBeside(file: string, masterKey: Uint8Array): void {
  const { uid, gid } = statSync(file)
  writeMasterKey(nextOf(file), masterKey)
  if (statSync(nextOf(file)).uid !== uid) chownSync(nextOf(file), uid, gid)
}

/**
 * Puts another master key in the place of the one in a file.
 * @param asked the file that whoever asks for it has in mind
 * @param seal seals the keyring under it; when it throws, the key before stands, unless a commit
 *   failed of which nobody knows what came: then both are there, and the one that opens counts
 * @throws CommandFailure when the new key cannot be written, or the one before is not in that file
 */
export const masterKeyReplacer =
  (standing: StandingKey) =>
  async (asked: string, seal: (masterKey: Uint8Array) => Promise<void>): Promise<void> => {
    const file = checkStanding(asked, standing)
    // What a command left that was cut off was not taken: the vault is open with the other.
    removeFile(nextOf(file))
    const masterKey = randomBytes(keyBytes)
    try {
      writeBeside(file, masterKey)
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
    if (masterKeyFile === undefined) throw error
    const file = realpathSync(masterKeyFile)
    if (!existsSync(nextOf(file))) throw error
    const next = readMasterKey(nextOf(file))
    try {
      const opened = await open(next)
      takePlace(file)
      return opened
    } catch {
      throw error
    } finally {
      next.fill(0)
    }
  }
}
