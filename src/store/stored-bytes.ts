/**
 * What every engine says when stored bytes contradict each other.
 *
 * @module
 */
import { ApiError } from '../errors.ts'

/**
 * States what must hold of stored bytes if nothing outside of us changed them.
 * @param mustHold  a fixed text; never a stored value
 * @throws ApiError `storage_corrupt`
 */
export function assertStored(condition: unknown, mustHold: string): asserts condition {
  if (!condition) throw new ApiError('storage_corrupt', `expected of the store: ${mustHold}`)
}

/** `undefined` stands for stored bytes that are not as they must be. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'storage_corrupt') return undefined
    throw error
  }
}

/*
 * Whole numbers of 32 and 48 bits, big endian, so that the order of bytes is the order of numbers.
 */

export const u48Bytes = 6

/** @param value  a whole number from 0 to 2^48 - 1; `at + 6` bytes must be there */
export function writeU48(target: Uint8Array, at: number, value: number): void {
  const high = Math.floor(value / 2 ** 32)
  target[at] = high >>> 8
  target[at + 1] = high
  writeU32(target, at + 2, value >>> 0)
}

export const readU48 = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)) * 2 ** 32 + readU32(bytes, at + 2)

/** @param value  a whole number from 0 to 2^32 - 1 */
export function writeU32(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 24
  target[at + 1] = value >>> 16
  target[at + 2] = value >>> 8
  target[at + 3] = value
}

export const readU32 = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] ?? 0) << 24) |
    ((bytes[at + 1] ?? 0) << 16) |
    ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)) >>>
  0
