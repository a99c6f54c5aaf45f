/**
 * Pauses of long work: one bulk request must not keep all others waiting.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { bulkTurnMsMax } from '../limits.ts'

/** @returns a function to await between two pieces of work; it lets others in when it is time */
export function pauses(elapsedMs: () => number): () => Promise<void> {
  let sinceMs = elapsedMs()
  return async () => {
    if (elapsedMs() - sinceMs < bulkTurnMsMax) return
    await setImmediate()
    sinceMs = elapsedMs()
  }
}
