/**
 * Summary statistics.
 * @module
 */

/**
 * Returns the quantile of the values, by the nearest rank.
 * @param share from 0 to 1
 * @throws RangeError without values
 */
export function quantile(values: readonly number[], share: number): number {
  const ordered = values.toSorted((a, b) => a - b)
  const rank = Math.max(1, Math.ceil(share * ordered.length))
  const value = ordered[rank - 1]
  if (value === undefined) throw new RangeError('expected at least one value')
  return value
}

/** For an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const ordered = values.toSorted((a, b) => a - b)
  const upper = ordered[Math.floor(ordered.length / 2)]
  const lower = ordered[Math.ceil(ordered.length / 2) - 1]
  if (upper === undefined || lower === undefined) throw new RangeError('expected a value')
  return (lower + upper) / 2
}

export interface Summary {
  readonly median: number
  readonly low: number
  readonly high: number
}

export const summaryOf = (values: readonly number[]): Summary => ({
  median: median(values),
  low: Math.min(...values),
  high: Math.max(...values),
})

/**
 * Returns the ratio of two sides, round by round: rounds are close in time, so that other work on
 * the machine affects both.
 */
export const ratiosOf = (above: readonly number[], below: readonly number[]): readonly number[] =>
  above.slice(0, below.length).map((value, round) => value / (below[round] ?? Number.NaN))
