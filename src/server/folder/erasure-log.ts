/**
 * The list of erasures: each delete of a token is added to this file before it is answered, so that
 * a restore of an older backup can erase those tokens again.
 *
 * Lines of concurrent deletes are written and flushed together. A line follows the commit of its
 * delete: every delete in the list has happened, so a restore never erases a token that was not
 * deleted. After a failed write, no token is deleted until a write succeeds.
 * Source: docs/decisions.md, "The list of erasures".
 * @module
 */
import { FFIType } from 'bun:ffi'
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  fsync,
  ftruncateSync,
  readSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Erasures, Log } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { syncFolder, writeWhole } from '../../lib/files.ts'
import { findInLibc } from '../../lib/libc.ts'
import { lockPollMs, lockWaitMsMax, erasureRetryMs } from '../../limits/operation-limits.ts'
import { nextFlight } from '../../lib/serial.ts'
import { printErasure } from '../../rules/erasures.ts'
import { CommandFailure, systemCodeOf, usage } from '../process/failure.ts'
import { isInside } from './folder-lock.ts'
import { assertRegular, isForOthersToo, openToAppend, statsAt } from './regular-files.ts'
import { elapsedMs } from '../process/system.ts'

export interface ErasureLog extends Erasures {
  /** Tries once more to write the waiting lines. */
  readonly end: () => Promise<void>
}

const flush = promisify(fsync)

/*
 * Several processes append to the file in turn: one that runs out of space truncates its partial
 * line.
 */
const flock = { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 } as const
/** Source: flock(2), LOCK_EX, LOCK_NB and LOCK_UN. */
const lockExclusive = 2
const lockNonBlocking = 4
const unlock = 8

async function whileLocked(file: number, write: () => void): Promise<void> {
  const libc = findInLibc({ flock })
  const endMs = elapsedMs() + lockWaitMsMax
  while (libc !== undefined && libc.flock(file, lockExclusive | lockNonBlocking) !== 0) {
    if (elapsedMs() >= endMs) throw Object.assign(new Error('locked'), { code: 'EAGAIN' })
    await Bun.sleep(lockPollMs)
  }
  try {
    write()
  } finally {
    libc?.flock(file, unlock)
  }
}

const lineEnd = 10

/** A power failure may have left a partial line, to which no other may be appended. */
function isInLine(file: number, size: number): boolean {
  const last = new Uint8Array(1)
  return size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== lineEnd
}

/** @throws the system's own error, with the file unchanged */
function writeLines(file: number, lines: string): void {
  const { size } = fstatSync(file)
  const bytes = Buffer.from(isInLine(file, size) ? `\n${lines}` : lines)
  try {
    writeWhole(file, bytes)
  } catch (error) {
    ftruncateSync(file, size)
    throw error
  }
}

/**
 * Opens the file anew each time, so that it may be moved away: then a new one is begun.
 * @param known the inode of the file that this process last synced the folder for
 * @returns the inode of this file
 */
async function append(path: string, lines: string, known: number | undefined): Promise<number> {
  const file = openToAppend(path)
  try {
    const { ino } = fstatSync(file)
    await whileLocked(file, () => writeLines(file, lines))
    await flush(file)
    if (ino !== known) syncFolder(dirname(resolve(path)))
    return ino
  } finally {
    closeSync(file)
  }
}

const full = new Set(['ENOSPC', 'EDQUOT'])

const failureOf = (error: unknown, message: string): ApiError =>
  new ApiError(full.has(systemCodeOf(error) ?? '') ? 'storage_full' : 'unavailable', message)

/** Cause for the log; a file that may not be written to has no system code. */
const causeOf = (error: unknown): string =>
  systemCodeOf(error) ?? (error instanceof CommandFailure ? 'no_own_regular_file' : 'unknown')

const notDeleted = 'The list of erasures cannot be written, so nothing was deleted.'
const notListed = 'The token is deleted, and the list of erasures could not be written.'

/** @param path of a file that `prepareErasureLog` has accepted */
export function makeErasureLog(path: string, log: Log): ErasureLog {
  /** Lines that are not yet on disk, oldest first. */
  const waiting: string[] = []
  let hasFailed = false
  let known: number | undefined
  let timer: NodeJS.Timeout | undefined

  function noteFailure(error: unknown): void {
    if (!hasFailed) log('erasure_log_failed', { cause: causeOf(error) })
    hasFailed = true
    clearTimeout(timer)
    timer = setTimeout(() => void writeAll().catch(() => {}), erasureRetryMs)
    timer.unref()
  }

  const writeAll = nextFlight(async () => {
    const count = waiting.length
    if (count === 0) return
    try {
      known = await append(path, waiting.join(''), known)
    } catch (error) {
      noteFailure(error)
      throw error
    }
    waiting.splice(0, count)
    if (hasFailed) log('erasure_log_written')
    hasFailed = false
  })

  return {
    async ready() {
      if (!hasFailed) return
      await writeAll().catch((error: unknown) => {
        throw failureOf(error, notDeleted)
      })
    },
    async note(erasure) {
      waiting.push(printErasure(erasure))
      await writeAll().catch((error: unknown) => {
        throw failureOf(error, notListed)
      })
    },
    async end() {
      clearTimeout(timer)
      await writeAll().catch(() => {})
    },
  }
}

/*
 * Checks whether a file can be the list of erasures.
 */

const unusable = (path: string, why: string) => usage(`--erasure-log: ${path} ${why}`)

/**
 * Checks the file, and changes nothing.
 * @param data the data folder, which may not exist yet
 * @throws CommandFailure with a line that says what to do
 */
export function assertErasureLog(path: string, data: string): void {
  const folder = dirname(resolve(path))
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch {
    throw unusable(path, 'cannot be written: see that its folder exists, and whose it is')
  }
  if (isInside(folder, data)) {
    throw unusable(path, 'is in the data folder, with which it would be lost: name one elsewhere')
  }
  assertRegular(path)
  // A user who can write to it decides what a restore erases.
  const found = statsAt(path)
  if (found === undefined || !isForOthersToo(found)) return
  throw unusable(path, 'is open to others than its owner: chmod 600 it')
}

/**
 * Makes the file if it is missing, so that a start reports what would fail the first delete.
 * @throws CommandFailure
 */
export function prepareErasureLog(path: string, data: string): void {
  assertErasureLog(path, data)
  try {
    closeSync(openToAppend(path))
    syncFolder(dirname(resolve(path)))
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw unusable(path, `cannot be written (${systemCodeOf(error) ?? 'unknown'})`)
  }
}
