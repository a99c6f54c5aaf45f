/**
 * The refusal of a question about the state of a vault whose store cannot be read now.
 * @module
 */
import { ApiError } from '../../lib/errors.ts'

export const stateUnknown = (): ApiError =>
  new ApiError('unavailable', 'the state of the vault is not known now: ask again')

/** True if no fault of the program was thrown. */
export const isUnavailable = (thrown: unknown): boolean =>
  thrown instanceof ApiError && thrown.kind === 'unavailable'
