/**
 * Files that a command creates, replaces or removes: only regular ones, and without following
 * links. Root may by mistake name a device, a pipe, a socket or another user's file, and none of
 * these could be made again.
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

/** Stats of the entry at a path, without following a link; `undefined` if there is none. */
export const statsAt = (path: string): Stats | undefined =>
  lstatSync(path, { throwIfNoEntry: false })

/** True if there is any entry at a path, also a dangling link. */
export const isAnythingAt = (path: string): boolean => statsAt(path) !== undefined

/** @throws CommandFailure if an entry exists that is not a regular file */
export function assertRegular(path: string): void {
  if (statsAt(path)?.isFile() !== false) return
  throw new CommandFailure(`${path} is no regular file, and stays as it is: move it elsewhere`)
}

const isOfOneName = (stats: Stats): boolean => stats.isFile() && stats.nlink === 1

const severalNames = (path: string) =>
  new CommandFailure(`${path} is no regular file of one name: move it elsewhere`)

/**
 * A file with a second name may be another user's, and what is written goes to both.
 * @throws CommandFailure if an entry exists that is not a regular file with one name
 */
export function assertOneName(path: string): void {
  assertRegular(path)
  const stats = statsAt(path)
  if (stats !== undefined && !isOfOneName(stats)) throw severalNames(path)
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants

/**
 * Opens a file, without following a link or waiting for a pipe.
 * @throws CommandFailure unless it is a regular file with one name
 * @throws the system's own error
 */
export function openRegular(path: string, flags = O_RDONLY): number {
  assertRegular(path)
  const file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, ownerOnlyFile)
  if (isOfOneName(fstatSync(file))) return file
  closeSync(file)
  throw severalNames(path)
}

const othersMode = 0o077

/** True if the mode grants anything to anybody but the owner. */
export const isForOthersToo = ({ mode }: Stats): boolean => (mode & othersMode) !== 0

/**
 * Opens a file for appending; a new one is for its owner only.
 * @throws CommandFailure unless it is a regular file of this user alone, with one name
 * @throws the system's own error
 */
export function openToAppend(path: string): number {
  assertRegular(path)
  const flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK
  const file = openSync(path, flags, ownerOnlyFile)
  const stats = fstatSync(file)
  const isOwn = stats.uid === process.geteuid?.() && !isForOthersToo(stats)
  if (isOfOneName(stats) && isOwn) return file
  closeSync(file)
  throw new CommandFailure(`${path} is no file of this user alone, of one name: move it elsewhere`)
}

/** A new or empty file, open for writing. */
export interface NewFile {
  readonly file: number
  /** Removes the file, unless its name now leads to another one. */
  readonly remove: () => void
  /** @throws CommandFailure if its name now leads to another one */
  readonly rename: (to: string) => void
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
    rename(to) {
      if (sameFile(made, statsAt(path))) return renameSync(path, to)
      throw new CommandFailure(`${path} was moved or replaced: try again`)
    },
  }
}

/** Without O_NONBLOCK, opening a pipe for writing would wait for its reader. */
const emptyFlags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * An empty file was left by an interrupted command. Root could also write to another user's, but
 * that user could then read it, or may already have it open.
 */
function openEmpty(path: string): NewFile | undefined {
  const found = statsAt(path)
  if (found?.isFile() !== true || found.size > 0) return undefined
  const file = openSync(path, emptyFlags)
  const opened = fstatSync(file)
  if (isOfOneName(opened) && opened.size === 0 && opened.uid === process.geteuid?.()) {
    fchmodSync(file, ownerOnlyFile)
    return newFileOf(path, file)
  }
  closeSync(file)
  return undefined
}

/** Creates a file for its owner only. @throws the system's own error if there is anything */
export const createFile = (path: string): NewFile =>
  newFileOf(path, openSync(path, 'wx', ownerOnlyFile))

/**
 * Creates a file for its owner only, or opens an existing empty regular one.
 * @returns `undefined` for any other entry, which stays as it is, also another user's empty file
 * @throws the system's own error
 */
export function openNewFile(path: string): NewFile | undefined {
  try {
    return createFile(path)
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
    return openEmpty(path)
  }
}

/** Does nothing if there is no file. @throws CommandFailure unless it is a regular file */
export function removeFile(path: string): void {
  // A read-only file system refuses to remove even a missing file.
  if (statsAt(path) === undefined) return
  assertRegular(path)
  rmSync(path, { force: true })
}

/** Does nothing if there is no folder. @throws CommandFailure unless it is a folder */
export function removeFolder(path: string): void {
  const found = statsAt(path)
  if (found === undefined) return
  if (found.isDirectory()) return rmSync(path, { recursive: true, force: true })
  throw new CommandFailure(`${path} is in the way, and is no folder: move it elsewhere`)
}

/**
 * Gives a file to the owner of its folder, or of the file it replaces: root may write it for a
 * server of another user. The open file is changed, as its name may by now be that user's link.
 */
export function giveToOwnerOf(path: string, file: number): void {
  // Only root may give a file away: on a volume that root owns, it stays with its creator.
  if (process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(path)
  if (fstatSync(file).uid !== uid) fchownSync(file, uid, gid)
}

/** Writes a file that does not exist yet, which is on disk when this returns. */
export function writeNew(path: string, text: string): void {
  const file = openSync(path, 'wx', ownerOnlyFile)
  try {
    giveToOwnerOf(dirname(resolve(path)), file)
    writeWhole(file, Buffer.from(text))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Writes a temporary file that then replaces the old one: it is there in full, or unchanged.
 * @throws CommandFailure if either name belongs to something other than a regular file
 */
export function replaceFile(path: string, text: string): void {
  const written = `${path}.new`
  assertRegular(path)
  removeFile(written)
  writeNew(written, text)
  renameSync(written, path)
  syncFolder(dirname(resolve(path)))
}
