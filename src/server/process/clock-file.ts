/**
 * The file `clock` of a data folder: the mark of the clock, as decimal Unix milliseconds and a
 * newline, readable by its owner only.
 *
 * Written in place and never synced, which keeps it over the death of the process and takes a few
 * microseconds. Only who has the lock of the folder may open it. Source: server/process/clock.ts.
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
import { ownerOnlyFile } from '../../lib/files.ts'
import { giveToOwnerOf, isAnythingAt, openRegular } from '../folder/regular-files.ts'

const { O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants

/**
 * The process that opened it first may be root where the server is not; others can give none away.
 */
function keepOwner(file: number, folder: string): void {
  try {
    giveToOwnerOf(folder, file)
  } catch {
    // It is of the user who made it.
  }
}

/** For reading alone where that is all that is allowed: an older mark is better than none. */
function openToRead(path: string): number {
  try {
    const file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, ownerOnlyFile)
    keepOwner(file, dirname(path))
    return file
  } catch {
    return openSync(path, O_RDONLY | O_NOFOLLOW)
  }
}

/** Where a mark is kept: in a file, or with the store. */
export interface MarkPlace {
  readonly clockFile: string
  readonly database?: { readonly clock: { readonly mark: string; keep(text: string): void } }
}

/**
 * A mark that several processes keep: one that is behind leaves what another one has written.
 * @param text what it was before the first of them began: they are ahead of their time by a lease
 */
export const sharedMark = (mark: ClockMark, text?: string): ClockMark => ({
  read: () => text ?? mark.read(),
  write(text) {
    const keptMs = parseMark(mark.read())
    // What is no mark is damage, and is written over.
    if (keptMs === undefined || keptMs < Number(text)) mark.write(text)
  },
})

/** Of a vault whose store is in a database that others share, so that they share the mark. */
export const markOf = ({ clockFile, database }: MarkPlace): ClockMark =>
  database === undefined
    ? openClockFile(clockFile)
    : { read: () => database.clock.mark, write: text => database.clock.keep(text) }

/** The file is made where it is missing. Whatever fails then fails at each use, as an error. */
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
      // What was longer must not stay behind it.
      ftruncateSync(open(), text.length)
      length = text.length
    },
  }
}

/** The mark of a data folder that nobody serves; 0 where there is none. */
export const readMarkMs = (path: string): number => parseMark(openClockFile(path).read()) ?? 0

/** The same of one that may be served meanwhile: nothing is made, changed or waited for. */
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

/** Keeps a mark there, on disk, where it is later than the one that is. */
export function keepMarkMs(path: string, markMs: number): void {
  sharedMark(openClockFile(path)).write(`${markMs}\n`)
  const file = openSync(path, O_RDONLY)
  fsyncSync(file)
  closeSync(file)
}
