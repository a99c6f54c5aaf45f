/**
 * One instance per data folder: an advisory kernel lock on a file in it.
 *
 * The kernel releases it however the process ends, so there is no stale lock to judge. Bun has no
 * call for it, so libc is called.
 * @module
 */
import { FFIType } from 'bun:ffi'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  statSync,
  readFileSync,
} from 'node:fs'
import { findInLibc } from '../../lib/libc.ts'
import { lockPollMs, lockWaitMsMax } from '../../limits/operation-limits.ts'
import { CommandFailure } from '../process/failure.ts'
import { ownerOnlyFile } from '../../lib/files.ts'
import { assertRegular } from './regular-files.ts'

/** Source: flock(2), LOCK_EX and LOCK_NB. */
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

/*
 * Finds the process that holds the lock of a file, as the kernel reports it.
 *
 * Source: proc(5), `/proc/locks` and `/proc/PID/cmdline`; absent on other platforms.
 */

/** The first words of a command line name the command: later ones may be paths or values. */
const commandWordsMax = 2
const commandWord = /^[a-z][a-z-]*$/

/** As the kernel prints a device: `fe:00`. Source: `gnu_dev_major` and `gnu_dev_minor` of glibc. */
function deviceOf(dev: bigint): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn)
  return [major, minor].map(part => part.toString(16).padStart(2, '0')).join(':')
}

/** Command of a process, such as `coffer keys rotate`; `undefined` if it cannot be read. */
function commandOf(pid: number): string | undefined {
  try {
    const [, ...words] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const begin = words.findIndex(word => commandWord.test(word))
    const rest = words.slice(begin)
    const end = rest.findIndex(word => !commandWord.test(word))
    const named = rest.slice(0, Math.min(commandWordsMax, end))
    return begin < 0 || named.length === 0 ? undefined : `coffer ${named.join(' ')}`
  } catch {
    return undefined
  }
}

/** Id of the process that holds a lock; 0 if it cannot be seen from here. */
function findLock(path: string): number | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    const file = `${deviceOf(dev)}:${ino}`
    const held = readFileSync('/proc/locks', 'latin1')
      .split('\n')
      .map(line => line.trim().split(/\s+/))
      .find(([, kind, , , , place]) => kind === 'FLOCK' && place === file)
    return held === undefined ? undefined : Number(held[4])
  } catch {
    return undefined
  }
}

/** True if the kernel reports a lock on a file or folder; false on other platforms. */
const isLocked = (path: string): boolean => findLock(path) !== undefined

/**
 * @param path of a file or folder that is locked by flock(2)
 * @returns such as `coffer serve, process 4711`; `undefined` if nobody holds it, or if the holder
 *   cannot be seen, as in another container
 */
export function lockHolder(path: string): string | undefined {
  const pid = findLock(path) ?? 0
  if (pid <= 0) return undefined
  return [commandOf(pid), `process ${pid}`].filter(part => part !== undefined).join(', ')
}
