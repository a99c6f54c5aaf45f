/**
 * Protects the memory of this process: no other process of its user may read it or attach to it,
 * and it leaves no core dump.
 *
 * The kernel resets both for a newly started program, so each process sets them itself. Memory that
 * another process has opened before that stays open to it, also for keys that come later. On
 * platforms without prctl only the core limit is set.
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { findInLibc } from '../../lib/libc.ts'

/** Source: prctl(2), PR_GET_DUMPABLE and PR_SET_DUMPABLE. */
const getDumpable = 3
const setDumpable = 4
/** Source: getrlimit(2), RLIMIT_CORE. */
const coreLimit = 4

const prctl = { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 } as const
const setrlimit = { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 } as const

/** Calls that the platform lacks, or refuses, change nothing. */
export function guardProcess(): void {
  // The soft limit, then the hard one, of 64 bits each.
  findInLibc({ setrlimit })?.setrlimit(coreLimit, ptr(new BigUint64Array([0n, 0n])))
  if (process.platform === 'linux') findInLibc({ prctl })?.prctl(setDumpable, 0)
}

/** True if other processes of the user are kept out, as far as the kernel tells. */
export const isProcessGuarded = (): boolean =>
  process.platform === 'linux' && findInLibc({ prctl })?.prctl(getDumpable, 0) === 0
