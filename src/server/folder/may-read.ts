/**
 * Finds out whether another user may read a file: root's commands read no more for them.
 * @module
 */
import { lstatSync, statSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { isInGroup, readGroupFiles } from './groups.ts'
import { wayTo } from './path-owners.ts'

const root = 0
const mayReadBits = 0o444
const mayEnterBits = 0o111
const groupBits = 0o070
const othersBits = 0o007

/** By owner, mode bits and the files of groups: an owner may change the mode. */
function isGranted(uid: number, { uid: owner, gid, mode }: Stats, bits: number): boolean {
  if (uid === root || uid === owner || (mode & bits & othersBits) !== 0) return true
  return (mode & bits & groupBits) !== 0 && isInGroup(uid, gid, readGroupFiles())
}

/**
 * True if a user may read a file, and enter each folder on the way to it, beside those on the way
 * to the user's own folder: a volume of a container is below ones of root alone.
 * @param from the folder of that user, which names the path
 * @param path leads to it still: its folders are those of another file otherwise
 * @param opened stats of the file that was opened there
 */
export function mayRead(uid: number, from: string, path: string, opened: Stats): boolean {
  if (uid === root) return true
  const { passed, end } = wayTo(path)
  if (end?.stats.dev !== opened.dev || end.stats.ino !== opened.ino) return false
  const way = wayTo(from)
  const own = new Set([...way.passed, ...(way.end ? [way.end] : [])].map(place => place.path))
  const folders = passed.filter(place => place.stats.isDirectory() && !own.has(place.path))
  return (
    isGranted(uid, opened, mayReadBits) &&
    folders.every(({ stats }) => isGranted(uid, stats, mayEnterBits))
  )
}

/**
 * True if the user who decides what is at a path may read the file that was opened there. Another
 * process than one of root reads no more than its own user may.
 */
export function mayItsOwnerRead(path: string, opened: Stats): boolean {
  if (process.geteuid?.() !== root) return true
  const owners = [statSync(dirname(path)).uid, lstatSync(path).uid]
  return owners.every(owner => mayRead(owner, dirname(path), path, opened))
}
