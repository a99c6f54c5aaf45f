/**
 * How `coffer init` takes a folder: a new one, an empty one, or what an init has left that was cut
 * off.
 * @module
 */
import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ownerOnlyFolder } from '../../lib/files.ts'
import { CommandFailure } from '../process/failure.ts'
import { isOpenToOthers } from './file-access.ts'
import { lostStampOf } from './folder-stamp.ts'
import { lockInstance } from './instance-lock.ts'
import { ownNamesIn } from './ignored-names.ts'
import { statsAt } from './regular-files.ts'
import { elapsedMs, sleep } from '../process/system.ts'

/** All that a `coffer init` makes before its last step: files, and one folder. */
const unfinished: readonly string[] = ['lock', 'format.new', 'master.key', 'master.kdf', 'store']

function isUnfinished(folder: string, name: string): boolean {
  const stats = statsAt(join(folder, name))
  const isOfKind = name === 'store' ? stats?.isDirectory() : stats?.isFile()
  return unfinished.includes(name) && isOfKind === true
}

/**
 * Whether a folder is what an init has left that was cut off, or is under way. The stamp under its
 * first name is the first thing that it writes, so a vault that has lost its stamp is none.
 */
function isCutOff(folder: string): boolean {
  const names = ownNamesIn(folder)
  if (!names.every(name => isUnfinished(folder, name))) return false
  if (names.includes('format.new')) return true
  return names.every(name => name === 'lock' && statsAt(join(folder, name))?.size === 0)
}

function assertFree(folder: string): void {
  if (isCutOff(folder)) return
  const taken = `${folder} is not empty: coffer init changes no existing folder`
  throw lostStampOf(folder) ?? new CommandFailure(taken)
}

/** @throws CommandFailure for one of another user's that `coffer serve` would refuse */
function closeToOthers(folder: string): void {
  const uid = process.geteuid?.()
  // A volume may be of root, and this process in its group.
  const isAnothers = uid !== undefined && uid !== 0 && statSync(folder).uid !== uid
  if (!isAnothers) return chmodSync(folder, ownerOnlyFolder)
  if (!isOpenToOthers(folder, uid)) return
  throw new CommandFailure(`${folder} may be written by others: chmod go-w it`)
}

/**
 * Makes a folder that is this process's and holds nothing: what a cut-off init has left is removed,
 * of which nobody can have used anything.
 * @returns the open file of its lock
 */
export function claimFolder(folder: string): number {
  mkdirSync(folder, { mode: ownerOnlyFolder, recursive: true })
  assertFree(folder)
  closeToOthers(folder)
  // From here on what is in the folder is of this call: another one does not get the lock.
  const file = lockInstance(join(folder, 'lock'), { elapsedMs, sleep })
  assertFree(folder)
  for (const name of ownNamesIn(folder)) {
    if (name !== 'lock') rmSync(join(folder, name), { recursive: true })
  }
  return file
}
