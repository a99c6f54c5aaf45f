/**
 * Files that a command makes, replaces or removes: regular ones alone, and no link is followed to
 * them. Root may name a device, a pipe, a socket or the file of somebody else by mistake, and none
 * of these is made again.
 * @module
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  type Stats,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ownerOnlyFile, syncFolder, writeWhole } from '../../lib/files.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'

/** What is at a path itself: a link is not followed. `undefined` where nothing is. */
export const statsAt = (path: string): Stats | undefined =>
  lstatSync(path, { throwIfNoEntry: false })

/** Whether anything is there, a link to nothing as well. */
export const isAnythingAt = (path: string): boolean => statsAt(path) !== undefined

/** @throws CommandFailure where something is there that is no regular file */
export function assertRegular(path: string): void {
  if (statsAt(path)?.isFile() !== false) return
  throw new CommandFailure(`${path} is no regular file, and stays as it is: move it elsewhere`)
}

/**
 * Opens one to look at it. Of a second name it may be the file of somebody else.
 * @throws CommandFailure for what is no regular file, or has another name too
 */
export function openRegular(path: string): number {
  assertRegular(path)
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  const stats = fstatSync(file)
  if (stats.isFile() && stats.nlink === 1) return file
  closeSync(file)
  throw new CommandFailure(`${path} is no regular file of one name: move it elsewhere`)
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants

const othersMode = 0o077

/** Whether anybody but its owner may do something with it. */
export const isForOthersToo = ({ mode }: Stats): boolean => (mode & othersMode) !== 0

/**
 * Opens one to add to it, for its owner alone where it is made.
 * @throws CommandFailure for what is no regular file of this user alone, or has another name too
 * @throws the system's own error
 */
export function openToAppend(path: string): number {
  assertRegular(path)
  const flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK
  const file = openSync(path, flags, ownerOnlyFile)
  const stats = fstatSync(file)
  const isOwn = stats.uid === process.geteuid?.() && !isForOthersToo(stats)
  if (stats.isFile() && stats.nlink === 1 && isOwn) return file
  closeSync(file)
  throw new CommandFailure(`${path} is no file of this user alone, of one name: move it elsewhere`)
}

/** A file that was just made, or was empty, open for writing. */
export interface NewFile {
  readonly file: number
  /** Takes it away again, unless another one has its name by now. */
  readonly remove: () => void
}

const sameFile = (one: Stats, other: Stats | undefined): boolean =>
  one.dev === other?.dev && one.ino === other.ino

function newFileOf(path: string, file: number): NewFile {
  const made = fstatSync(file)
  return {
    file,
    remove() {
      if (sameFile(made, statsAt(path))) rmSync(path)
    },
  }
}

/** Opening a pipe for writing alone would wait for its reader. */
const emptyFlags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * An empty one is what a command has left that was cut off. Root may write that of somebody else,
 * who then reads what is written, or has opened it before.
 */
function openEmpty(path: string): NewFile | undefined {
  const found = statsAt(path)
  if (found?.isFile() !== true || found.size > 0) return undefined
  const file = openSync(path, emptyFlags)
  const opened = fstatSync(file)
  if (opened.isFile() && opened.size === 0 && opened.uid === process.geteuid?.()) {
    fchmodSync(file, ownerOnlyFile)
    return newFileOf(path, file)
  }
  closeSync(file)
  return undefined
}

/**
 * A new file for its owner only, or an empty regular one that is there.
 * @returns `undefined` where anything else is there, which stays as it is, an empty file of another
 *   user as well
 * @throws the system's own error
 */
export function openNewFile(path: string): NewFile | undefined {
  try {
    return newFileOf(path, openSync(path, 'wx', ownerOnlyFile))
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
    return openEmpty(path)
  }
}

/** Nothing happens where nothing is. @throws CommandFailure for what is no regular file */
export function removeFile(path: string): void {
  // A file system that is read-only refuses to remove what is not there, too.
  if (statsAt(path) === undefined) return
  assertRegular(path)
  rmSync(path, { force: true })
}

/** Nothing happens where nothing is. @throws CommandFailure for what is no folder */
export function removeFolder(path: string): void {
  const found = statsAt(path)
  if (found === undefined) return
  if (found.isDirectory()) return rmSync(path, { recursive: true, force: true })
  throw new CommandFailure(`${path} is in the way, and is no folder: move it elsewhere`)
}

/**
 * The writer may be root where the server is not: a file is of who has its folder, or what
 * it takes the place of. It is given by the open file, as its name may by now be a link of theirs.
 */
export function giveToOwnerOf(path: string, file: number): void {
  // Nobody else may give a file away: on a volume that root owns it stays of who made it.
  if (process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(path)
  if (fstatSync(file).uid !== uid) fchownSync(file, uid, gid)
}

/**
 * Writes a file under another name, which then takes its place: it is there whole, or as it was.
 * @throws CommandFailure where one of the names is of what is no regular file
 */
export function replaceFile(path: string, text: string, written = `${path}.new`): void {
  assertRegular(path)
  removeFile(written)
  const folder = dirname(resolve(path))
  const file = openSync(written, 'wx', ownerOnlyFile)
  try {
    giveToOwnerOf(folder, file)
    writeWhole(file, Buffer.from(text))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(written, path)
  syncFolder(folder)
}
