/**
 * The mark of a folder that is made beside its place: a file in it, locked by the process that
 * works there. What has none is of somebody else, a data folder as well.
 *
 * Root may work where another user may rename folders: what is looked at and removed is the folder
 * that was opened, and not what its name leads to by then.
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
} from 'node:fs'
import { join } from 'node:path'
import { ownerOnlyFolder } from '../../lib/files.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { hasLock, lockInstance, noWait, type LockTime } from './instance-lock.ts'
import { isAnythingAt, removeFile, statsAt } from './regular-files.ts'

const markName = 'coffer.staging'
const markOf = (folder: string): string => join(folder, markName)

const hasMark = (folder: string): boolean => statsAt(markOf(folder))?.isFile() === true

const isFolder = (path: string): boolean => statsAt(path)?.isDirectory() === true

/** No link is one. */
export const isStaged = (path: string): boolean => isFolder(path) && hasMark(path)

/** As a process leaves it that was killed between the folder and its mark. */
export function isBegun(path: string): boolean {
  try {
    return isFolder(path) && readdirSync(path).length === 0
  } catch {
    return false
  }
}

/**
 * @param task is given a path to the folder, by its open file where the platform has such paths
 * @throws the system's own error for what is no folder, a link as well
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

/** @returns the open file of its lock. @throws CommandFailure while another process has it */
function lockMark(inside: string, path: string, time: LockTime): number {
  const file = lockInstance(markOf(inside), time)
  if (hasLock(file, markOf(inside))) return file
  // The process that had it has taken it away with the folder.
  closeSync(file)
  throw new CommandFailure(`another coffer works in ${path}: try again`)
}

/**
 * Works in such a folder of this process, whatever its name leads to by then.
 * @param lock the open file of its lock
 * @throws CommandFailure where that name leads elsewhere
 */
export function insideStaging(path: string, lock: number, task: (inside: string) => void): void {
  insideOf(path, inside => {
    if (hasLock(lock, markOf(inside))) return task(inside)
    throw new CommandFailure(`${path} was moved or replaced: try again`)
  })
}

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
 * Makes such a folder, of this process until it ends, and empties it of what one that was killed
 * has left.
 * @returns the open file of its lock
 * @throws CommandFailure where something is there that coffer did not make
 */
export function takeStaging(path: string, time: LockTime): number {
  try {
    return take(path, time)
  } catch (error) {
    // Before it had its mark, another process has taken it for one that was left.
    if (systemCodeOf(error) !== 'ENOENT') throw error
    return take(path, time)
  }
}

/** Takes one of this process away, its mark last: what is cut off is still known by it. */
export function removeStaging(path: string): void {
  if (!isFolder(path)) return
  insideOf(path, inside => {
    clear(inside)
    removeMark(inside)
    rmdirSync(path)
  })
}

/** Nothing is in it: where it may not be removed, as a mount may not, it is of no vault. */
function lookAtBegun(path: string, remove: boolean): 'left' | undefined {
  try {
    if (remove) rmdirSync(path)
    return 'left'
  } catch {
    return undefined
  }
}

/**
 * Whether such a folder is at a path, and what becomes of it: one that no process holds may be
 * removed.
 * @returns `undefined` where there is none; `held` also where this user may not look or remove
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
