/**
 * The file `clock` of a data folder: the mark of the clock, as decimal Unix milliseconds and a
 * newline, readable by its owner only.
 *
 * It is written in place and never synced: it outlives the process, and a write takes a few
 * microseconds. Only the holder of the folder's lock, and its workers, may write it.
 * Source: server/process/clock.ts.
 * @module
 */
import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { clockFileBytesMax } from '../../limits/operation-limits.ts'
import { parseMark, type ClockMark } from './clock.ts'
import { giveToOwnerOf, isAnythingAt, openRegular } from '../folder/regular-files.ts'

const { O_CREAT, O_RDONLY, O_RDWR } = constants

/** Root may create the file for a server of another user; only root can give it away. */
function keepOwner(file: number, folder: string): void {
  try {
    giveToOwnerOf(folder, file)
  } catch {
    // The file stays with the user who made it.
  }
}

/** Opens read-only if nothing else is allowed: an older mark is better than none. */
function openToRead(path: string): number {
  try {
    const file = openRegular(path, O_RDWR | O_CREAT)
    keepOwner(file, dirname(path))
    return file
  } catch {
    return openRegular(path)
  }
}

/** Place of a mark: in a file, or with the store. */
export interface MarkPlace {
  readonly clockFile: string
  readonly database?: { readonly clock: { readonly mark: string; keep(text: string): void } }
}

/**
 * A mark shared by several processes: one that is behind keeps what another has written.
 * @param text the mark before the first of them started; theirs are ahead by a lease
 */
export const sharedMark = (mark: ClockMark, text?: string): ClockMark => ({
  read: () => text ?? mark.read(),
  write(text) {
    const keptMs = parseMark(mark.read())
    // An invalid mark is damaged, and is overwritten.
    if (keptMs === undefined || keptMs < Number(text)) mark.write(text)
  },
})

/** Vaults with a shared database also share the mark in it. */
export const markOf = ({ clockFile, database }: MarkPlace): ClockMark =>
  database === undefined
    ? openClockFile(clockFile)
    : { read: () => database.clock.mark, write: text => database.clock.keep(text) }

/** Creates the file if missing. If that fails, each use of the mark throws. */
export function openClockFile(path: string): ClockMark {
  let file: number | undefined
  let length: number | undefined
  const open = () => (file ??= openToRead(path))
  return {
    read() {
      const bytes = Buffer.alloc(clockFileBytesMax)
      length = readSync(open(), bytes, 0, clockFileBytesMax, 0)
      return bytes.toString('latin1', 0, length)
    },
    write(text) {
      writeSync(open(), text, 0, 'latin1')
      if (text.length === length) return
      // Removes the rest of a longer text.
      ftruncateSync(open(), text.length)
      length = text.length
    },
  }
}

/** Reads the mark of a data folder that nobody serves; 0 if there is none. */
export const readMarkMs = (path: string): number => parseMark(openClockFile(path).read()) ?? 0

/** Like `readMarkMs`, while the folder may be served: makes, changes and awaits nothing. */
export function lookAtMarkMs(path: string): number {
  if (!isAnythingAt(path)) return 0
  const bytes = Buffer.alloc(clockFileBytesMax)
  const file = openRegular(path)
  try {
    return parseMark(bytes.toString('latin1', 0, readSync(file, bytes))) ?? 0
  } finally {
    closeSync(file)
  }
}

/** Writes a mark to disk, if it is later than the current one. */
export function keepMarkMs(path: string, markMs: number): void {
  sharedMark(openClockFile(path)).write(`${markMs}\n`)
  const file = openSync(path, O_RDONLY)
  fsyncSync(file)
  closeSync(file)
}
