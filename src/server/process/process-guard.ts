/**
 * What keeps others out of the memory of this process: no other process of its user may read it or
 * attach to it, and its end leaves no core.
 *
 * The kernel gives a program both back when it is started, so each process asks for itself. Where
 * the platform has no such call there is a core limit alone. Source: prctl(2), PR_SET_DUMPABLE;
 * getrlimit(2), RLIMIT_CORE.
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { findInLibc } from '../../lib/libc.ts'

const getDumpable = 3
const setDumpable = 4
const coreLimit = 4

const prctl = { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 } as const
const setrlimit = { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 } as const

/** What the platform has no call for, or refuses, stays as it is. */
export function guardProcess(): void {
  // The soft limit, then the hard one, of 64 bits each.
  findInLibc({ setrlimit })?.setrlimit(coreLimit, ptr(new BigUint64Array([0n, 0n])))
  if (process.platform === 'linux') findInLibc({ prctl })?.prctl(setDumpable, 0)
}

/** Whether other processes of the same user are kept out, as far as the kernel tells. */
export const isProcessGuarded = (): boolean =>
  process.platform === 'linux' && findInLibc({ prctl })?.prctl(getDumpable, 0) === 0
