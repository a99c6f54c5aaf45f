/**
 * Pauses of long work: one bulk request must not keep all others waiting.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { bulkTurnMsMax } from '../../limits.ts'

/**
 * @returns a function to call between two pieces of work; what it gives, if anything, is to be
 *   awaited: then it is time to let others in
 */
export function pauses(elapsedMs: () => number): () => Promise<void> | undefined {
  let sinceMs = elapsedMs()
  const letOthersIn = async (): Promise<void> => {
    await setImmediate()
    sinceMs = elapsedMs()
  }
  return () => (elapsedMs() - sinceMs < bulkTurnMsMax ? undefined : letOthersIn())
}
