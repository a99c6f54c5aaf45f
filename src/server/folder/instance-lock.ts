/**
 * One instance per data folder: an advisory lock of the kernel on a file in it.
 *
 * The kernel lets go of it when the process ends in any way, so there is no stale lock to judge.
 * Bun has no call for it, so libc's own is used. Source: flock(2).
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

/** Time, as a command has it that may block. */
export interface LockTime {
  readonly elapsedMs: () => number
  readonly sleep: (ms: number) => void
}

/** Asks once, and waits for nobody. */
export const noWait: LockTime = { elapsedMs: () => Number.POSITIVE_INFINITY, sleep: () => {} }

/** The kernel frees a lock once the last process is gone that had it, which takes its time. */
function waitFor(isDone: () => boolean, { elapsedMs, sleep }: LockTime): boolean {
  const endMs = elapsedMs() + lockWaitMsMax
  while (!isDone()) {
    if (elapsedMs() >= endMs) return false
    sleep(lockPollMs)
  }
  return true
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** No link is followed, and a pipe is not waited for. @throws CommandFailure for what is no file */
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

/** @returns what takes the lock of an open file, once */
function findLocker(): (file: number) => boolean {
  const libc = findInLibc({ flock })
  if (libc === undefined) {
    throw new CommandFailure('cannot lock the data folder on this platform: no libc was found')
  }
  return file => libc.flock(file, lockExclusive | lockNonBlocking) === 0
}

/**
 * Holds the lock until the process has ended, and every one that the file was handed on to. It
 * waits for those of a killed instance that are not gone yet.
 * @param flags with which the file is opened; it is made where they are left out
 * @returns the open file
 * @throws CommandFailure when another process has it
 */
export function lockInstance(lockFile: string, time: LockTime, flags?: number): number {
  const lock = findLocker()
  const file = openLockFile(lockFile, flags)
  if (waitFor(() => lock(file), time)) return file
  closeSync(file)
  throw isTaken(lockFile)
}

/** As `lockInstance`, of a file that this process may read alone, and nobody has to make. */
export function lockUnwritable(lockFile: string, time: LockTime): void {
  if (existsSync(lockFile)) lockInstance(lockFile, time, O_RDONLY)
}

/**
 * Holds a folder itself until the process has ended: whatever is removed from it frees nothing.
 * Where its file system locks no folders, as over a network, nothing is held.
 * @throws CommandFailure when another process has it
 */
export function holdFolder(folder: string, time: LockTime): void {
  const lock = findLocker()
  const file = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  if (lock(file) || (isLocked(folder) && waitFor(() => lock(file), time))) return
  closeSync(file)
  if (isLocked(folder)) throw isTaken(folder)
}

/**
 * Whether an open file that was handed on has the lock: taking it again then succeeds, as it is
 * the same open file, and fails where another one has it.
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
