/**
 * The header `Retry-After` of a receiver (RFC 9110 section 10.2.3).
 * @module
 */
import { retryAfterSecondsMax } from '../limits/limits.ts'

const seconds = /^\d{1,15}$/
/** The one form of a date that is still generated (RFC 9110 section 5.6.7). */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Returns whole seconds from 0 to `retryAfterSecondsMax`; `undefined` if the header says nothing
 * that can be followed.
 * @param nowMs Unix milliseconds
 */
export function readRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined
  if (seconds.test(value)) return Math.min(Number(value), retryAfterSecondsMax)
  const atMs = httpDate.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(atMs)) return undefined
  return Math.min(Math.max(Math.ceil((atMs - nowMs) / 1_000), 0), retryAfterSecondsMax)
}
