/**
 * Numbers about deliveries for an operator: sums over all webhooks, without an id of any.
 * @module
 */
import type { AttemptOutcome } from './attempt-outcome.ts'

/** Numbers of attempts since the start, by what became of them. */
export type AttemptCounts = Record<AttemptOutcome['kind'], number>

export const noAttempts = (): AttemptCounts => ({ done: 0, again: 0, dead: 0, gone: 0 })

/** Numbers of one webhook. */
export interface BacklogFigures {
  /** Deliveries that failed, and those that wait behind one. */
  readonly parked: number
  /** Events given up that are still listed. */
  readonly dead: number
  /** Entries of the log from the cursor on. */
  readonly lagEntries: number
  /** Age of the first event that found no room, in milliseconds; 0 if there was room for all. */
  readonly lagMs: number
}

/** Sums over all webhooks; a lag is that of the webhook furthest behind. */
export interface DeliveryFigures extends BacklogFigures {
  readonly attempts: Readonly<AttemptCounts>
  readonly underWay: number
  readonly enabled: number
  /** Disabled by the vault: their receivers failed for days, or are gone. */
  readonly disabled: number
}

export function sumOf(all: readonly BacklogFigures[]): BacklogFigures {
  const sum = { parked: 0, dead: 0, lagEntries: 0, lagMs: 0 }
  for (const { parked, dead, lagEntries, lagMs } of all) {
    sum.parked += parked
    sum.dead += dead
    sum.lagEntries = Math.max(sum.lagEntries, lagEntries)
    sum.lagMs = Math.max(sum.lagMs, lagMs)
  }
  return sum
}
