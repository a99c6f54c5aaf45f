/**
 * A master key that is being replaced: two files, of which the keyring says which one it is.
 *
 * `coffer keys rekey` writes the new key beside the old one, has the keyring sealed under it and
 * renames it into the old one's place, and leaves the old one beside it, since that alone opens the
 * backups from before. Or the new key is in a file of its own, and the old one stays where it is.
 * Killed anywhere in between, one of the two opens.
 * @module
 */
import { existsSync, realpathSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Administered, ReplacedKey } from '../../vault/operator/operator-operation.ts'
import { bufferOf } from '../../lib/bytes.ts'
import { keyBytes } from '../../crypto/primitives.ts'
import { syncFolder } from '../../lib/files.ts'
import { CommandFailure } from '../process/failure.ts'
import { readMasterKey, writeMasterKey } from './master-key.ts'
import { removeFile, statsAt } from '../folder/regular-files.ts'
import { randomBytes } from '../process/system.ts'

/** Beside a master key, the one that is to take its place. */
const nextOf = (file: string): string => `${file}.next`

/** Beside a master key, the one before: it opens backups and copies of its time. */
export const beforeOf = (file: string): string => `${file}.before`

/** Where it has done so already, nothing is left to do. */
function takePlace(file: string): void {
  if (!existsSync(nextOf(file))) return
  renameSync(nextOf(file), file)
  syncFolder(dirname(file))
}

type Sealer = (masterKey: Uint8Array) => Promise<void>

/** The master key that is to be replaced. */
export interface StandingKey {
  /** Where the process that opens the vault reads it; `undefined` where it is in no file. */
  readonly file: string | undefined
  /** Whether the vault opens with a key now. */
  readonly isOf: (masterKey: Uint8Array) => boolean
}

/**
 * A new key in another file is one that nobody reads, in the place of a key that may be that of
 * another vault.
 * @returns the file itself, behind any link
 */
function checkStanding(asked: string, { file, isOf }: StandingKey): string {
  if (file === undefined) {
    const reason = 'the running server has the master key from no file'
    throw new CommandFailure(`${reason}: name one for the new key with --new-master-key-file`)
  }
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

/** Whether a rekey that was cut off has kept it already. */
function isKept(before: string, masterKey: Uint8Array): boolean {
  let kept: Uint8Array
  try {
    kept = readMasterKey(before)
  } catch {
    return false
  }
  try {
    return bufferOf(kept).equals(masterKey)
  } finally {
    kept.fill(0)
  }
}

/** @throws CommandFailure where something else is there, such as a key that older backups need */
function keepBefore(file: string): void {
  const before = beforeOf(file)
  const masterKey = readMasterKey(file)
  try {
    if ((statsAt(before)?.size ?? 0) === 0) return writeMasterKey(before, masterKey, file)
    if (isKept(before, masterKey)) return
  } finally {
    masterKey.fill(0)
  }
  const reason = `${before} is there with another key, which older backups may need`
  throw new CommandFailure(`${reason}: move it to them first, or say --forget-old-key`)
}

async function replaceIn(asked: ReplacedKey, standing: StandingKey, seal: Sealer): Promise<void> {
  const file = checkStanding(asked.file, standing)
  if (asked.isBeforeKept) keepBefore(file)
  // What a command left that was cut off was not taken: the vault is open with the other.
  removeFile(nextOf(file))
  const masterKey = randomBytes(keyBytes)
  try {
    writeMasterKey(nextOf(file), masterKey, file)
    syncFolder(dirname(file))
    await seal(masterKey)
    takePlace(file)
  } finally {
    masterKey.fill(0)
  }
}

async function sealUnder(path: string, { isOf }: StandingKey, seal: Sealer): Promise<void> {
  const masterKey = readMasterKey(path)
  try {
    if (isOf(masterKey)) {
      throw new CommandFailure(`the vault has the key in ${path} already: name another file`)
    }
    await seal(masterKey)
  } finally {
    masterKey.fill(0)
  }
}

/**
 * Makes a key in a file of its own, for whom the data folder belongs to.
 * @throws CommandFailure when it cannot be written there, or anything is there
 */
export function makeNewKey(path: string, data: string): void {
  const masterKey = randomBytes(keyBytes)
  try {
    writeMasterKey(path, masterKey, data)
  } catch (error) {
    if (!(error instanceof CommandFailure) || (statsAt(path)?.size ?? 0) === 0) throw error
    const what = `${path} is there already, and stays as it is: name another file`
    throw new CommandFailure(`${what}, unless it is of a keys rekey that was cut off and opens it`)
  } finally {
    masterKey.fill(0)
  }
}

/**
 * Puts another master key in the place of the one there is.
 * @param asked the file that the operator has in mind, or the one of the new key
 * @param seal seals the keyring under it; when it throws, the key before stands, unless a commit
 *   failed of which nobody knows what came: then both are there, and the one that opens counts
 * @throws CommandFailure when the new key cannot be written, or the one before is not in that file
 */
export const masterKeyReplacer =
  (standing: StandingKey): Administered['replaceMasterKey'] =>
  (asked, seal) =>
    'newFile' in asked ? sealUnder(asked.newFile, standing, seal) : replaceIn(asked, standing, seal)

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
