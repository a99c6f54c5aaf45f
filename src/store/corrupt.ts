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
