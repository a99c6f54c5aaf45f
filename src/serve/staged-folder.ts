/**
 * A folder that is made beside its place and takes it once all is there, or is taken away again:
 * of a backup, a restore, a look at a copy.
 *
 * It holds a whole database meanwhile. A file in it marks it as coffer's, and is locked by the
 * process that works there: what has none is of somebody else, a data folder as well.
 * @module
 */
import { closeSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ownerOnlyFolder } from '../files.ts'
import type { LockedFolder } from './data-folder.ts'
import { CommandFailure } from './failure.ts'
import { explained, pathsOf } from './folder-stamp.ts'
import { hasLock, lockInstance, noWait, type LockTime } from './instance-lock.ts'
import { isAnythingAt, removeFile, statsAt } from './regular-files.ts'
import { elapsedMs, sleep } from './system.ts'

const markName = 'coffer.staging'
const markOf = (folder: string): string => join(folder, markName)

/** Whether a path is of such a folder, whatever is in it; no link is one. */
const isStaged = (path: string): boolean =>
  statsAt(path)?.isDirectory() === true && statsAt(markOf(path))?.isFile() === true

/** @returns the open file of its lock. @throws CommandFailure while another process has it */
function lockMark(folder: string, time: LockTime): number {
  const file = lockInstance(markOf(folder), time)
  if (hasLock(file, markOf(folder))) return file
  // Whoever had it has taken it away with the folder.
  closeSync(file)
  throw new CommandFailure(`another coffer works in ${folder}: try again`)
}

function assertOwn(path: string): void {
  const stats = statsAt(path)
  const isEmptyFolder = stats?.isDirectory() === true && readdirSync(path).length === 0
  if (stats === undefined || isEmptyFolder || isStaged(path)) return
  throw new CommandFailure(`${path} is in the way, and is not of coffer: move it elsewhere`)
}

/**
 * Makes one, of this process until it ends, and empty, whatever one that was killed has left in it.
 * @throws CommandFailure when it cannot be made, or another process makes it
 */
export function makeStagedFolder(data: string, masterKey: Uint8Array): LockedFolder {
  const { store, clock, control, compacting } = pathsOf(data)
  try {
    assertOwn(data)
    mkdirSync(data, { mode: ownerOnlyFolder, recursive: true })
    const lockFile = lockMark(data, { elapsedMs, sleep })
    for (const name of readdirSync(data)) {
      if (name !== markName) rmSync(join(data, name), { recursive: true })
    }
    return { data, masterKey, store, clock, control, compacting, lockFile }
  } catch (error) {
    throw explained(data, error)
  }
}

/** Once all is there: from here on it is a folder like any other. */
export const endStaging = ({ data }: LockedFolder): void => removeFile(markOf(data))

/** Whether something of coffer is at a path that a process works on, or has left. */
export type StagedState = 'absent' | 'foreign' | 'held' | 'left'

/** @returns `removed` where it was left, and is gone now */
export function clearStagedFolder(path: string): Exclude<StagedState, 'left'> | 'removed' {
  if (!isAnythingAt(path)) return 'absent'
  if (!isStaged(path)) return 'foreign'
  let file: number
  try {
    file = lockMark(path, noWait)
  } catch (error) {
    if (error instanceof CommandFailure) return 'held'
    throw explained(path, error)
  }
  try {
    rmSync(path, { recursive: true, force: true })
    return 'removed'
  } finally {
    closeSync(file)
  }
}
