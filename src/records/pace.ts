/**
 * The pace of long reads: one lets others go between its pieces, and ends once nobody waits for its
 * answer.
 * @module
 */
import { ApiError } from '../lib/errors.ts'
import type { TurnOwner } from '../lib/turn-queue.ts'
import { turnsByTime, type Paced } from '../lib/work.ts'
import type { Budgeted } from './budgeted.ts'

/** @throws ApiError `request_timeout` once nobody waits for the answer */
export function assertAwaited({ isAbandoned }: Budgeted): void {
  if (isAbandoned?.() !== true) return
  throw new ApiError('request_timeout', 'Nobody waits for this answer.')
}

/**
 * @returns a function to call between two pieces; if it returns a promise, await it: this rejects
 *   as `assertAwaited`
 */
export function paceOf(deps: Paced, caller: TurnOwner & Budgeted): () => Promise<void> | undefined {
  const next = turnsByTime(deps, caller)
  const goOn = async (turn: Promise<void>): Promise<void> => {
    await turn
    assertAwaited(caller)
  }
  return () => {
    const turn = next()
    return turn && goOn(turn)
  }
}
