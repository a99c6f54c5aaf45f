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
