/**
 * Which media types a client takes, as far as an answer goes by it. Source: RFC 9110 section
 * 12.5.1; contract section 2.
 * @module
 */

/** Media ranges in lower case. decision: weights are passed over, and `q=0` with them. */
const rangesOf = (accept: string): readonly string[] =>
  accept.split(',').map(range => (range.split(';', 1)[0] ?? '').trim().toLowerCase())

/** Whether `Accept` names `application/json`, and neither problem documents nor everything. */
export function acceptsJsonAlone({ headers }: Request): boolean {
  const accept = headers.get('accept')
  if (accept === null) return false
  const ranges = rangesOf(accept)
  const takesProblems = ranges.includes('application/problem+json') || ranges.includes('*/*')
  return ranges.includes('application/json') && !takesProblems
}
