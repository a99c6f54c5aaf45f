/**
 * Welch's t-test on the times of two kinds of request, to see if they can be distinguished.
 *
 * Below 4.5 they cannot, as in "dude, is my code constant time?" (Reparaz, Balasch, Verbauwhede).
 * @module
 */

export interface Moments {
  readonly count: number
  readonly mean: number
  readonly median: number
  /** Standard deviation of the sample. */
  readonly deviation: number
}

/** Returns the quantile of the samples. */
function quantileOf(samples: Float64Array, share: number): number {
  const sorted = samples.toSorted()
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

export function momentsOf(samples: Float64Array): Moments {
  const count = samples.length
  const mean = samples.reduce((sum, value) => sum + value, 0) / count
  const squares = samples.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return {
    count,
    mean,
    median: quantileOf(samples, 0.5),
    deviation: Math.sqrt(squares / (count - 1)),
  }
}

/** Welch's t: distance of the means in standard errors; positive if `a` takes longer. */
export const welchOf = (a: Moments, b: Moments): number =>
  (a.mean - b.mean) / Math.sqrt(a.deviation ** 2 / a.count + b.deviation ** 2 / b.count)

/** Returns the largest |t| of all pairs whose means differ by at least that much; 0 if none do. */
export const worstOf = (all: readonly Moments[], apartMin = 0): number =>
  Math.max(
    0,
    ...all.flatMap((a, i) =>
      all
        .slice(i + 1)
        .filter(b => Math.abs(a.mean - b.mean) >= apartMin)
        .map(b => Math.abs(welchOf(a, b))),
    ),
  )

/** Drops samples above a bound, below which that share of all samples together lies. */
export function cropAll(all: readonly Float64Array[], share: number): Float64Array[] {
  const together = new Float64Array(all.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const samples of all) {
    together.set(samples, at)
    at += samples.length
  }
  const bound = quantileOf(together, share)
  return all.map(samples => samples.filter(value => value <= bound))
}
