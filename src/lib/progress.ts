/**
 * How work that blocks tells how far it is.
 * @module
 */

/** Told how much of its work is done, as often as a step is; it costs a comparison. */
export type ReportDone = (done: number) => void

/**
 * Begins to tell of work, and ends that of the work before.
 * @param total in whatever unit the work counts in
 * @param what it is, such as `copying`
 */
export type BeginProgress = (total: number, what: string) => ReportDone

/** For work that has nobody to tell. */
export const noProgress: BeginProgress = () => () => {}

/** For work that is done in pieces of any length: it is told the length of each. */
export function countBytes(done: ReportDone): ReportDone {
  let bytes = 0
  return some => done((bytes += some))
}
