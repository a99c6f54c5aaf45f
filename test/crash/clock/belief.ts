/**
 * What a serving process may and must believe the time to be, from all walls that it was shown:
 * the oracle of the clock part. It knows nothing of how the clock under test works.
 * @module
 */

/** Wall and monotonic clock are read one after the other, here and there. */
const readingMs = 50
/** Killed processes leave a clock that is a few leases of 2 seconds ahead. */
const leasesMs = 10_000

export interface Belief {
  /** How far the wall is ahead of the right one. */
  wallAheadMs: number
  /** The most that this process could see it ahead, and the most with which it has answered. */
  seenAheadMs: number
  toldAheadMs: number
  /** Time without a process while the wall was wrong: no clock has counted it. */
  missedMs: number
}

export const rightBelief = (): Belief => ({
  wallAheadMs: 0,
  seenAheadMs: 0,
  toldAheadMs: 0,
  missedMs: 0,
})

export function moveWall(belief: Belief, aheadMs: number): void {
  belief.wallAheadMs = aheadMs
  belief.seenAheadMs = Math.max(belief.seenAheadMs, aheadMs)
}

/** A request was answered since the wall was moved. */
export function noteAnswer(belief: Belief): void {
  belief.toldAheadMs = Math.max(belief.toldAheadMs, belief.wallAheadMs)
  if (belief.wallAheadMs === 0) belief.missedMs = 0
}

/** @param downMs from the last answer of one process to the readiness of the next */
export function noteRestart(belief: Belief, downMs: number): void {
  if (belief.wallAheadMs !== 0) belief.missedMs += downMs
  belief.seenAheadMs = Math.max(0, belief.wallAheadMs)
  belief.toldAheadMs = Number.NEGATIVE_INFINITY
}

export interface Span {
  /** From before the request to after its answer, by the right clock. */
  readonly fromMs: number
  readonly toMs: number
}

export type Verdict = 'there' | 'gone' | 'either'

/** What a row with this deadline must look like in an answer within that span. */
export function judge(belief: Belief, deadlineMs: number | undefined, span: Span): Verdict {
  if (deadlineMs === undefined) return 'there'
  const toldAheadMs = Math.max(belief.toldAheadMs, -belief.missedMs)
  const earliestMs = Math.max(
    span.fromMs + belief.wallAheadMs,
    span.fromMs + toldAheadMs - readingMs,
  )
  if (deadlineMs <= earliestMs) return 'gone'
  const latestMs = span.toMs + Math.max(0, belief.seenAheadMs) + leasesMs
  return deadlineMs > latestMs ? 'there' : 'either'
}
