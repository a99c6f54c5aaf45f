/**
 * How often one credential may call: a token bucket each, by a clock that always goes on.
 *
 * Counted in this process alone; what is counted is bounded, and the least recent credential is
 * forgotten first. Source: contract section 2.
 * @module
 */
import { rateBucketsMax } from '../limits.ts'

interface Bucket {
  readonly tokens: number
  readonly atMs: number
}

function forgetOldest(buckets: Map<number, Bucket>): void {
  const [oldest] = buckets.keys()
  if (oldest !== undefined) buckets.delete(oldest)
}

/**
 * @param perSecond requests of one credential in a second, at once or spread; `undefined`: any
 * @returns whether the credential at that ordinal may call now; one that may is counted
 */
export function openRateLimit(
  perSecond: number | undefined,
  elapsedMs: () => number,
): (ordinal: number) => boolean {
  if (perSecond === undefined) return () => true
  const buckets = new Map<number, Bucket>()
  return ordinal => {
    const atMs = elapsedMs()
    const known = buckets.get(ordinal)
    const gained = known === undefined ? 0 : ((atMs - known.atMs) / 1_000) * perSecond
    const tokens = known === undefined ? perSecond : Math.min(perSecond, known.tokens + gained)
    const isFree = tokens >= 1
    // Set again, it is the most recent one of the map.
    buckets.delete(ordinal)
    buckets.set(ordinal, { tokens: isFree ? tokens - 1 : tokens, atMs })
    if (buckets.size > rateBucketsMax) forgetOldest(buckets)
    return isFree
  }
}
