/**
 * Replacing a master key: there are two files, and the keyring tells which one is valid.
 *
 * `coffer keys rekey` writes the new key beside the old one, reseals the keyring under it and
 * renames it into the old one's place. The old key is kept beside it, since only that opens earlier
 * backups. Or the new key has a file of its own, and the old one stays in place. If the command is
 * killed at any point, one of the two opens the vault.
 * @module
 */
import { existsSync, realpathSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Administered, ReplacedKey } from '../../vault/operator/operator-operation.ts'
import { bufferOf } from '../../lib/bytes.ts'
import { keyBytes } from '../../crypto/primitives.ts'
import { syncFolder } from '../../lib/files.ts'
import { CommandFailure } from '../process/failure.ts'
import { readMasterKey, readMasterKeyBeside, writeMasterKey } from './master-key.ts'
import { removeFile, statsAt } from '../folder/regular-files.ts'
import { randomBytes } from '../process/system.ts'

/** Path of the next master key, beside the current one. */
const nextOf = (file: string): string => `${file}.next`

/** Path of the previous master key: it opens backups and copies of its time. */
export const beforeOf = (file: string): string => `${file}.before`

/** Does nothing if the key is already in place. */
function takePlace(file: string): void {
  if (!existsSync(nextOf(file))) return
  renameSync(nextOf(file), file)
  syncFolder(dirname(file))
}

type Sealer = (masterKey: Uint8Array) => Promise<void>

/** The master key that is to be replaced. */
export interface StandingKey {
  /** File from which the process that opens the vault reads it; `undefined` if there is none. */
  readonly file: string | undefined
  /** True if a key opens the vault now. */
  readonly isOf: (masterKey: Uint8Array) => boolean
}

/**
 * A new key in any other file would never be read, and could replace the key of another vault.
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

/** True if an interrupted rekey has already kept it. */
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

/** @throws CommandFailure if another key is there, which older backups may need */
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
  // A key left by an interrupted rekey is not in use: the vault is open with the other one.
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
 * Makes a key in a file of its own, for the owner of the data folder.
 * @throws CommandFailure if it cannot be written, or the file exists
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
 * Replaces the current master key.
 * @param asked the file that the operator means, or the file of the new key
 * @param seal reseals the keyring; if it throws, the current key stays, unless the outcome of its
 *   commit is unknown: then both keys are kept, and the one that opens the vault counts
 * @throws CommandFailure if the new key cannot be written, or the current one is not in that file
 */
export const masterKeyReplacer =
  (standing: StandingKey): Administered['replaceMasterKey'] =>
  (asked, seal) =>
    'newFile' in asked ? sealUnder(asked.newFile, standing, seal) : replaceIn(asked, standing, seal)

/**
 * Opens something with the master key, or else with the next one beside it, which then takes its
 * place.
 * @param masterKeyFile the file of the key, if it has one
 * @throws the error for the first key, if neither opens it
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
    const next = readMasterKeyBeside(nextOf(file))
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
