/**
 * The rate limit of each credential: a token bucket, by a monotonic clock.
 *
 * A call counts as one, and a bulk operation for each of its items. decision: a call with more
 * items than a bucket holds may owe the rest, if nothing is owed yet; later calls wait for it.
 * Calls are counted in this process alone, for a bounded number of credentials; the least recent
 * one is forgotten first. Source: contract sections 2 and 14.
 * @module
 */
import { rateBucketsMax } from '../limits/limits.ts'

interface TokenBucket {
  /** Owed if below 0. */
  readonly tokens: number
  readonly atMs: number
}

/** Both count and return 0, or return the seconds after which to try again and count nothing. */
export interface RateLimit {
  readonly enter: (ordinal: number) => number
  /** Counts the items of a call that has entered. */
  readonly add: (ordinal: number, count: number) => number
}

function forgetOldest(buckets: Map<number, TokenBucket>): void {
  const [oldest] = buckets.keys()
  if (oldest !== undefined) buckets.delete(oldest)
}

/** @param perSecond calls of one credential, at once or spread; `undefined`: any number */
export function makeRateLimit(perSecond: number | undefined, elapsedMs: () => number): RateLimit {
  if (perSecond === undefined) return { enter: () => 0, add: () => 0 }
  const buckets = new Map<number, TokenBucket>()
  const take = (ordinal: number, count: number, mayOwe: boolean): number => {
    const atMs = elapsedMs()
    const known = buckets.get(ordinal)
    const gained = known === undefined ? 0 : ((atMs - known.atMs) / 1_000) * perSecond
    const tokens = known === undefined ? perSecond : Math.min(perSecond, known.tokens + gained)
    const isFree = tokens >= count || (mayOwe && tokens >= 0)
    // Set again, it is the most recent one of the map.
    buckets.delete(ordinal)
    buckets.set(ordinal, { tokens: isFree ? tokens - count : tokens, atMs })
    if (buckets.size > rateBucketsMax) forgetOldest(buckets)
    return isFree ? 0 : Math.max(1, Math.ceil((Math.min(count, perSecond) - tokens) / perSecond))
  }
  return {
    enter: ordinal => take(ordinal, 1, false),
    add: (ordinal, count) => (count <= 0 ? 0 : take(ordinal, count, count > perSecond - 1)),
  }
}
