/**
 * Finds out whether another user may read a file: root's commands read no more for them.
 * @module
 */
import { lstatSync, statSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { isInGroup, readGroupFiles } from './groups.ts'

const root = 0
const othersMayRead = 0o004
const groupMayRead = 0o040

/** True if a user may read a file with these stats, by owner, mode bits and the files of groups. */
export function mayRead(uid: number, { uid: owner, gid, mode }: Stats): boolean {
  if (uid === root || uid === owner || (mode & othersMayRead) !== 0) return true
  return (mode & groupMayRead) !== 0 && isInGroup(uid, gid, readGroupFiles())
}

/**
 * True if the user who decides what is at a path may read the file that was opened there. Another
 * process than one of root reads no more than its own user may.
 */
export function mayItsOwnerRead(path: string, opened: Stats): boolean {
  if (process.geteuid?.() !== root) return true
  const owners = [statSync(dirname(path)).uid, lstatSync(path).uid]
  return owners.every(owner => mayRead(owner, opened))
}
