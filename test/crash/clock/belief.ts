/**
 * Bounds of the time that a serving process may and must assume, given every wall clock that it
 * was shown: the oracle of the clock part. It knows nothing of how the clock under test works.
 * @module
 */

/** The test and the server each read wall and monotonic clock one after the other. */
const readingMs = 50
/** A killed process leaves its clock ahead by a few leases of 2 seconds. */
const leasesMs = 10_000

export interface Belief {
  /** Lead of the wall clock over the right one. */
  wallAheadMs: number
  /** Largest lead that this process could see, and largest with which it has answered. */
  seenAheadMs: number
  toldAheadMs: number
  /** Time without a process while the wall clock was wrong: no clock has counted it. */
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

/** Notes that a request was answered since the wall clock was moved. */
export function noteAnswer(belief: Belief): void {
  belief.toldAheadMs = Math.max(belief.toldAheadMs, belief.wallAheadMs)
  if (belief.wallAheadMs === 0) belief.missedMs = 0
}

/** @param downMs from the last answer of one process until the next is ready */
export function noteRestart(belief: Belief, downMs: number): void {
  if (belief.wallAheadMs !== 0) belief.missedMs += downMs
  belief.seenAheadMs = Math.max(0, belief.wallAheadMs)
  belief.toldAheadMs = Number.NEGATIVE_INFINITY
}

export interface Span {
  /** From before the request until after its answer, by the right clock. */
  readonly fromMs: number
  readonly toMs: number
}

export type Verdict = 'there' | 'gone' | 'either'

/** Says whether an answer within that span must show a row with this deadline. */
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
