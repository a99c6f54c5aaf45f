/**
 * The limit of the system on the size of a file that this process writes (`ulimit -f`).
 *
 * A write beyond it fails as on a full disk, and the engine of a store ends the process then.
 * @module
 */
import { FFIType } from 'bun:ffi'
import { statSync } from 'node:fs'
import { findInLibc } from './libc.ts'

/** Source: getrlimit(2), RLIMIT_FSIZE. */
const fileSize = 1

const getrlimit = { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 } as const

/** Returns the limit in bytes; `Infinity` where there is none, told by an immense number. */
export function fileSizeMax(): number {
  // The limit that holds, and the one up to which it may be raised.
  const limits = new BigUint64Array(2)
  const isRead = findInLibc({ getrlimit })?.getrlimit(fileSize, limits) === 0
  const max = isRead ? Number(limits[0]) : Infinity
  return max > Number.MAX_SAFE_INTEGER ? Infinity : max
}

/**
 * @param path a file, which need not exist
 * @throws an error with the system's code, as a write beyond the limit would
 */
export function assertMayGrow(path: string, bytes: number, max = fileSizeMax()): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size + bytes <= max) return
  throw Object.assign(new Error('the limit of file sizes is too low'), { code: 'EFBIG' })
}
