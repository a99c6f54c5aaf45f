/**
 * Collects what is wrong with one value, so that a caller learns of all faults at once.
 *
 * Invariant: paths and messages are ours; nothing of the value enters them.
 * Source: contract section 2.
 * @module
 */
import { ApiError } from '../errors.ts'

/** Dotted path to what was expected there. */
export type Faults = Map<string, string[]>

export const addFault = (faults: Faults, path: string, expected: string): void => {
  const messages = faults.get(path)
  if (messages === undefined) faults.set(path, [expected])
  else messages.push(expected)
}

/** @throws ApiError `invalid_request` with every fault, if there is one */
export const throwFaults = (faults: Faults): void => {
  if (faults.size === 0) return
  const message = Array.from(faults, ([path, expected]) => `${path}: ${expected.join(', ')}`)
  throw new ApiError('invalid_request', message.join('; '), Object.fromEntries(faults))
}
