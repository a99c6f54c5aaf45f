/**
 * Pauses of long work: one bulk request must not keep all others waiting.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { bulkTurnMsMax } from '../limits.ts'

/**
 * @param nextTurn  resolves when it is time to go on
 * @returns a function to call between two pieces of work; what it gives, if anything, is to be
 *   awaited: then it is time to let others in
 */
export function pauses(
  elapsedMs: () => number,
  nextTurn: () => Promise<void> = setImmediate,
): () => Promise<void> | undefined {
  let sinceMs = elapsedMs()
  const letOthersIn = async (): Promise<void> => {
    await nextTurn()
    sinceMs = elapsedMs()
  }
  return () => (elapsedMs() - sinceMs < bulkTurnMsMax ? undefined : letOthersIn())
}
