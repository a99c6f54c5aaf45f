/**
 * The last hour of a vault, in samples that are kept in memory.
 * @module
 */
import { historySamplesMax } from '../../limits/operation-limits.ts'
import { printInstantUtc } from '../../rules/instants.ts'
import type { HistoryAnswer, HistorySample } from '../../status/schema.ts'
import { answersIn, levelsIn, type Reading } from './reading.ts'

const sampleOf = (before: Reading, now: Reading): HistorySample => ({
  at: printInstantUtc(now.atMs),
  seconds: Math.round(now.elapsedMs - before.elapsedMs) / 1_000,
  answers: answersIn(now, before),
  levels: levelsIn(now),
})

export interface History {
  /** Keeps what came since the reading before; the oldest sample goes. */
  readonly add: (now: Reading) => void
  /** Returns the samples, and one up to this reading. */
  readonly until: (now: Reading) => HistoryAnswer
}

/** @param first the reading from which on it tells */
export function makeHistory(first: Reading): History {
  let last = first
  let samples: readonly HistorySample[] = []
  return {
    add(now) {
      samples = [...samples, sampleOf(last, now)].slice(-historySamplesMax)
      last = now
    },
    until: now => ({ samples: [...samples, sampleOf(last, now)] }),
  }
}
