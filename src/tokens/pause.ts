/**
 * Pauses of long work: one bulk request must not keep all others waiting.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { bulkTurnMsMax } from '../limits.ts'

/** @returns a function to await between two pieces of work; it lets others in when it is time */
export function pauses(now: () => number): () => Promise<void> {
  let sinceMs = now()
  return async () => {
    // The clock may be set back meanwhile.
    if (Math.abs(now() - sinceMs) < bulkTurnMsMax) return
    await setImmediate()
    sinceMs = now()
  }
}
