/**
 * Counts of answers, by operation: plain numbers, which metrics are made of on request.
 * @module
 */
import type { AnswerEvent } from '../../deps.ts'
import { latencyBucketsSeconds } from '../../limits/operation-limits.ts'

/** Counts of one operation. */
export interface Counted {
  readonly byStatus: Map<number, number>
  /** Answers by the first bucket that holds them; the last bucket has no bound. */
  readonly byDuration: number[]
  seconds: number
}

export interface AnswerCounters {
  /** Counts one answer. */
  readonly observe: (seen: AnswerEvent, elapsedMs: number) => void
  readonly operations: ReadonlyMap<string, Counted>
  /** Answers that are errors, by kind. */
  readonly refused: ReadonlyMap<string, number>
}

const nowhere = 'none'

const makeCounted = (): Counted => ({
  byStatus: new Map(),
  byDuration: Array.from({ length: latencyBucketsSeconds.length + 1 }, () => 0),
  seconds: 0,
})

const addOne = <K>(counts: Map<K, number>, key: K): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1)

function addDuration(counted: Counted, seconds: number): void {
  let at = 0
  while (seconds > (latencyBucketsSeconds[at] ?? Infinity)) at += 1
  counted.byDuration[at] = (counted.byDuration[at] ?? 0) + 1
  counted.seconds += seconds
}

/**
 * decision: the counters of the metrics library hash the labels of each answer anew, which took a
 * sixth of the time of a read.
 */
export function makeAnswerCounters(): AnswerCounters {
  const operations = new Map<string, Counted>()
  const refused = new Map<string, number>()
  return {
    operations,
    refused,
    observe({ operation = nowhere, status, refusal, startedMs }, elapsedMs) {
      let counted = operations.get(operation)
      if (counted === undefined) operations.set(operation, (counted = makeCounted()))
      addOne(counted.byStatus, status)
      addDuration(counted, (elapsedMs - startedMs) / 1_000)
      if (refusal !== undefined) addOne(refused, refusal)
    },
  }
}
