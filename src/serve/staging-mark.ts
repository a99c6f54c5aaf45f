/**
 * The mark of a folder that is made beside its place: a file in it, locked by the process that
 * works there. What has none is of somebody else, a data folder as well.
 * @module
 */
import { closeSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailure } from './failure.ts'
import { hasLock, lockInstance, noWait, type LockTime } from './instance-lock.ts'
import { isAnythingAt, removeFile, statsAt } from './regular-files.ts'

export const markName = 'coffer.staging'
const markOf = (folder: string): string => join(folder, markName)

/** No link is one. */
const isStaged = (path: string): boolean =>
  statsAt(path)?.isDirectory() === true && statsAt(markOf(path))?.isFile() === true

/** @returns the open file of its lock. @throws CommandFailure while another process has it */
export function lockMark(folder: string, time: LockTime): number {
  const file = lockInstance(markOf(folder), time)
  if (hasLock(file, markOf(folder))) return file
  // Whoever had it has taken it away with the folder.
  closeSync(file)
  throw new CommandFailure(`another coffer works in ${folder}: try again`)
}

export const removeMark = (folder: string): void => removeFile(markOf(folder))

/** @throws CommandFailure where something is there that coffer did not make */
export function assertOwnStaging(path: string): void {
  const isEmptyFolder = statsAt(path)?.isDirectory() === true && readdirSync(path).length === 0
  if (!isAnythingAt(path) || isEmptyFolder || isStaged(path)) return
  throw new CommandFailure(`${path} is in the way, and is not of coffer: move it elsewhere`)
}

/**
 * Whether such a folder is at a path, and what becomes of it: one that no process holds may be
 * removed.
 * @returns `undefined` where there is none; `held` also where this user may not look or remove
 */
export function lookAtStaging(path: string, remove: boolean): 'held' | 'left' | undefined {
  let file: number | undefined
  try {
    if (!isStaged(path)) return undefined
    file = lockMark(path, noWait)
    if (remove) rmSync(path, { recursive: true, force: true })
    return 'left'
  } catch {
    return 'held'
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
