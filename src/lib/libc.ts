/**
 * The C library of the system, for the few calls that Bun has none of its own for.
 *
 * @module
 */
import { dlopen, type FFIFunction } from 'bun:ffi'

const names = ['libc.so.6', 'libc.so', 'libSystem.B.dylib']

/** These functions of it; `undefined` where the platform has not all of them. */
export function findInLibc<T extends Record<string, FFIFunction>>(functions: T) {
  for (const name of names) {
    try {
      return dlopen(name, functions).symbols
    } catch {
      // Not this platform's name of it: the next one may be.
    }
  }
  return undefined
}
