/**
 * A folder by its lock file, which this process has open: root may work where another user may
 * rename folders, so what is removed is in the folder that was locked, not where its name leads.
 * @module
 */
import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailure } from '../process/failure.ts'
import { hasLock } from './instance-lock.ts'

/**
 * @param lock the open lock file of the folder, which has the name `lock` in it
 * @param task gets a path by the folder's open file, if the platform has such paths, and that file
 * @throws CommandFailure if the name leads to another folder by now
 */
export function insideHeld<T>(
  path: string,
  lock: number,
  task: (inside: string, folder: number) => T,
): T {
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    // Source: proc(5), `/proc/self/fd`.
    const opened = `/proc/self/fd/${folder}`
    const inside = existsSync(opened) ? opened : path
    if (hasLock(lock, join(inside, 'lock'))) return task(inside, folder)
  } finally {
    closeSync(folder)
  }
  throw new CommandFailure(`${path} was moved or replaced: try again`)
}
