/**
 * What a failed call of the engine is told as.
 *
 * @module
 */
import { ApiError } from '../../errors.ts'

/** The engine's own errors carry LMDB's number or the system's. */
const isEngineError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'number'

/** An ApiError as it is; the engine's errors as `unavailable`; anything else is a fault of ours. */
export function faultOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return isEngineError(error)
    ? new ApiError('unavailable', 'the store cannot be read', undefined, error)
    : new ApiError('internal', 'the store failed', undefined, error)
}
