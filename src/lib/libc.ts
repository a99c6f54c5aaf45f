/**
 * The C library of the system, for the few calls that Bun does not offer.
 *
 * @module
 */
import { dlopen, type FFIFunction } from 'bun:ffi'

const names = ['libc.so.6', 'libc.so', 'libSystem.B.dylib']

/** Returns these functions; `undefined` if the platform lacks any of them. */
export function findInLibc<T extends Record<string, FFIFunction>>(functions: T) {
  for (const name of names) {
    try {
      return dlopen(name, functions).symbols
    } catch {
      // This name does not exist on this platform; the next one may.
    }
  }
  return undefined
}
