/**
 * Claims a folder for `coffer init`: a new one, an empty one, or one left by an interrupted init.
 * @module
 */
import {
  fchmodSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import { ownerOnlyFolder } from '../../lib/files.ts'
import { CommandFailure } from '../process/failure.ts'
import { isOpenToOthers } from './file-access.ts'
import { assertOwnWay } from './path-owners.ts'
import { lostStampOf } from './folder-stamp.ts'
import { insideHeld } from './held-folder.ts'
import { lockInstance } from './instance-lock.ts'
import { statsAt } from './regular-files.ts'
import { elapsedMs, sleep } from '../process/system.ts'

/** The stamp until the last step. */
const newStamp = 'format.new'

/** Everything that `coffer init` makes before its last step: files, and one folder. */
const unfinished: readonly string[] = ['lock', newStamp, 'master.key', 'master.kdf', 'store']

function isUnfinished(folder: string, name: string): boolean {
  const stats = statsAt(join(folder, name))
  const isOfKind = name === 'store' ? stats?.isDirectory() : stats?.isFile()
  return unfinished.includes(name) && isOfKind === true
}

/**
 * True if an init in this folder was interrupted or is under way. An init first writes the stamp
 * under its temporary name, so a vault that lost its stamp is not taken for one.
 */
function isCutOff(folder: string): boolean {
  const names = ownNamesIn(folder)
  if (!names.every(name => isUnfinished(folder, name))) return false
  if (names.includes(newStamp)) return true
  return names.every(name => name === 'lock' && statsAt(join(folder, name))?.size === 0)
}

/**
 * Removes what an init made. The stamp's temporary name goes last: without it, what a kill leaves
 * would be taken for a vault that lost its stamp.
 */
export function removeUnfinished(folder: string, names: readonly string[]): void {
  const isStamp = (name: string): boolean => name === newStamp
  for (const name of [...names.filter(each => !isStamp(each)), ...names.filter(isStamp)]) {
    rmSync(join(folder, name), { recursive: true })
  }
}

/** @param told its name in errors */
function assertFree(folder: string, told = folder): void {
  if (isCutOff(folder)) return
  const taken = `${told} is not empty: choose another, as coffer init changes no existing folder`
  throw lostStampOf(told) ?? new CommandFailure(taken)
}

/** Root may own a volume, with this process in its group. */
const isAnothers = ({ uid: owner }: Stats, uid: number): boolean => uid !== 0 && owner !== uid

/** @throws CommandFailure for another user's folder that `coffer serve` would refuse */
function assertCloseable(folder: string, told = folder): void {
  const uid = process.geteuid?.()
  if (uid === undefined || !isAnothers(statSync(folder), uid)) return
  if (!isOpenToOthers(folder, uid)) return
  throw new CommandFailure(`${told} may be written by others: chmod go-w it`)
}

/** @param folder the open file: its name may lead elsewhere by now */
function closeToOthers(folder: number): void {
  const uid = process.geteuid?.()
  if (uid === undefined || !isAnothers(fstatSync(folder), uid)) fchmodSync(folder, ownerOnlyFolder)
}

/**
 * Makes an empty folder that belongs to this process. Leftovers of an interrupted init are removed:
 * nobody can have used them.
 * @returns the open lock file
 */
export function claimFolder(folder: string): number {
  mkdirSync(folder, { mode: ownerOnlyFolder, recursive: true })
  assertOwnWay(folder)
  assertFree(folder)
  assertCloseable(folder)
  // The lock makes the contents of the folder this call's own: no other call gets it.
  const file = lockInstance(join(folder, 'lock'), { elapsedMs, sleep })
  insideHeld(folder, file, (inside, opened) => {
    assertFree(inside, folder)
    assertCloseable(inside, folder)
    closeToOthers(opened)
    const names = ownNamesIn(inside).filter(name => name !== 'lock')
    removeUnfinished(inside, names)
  })
  return file
}

/*
 * Names that file systems, systems and tools leave in a folder that counts as empty. They belong to
 * no vault, and stay as they are.
 */

/** In lower case, as some of these systems ignore case. */
const leftNames: ReadonlySet<string> = new Set([
  // File systems, volumes and their snapshots.
  'lost+found',
  '.snapshot',
  '.snapshots',
  '~snapshot',
  '.zfs',
  '.glusterfs',
  '.trashcan',
  'aquota.user',
  'aquota.group',
  '.ckpt',
  '@eadir',
  '#recycle',
  '#snapshot',
  // Desktops.
  '.ds_store',
  '.apdisk',
  '.documentrevisions-v100',
  '.fseventsd',
  '.spotlight-v100',
  '.temporaryitems',
  '.trashes',
  '.volumeicon.icns',
  '.directory',
  'desktop.ini',
  'thumbs.db',
  '$recycle.bin',
  'system volume information',
  // Placeholders that keep an empty folder in a repository.
  '.gitkeep',
  '.gitignore',
  '.keep',
  '.empty',
  '.placeholder',
])

/** Files removed while open, a user's trash folder, file attributes. */
const leftPattern = /^(?:\.nfs[0-9a-f]{8,}|\.fuse_hidden[0-9a-f]+|\.trash-\d+|\._.*)$/

const isLeft = (name: string): boolean =>
  leftNames.has(name.toLowerCase()) || leftPattern.test(name.toLowerCase())

/** Names in a folder, without ignored ones. @throws the system's own error */
export const ownNamesIn = (folder: string): readonly string[] =>
  readdirSync(folder).filter(name => !isLeft(name))
