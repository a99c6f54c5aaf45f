/**
 * One instance per data folder: an advisory kernel lock on a file in it.
 *
 * The kernel releases it however the process ends, so there is no stale lock to judge. Bun has no
 * call for it, so libc is called. Source: flock(2).
 * @module
 */
import { FFIType } from 'bun:ffi'
import { closeSync, constants, existsSync, fstatSync, openSync, statSync } from 'node:fs'
import { findInLibc } from '../../lib/libc.ts'
import { lockPollMs, lockWaitMsMax } from '../../limits/operation-limits.ts'
import { CommandFailure } from '../process/failure.ts'
import { isLocked, lockHolder } from './lock-holder.ts'
import { ownerOnlyFile } from '../../lib/files.ts'
import { assertRegular } from './regular-files.ts'

const lockExclusive = 2
const lockNonBlocking = 4

const flock = { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 } as const

/** Time for a command, which may block. */
export interface LockTime {
  readonly elapsedMs: () => number
  readonly sleep: (ms: number) => void
}

/** Tries once, without waiting. */
export const noWait: LockTime = { elapsedMs: () => Number.POSITIVE_INFINITY, sleep: () => {} }

/** The kernel releases a lock only when its last holder is gone, which may take a moment. */
function waitFor(isDone: () => boolean, { elapsedMs, sleep }: LockTime): boolean {
  const endMs = elapsedMs() + lockWaitMsMax
  while (!isDone()) {
    if (elapsedMs() >= endMs) return false
    sleep(lockPollMs)
  }
  return true
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** Follows no link, and waits for no pipe. @throws CommandFailure unless it is a regular file */
function openLockFile(path: string, flags = O_WRONLY | O_APPEND | O_CREAT): number {
  assertRegular(path)
  const file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, ownerOnlyFile)
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  throw new CommandFailure(`${path} is no regular file, and stays as it is: move it elsewhere`)
}

const isTaken = (path: string): CommandFailure => {
  const holder = lockHolder(path)
  const named = holder === undefined ? '' : ` (${holder})`
  return new CommandFailure(
    `another coffer runs on this data folder${named}: wait for its end, or stop it first`,
  )
}

/** @returns a function that tries once to lock an open file */
function findLocker(): (file: number) => boolean {
  const libc = findInLibc({ flock })
  if (libc === undefined) {
    throw new CommandFailure('cannot lock the data folder on this platform: no libc was found')
  }
  return file => libc.flock(file, lockExclusive | lockNonBlocking) === 0
}

/**
 * Holds the lock until this process, and every one that the file was handed on to, has ended. It
 * waits for processes of a killed instance that are still ending.
 * @param flags for opening the file; if left out, the file is created if missing
 * @returns the open file
 * @throws CommandFailure if another process holds it
 */
export function lockInstance(lockFile: string, time: LockTime, flags?: number): number {
  const lock = findLocker()
  const file = openLockFile(lockFile, flags)
  if (waitFor(() => lock(file), time)) return file
  closeSync(file)
  throw isTaken(lockFile)
}

/** Like `lockInstance`, for a file that may only be read; does nothing if it is missing. */
export function lockUnwritable(lockFile: string, time: LockTime): void {
  if (existsSync(lockFile)) lockInstance(lockFile, time, O_RDONLY)
}

/**
 * Locks the folder itself until the process ends: removing files in it does not release that. A
 * file system that cannot lock folders, such as a network one, is left unlocked.
 * @throws CommandFailure if another process holds it
 */
export function holdFolder(folder: string, time: LockTime): void {
  const lock = findLocker()
  const file = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  if (lock(file) || (isLocked(folder) && waitFor(() => lock(file), time))) return
  closeSync(file)
  if (isLocked(folder)) throw isTaken(folder)
}

/**
 * True if an open file that was handed on holds the lock: locking it again then succeeds, as it is
 * the same open file, and fails if another process holds the lock.
 */
export function hasLock(file: number, lockFile: string): boolean {
  try {
    const [own, expected] = [
      fstatSync(file, { bigint: true }),
      statSync(lockFile, { bigint: true }),
    ]
    if (own.dev !== expected.dev || own.ino !== expected.ino) return false
  } catch {
    return false
  }
  return findInLibc({ flock })?.flock(file, lockExclusive | lockNonBlocking) === 0
}
