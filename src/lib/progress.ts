/**
 * Progress reports of work that blocks.
 * @module
 */

/** Reports how much is done, after each step; costs one comparison. */
export type ReportDone = (done: number) => void

/**
 * Begins a new kind of work, which ends the report of the one before.
 * @param total in any unit
 * @param what such as `copying`
 */
export type BeginProgress = (total: number, what: string) => ReportDone

/** For work that nobody watches. */
export const noProgress: BeginProgress = () => () => {}

/** For work in pieces of any length: pass the length of each. */
export function countBytes(done: ReportDone): ReportDone {
  let bytes = 0
  return some => done((bytes += some))
}
