/**
 * The mark of a folder that is made beside its place: a file in it, locked by the process that
 * works there. A folder without a mark is not ours to remove, even if it is a data folder.
 *
 * Root may work where another user may rename folders: so the opened folder is inspected and
 * removed, not the one that its name leads to by then.
 * @module
 */
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { ownerOnlyFolder } from '../../lib/files.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { hasLock, lockInstance, noWait, type LockTime } from './instance-lock.ts'
import { isAnythingAt, removeFile, statsAt } from './regular-files.ts'

const markName = 'coffer.staging'
const othersMayWrite = 0o022
const markOf = (folder: string): string => join(folder, markName)

/**
 * True if there is a mark, of root or of the folder's owner, who alone may write there. Anybody may
 * put one into a folder of all, such as /tmp, and have root remove what is in it.
 */
function hasMark(folder: string): boolean {
  const mark = statsAt(markOf(folder))
  if (mark?.isFile() !== true || mark.nlink !== 1) return false
  const { uid, mode } = statSync(folder)
  return mark.uid === 0 || (mark.uid === uid && (mode & othersMayWrite) === 0)
}

const isFolder = (path: string): boolean => statsAt(path)?.isDirectory() === true

/** A link does not count. */
export const isStaged = (path: string): boolean => isFolder(path) && hasMark(path)

/** True for a folder that a killed process left before it wrote the mark. */
export function isBegun(path: string): boolean {
  try {
    return isFolder(path) && readdirSync(path).length === 0
  } catch {
    return false
  }
}

/**
 * @param task gets a path by the folder's open file, if the platform has such paths
 * @throws the system's own error unless it is a folder; a link is not
 */
function insideOf<T>(path: string, task: (inside: string) => T): T {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
  const folder = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    // Source: proc(5), `/proc/self/fd`.
    const opened = `/proc/self/fd/${folder}`
    return task(existsSync(opened) ? opened : path)
  } finally {
    closeSync(folder)
  }
}

/** @returns the open lock file. @throws CommandFailure while another process holds it */
function lockMark(inside: string, path: string, time: LockTime): number {
  const file = lockInstance(markOf(inside), time)
  if (hasLock(file, markOf(inside))) return file
  // The previous holder has removed it together with the folder.
  closeSync(file)
  throw new CommandFailure(`another coffer works in ${path}: try again`)
}

/**
 * Works in a staged folder of this process, wherever its name leads by then.
 * @param lock the open lock file
 * @throws CommandFailure if the name leads to another folder
 */
export function insideStaging(path: string, lock: number, task: (inside: string) => void): void {
  insideOf(path, inside => {
    if (hasLock(lock, markOf(inside))) return task(inside)
    throw new CommandFailure(`${path} was moved or replaced: try again`)
  })
}

/** Turns a finished folder, in its place, into an ordinary one. */
export const removeMark = (folder: string): void => removeFile(markOf(folder))

function clear(inside: string): void {
  for (const name of readdirSync(inside)) {
    if (name !== markName) rmSync(join(inside, name), { recursive: true })
  }
}

function assertOwn(path: string, isOwn: boolean): void {
  if (isOwn) return
  throw new CommandFailure(`${path} is in the way, and is not of coffer: move it elsewhere`)
}

function take(path: string, time: LockTime): number {
  assertOwn(path, !isAnythingAt(path) || isFolder(path))
  mkdirSync(path, { mode: ownerOnlyFolder, recursive: true })
  return insideOf(path, inside => {
    assertOwn(path, readdirSync(inside).length === 0 || hasMark(inside))
    const file = lockMark(inside, path, time)
    clear(inside)
    return file
  })
}

/**
 * Makes a staged folder that this process holds until it ends, without leftovers of a killed
 * process.
 * @returns the open lock file
 * @throws CommandFailure if there is an entry that coffer did not make
 */
export function takeStaging(path: string, time: LockTime): number {
  try {
    return take(path, time)
  } catch (error) {
    // Another process has removed it as a leftover, before it had its mark.
    if (systemCodeOf(error) !== 'ENOENT') throw error
    return take(path, time)
  }
}

/** Removes a folder of this process, its mark last: an interrupted removal stays known. */
export function removeStaging(path: string): void {
  if (!isFolder(path)) return
  insideOf(path, inside => {
    clear(inside)
    removeMark(inside)
    rmdirSync(path)
  })
}

/** The folder is empty: if it cannot be removed, as a mount cannot, it belongs to no vault. */
function lookAtBegun(path: string, remove: boolean): 'left' | undefined {
  try {
    if (remove) rmdirSync(path)
    return 'left'
  } catch {
    return undefined
  }
}

/**
 * Looks for a staged folder at a path; one that no process holds may be removed.
 * @returns `undefined` if there is none; `held` also if this user may not inspect or remove it
 */
export function lookAtStaging(path: string, remove: boolean): 'held' | 'left' | undefined {
  let file: number | undefined
  try {
    if (isBegun(path)) return lookAtBegun(path, remove)
    if (!isStaged(path)) return undefined
    return insideOf(path, inside => {
      if (!hasMark(inside)) return undefined
      file = lockMark(inside, path, noWait)
      if (remove) {
        clear(inside)
        removeMark(inside)
        rmdirSync(path)
      }
      return 'left'
    })
  } catch {
    return 'held'
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
