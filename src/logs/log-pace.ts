/**
 * The pace of questions to the audit log: hundreds of costly ones at once keep nobody waiting for
 * more than one piece of one, and those that nobody waits for end.
 * @module
 */
import type { Deps } from '../deps.ts'
import { ApiError } from '../lib/errors.ts'
import { turnsByTime } from '../lib/work.ts'
import type { Budgeted } from '../records/budgeted.ts'
import type { Caller } from '../rules/caller.ts'

/** A question to the log; as members of `OperationCall`. */
export interface LogCall {
  readonly caller: Caller & Budgeted
  readonly isAbandoned: () => boolean
}

/**
 * @returns a function to call between two pieces; if it returns a promise, await it. That rejects
 *   with ApiError `request_timeout` once nobody waits for the answer
 */
export function paceOf(
  deps: Deps,
  { caller, isAbandoned }: LogCall,
): () => Promise<void> | undefined {
  const next = turnsByTime(deps, caller.credential.ordinal)
  const goOn = async (turn: Promise<void>): Promise<void> => {
    await turn
    if (isAbandoned()) throw new ApiError('request_timeout', 'Nobody waits for this answer.')
  }
  return () => {
    const turn = next()
    return turn && goOn(turn)
  }
}
