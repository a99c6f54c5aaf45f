/**
 * Files named on the command line: an error about one names its option.
 * @module
 */
import { meaningOf, systemCodeOf, usage } from '../../server/process/failure.ts'

/** @throws CommandFailure with the option and the path, instead of an error of the system */
export function withFile<T>(option: string, path: string, use: () => T): T {
  try {
    return use()
  } catch (error) {
    const code = systemCodeOf(error)
    if (code === undefined) throw error
    throw usage(`${option}: ${path}: ${meaningOf(code) ?? code}`, error)
  }
}
