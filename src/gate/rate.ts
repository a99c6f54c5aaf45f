/**
 * How often one credential may call: a token bucket each, by a clock that always goes on.
 *
 * A call counts as one, and a bulk operation for each of its items. decision: one with more items
 * than a bucket holds may owe the rest, where nothing is owed yet; later calls wait for it.
 * Counted in this process alone; what is counted is bounded, and the least recent credential is
 * forgotten first. Source: contract sections 2 and 14.
 * @module
 */
import { rateBucketsMax } from '../limits.ts'

interface Bucket {
  /** Below 0 is owed. */
  readonly tokens: number
  readonly atMs: number
}

/** Both give the seconds after which to try again; 0 where it is free now, and is counted. */
export interface RateLimit {
  readonly enter: (ordinal: number) => number
  /** What a call that has entered brings beside itself. */
  readonly add: (ordinal: number, count: number) => number
}

function forgetOldest(buckets: Map<number, Bucket>): void {
  const [oldest] = buckets.keys()
  if (oldest !== undefined) buckets.delete(oldest)
}

/** @param perSecond of one credential in a second, at once or spread; `undefined`: any number */
export function openRateLimit(perSecond: number | undefined, elapsedMs: () => number): RateLimit {
  if (perSecond === undefined) return { enter: () => 0, add: () => 0 }
  const buckets = new Map<number, Bucket>()
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
