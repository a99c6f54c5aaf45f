/**
 * The pace of questions to the audit log: a costly one lets others go between its pieces, and ends
 * once nobody waits for its answer.
 * @module
 */
import type { Deps } from '../deps.ts'
import { ApiError } from '../lib/errors.ts'
import { turnsByTime } from '../lib/work.ts'
import type { Budgeted } from '../records/budgeted.ts'
import type { Caller } from '../rules/caller.ts'

/** The members of `OperationCall` that a question to the log takes. */
export interface LogCall {
  readonly caller: Caller & Budgeted
  readonly isAbandoned: () => boolean
}

/**
 * @returns a function to call between two pieces; if it returns a promise, await it: this rejects
 *   with ApiError `request_timeout` once nobody waits for the answer
 */
export function paceOf(
  deps: Deps,
  { caller, isAbandoned }: LogCall,
): () => Promise<void> | undefined {
  const next = turnsByTime(deps, caller)
  const goOn = async (turn: Promise<void>): Promise<void> => {
    await turn
    if (isAbandoned()) throw new ApiError('request_timeout', 'Nobody waits for this answer.')
  }
  return () => {
    const turn = next()
    return turn && goOn(turn)
  }
}
