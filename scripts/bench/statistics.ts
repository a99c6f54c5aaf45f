/**
 * The few numbers that stand for many.
 * @module
 */

/**
 * The value below which that share of the values lies, by the nearest rank.
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

/** Of an even number of values the middle between the two in the middle. */
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
 * What one side has over the other, round by round: rounds lie next to each other in time, so that
 * what else the machine does falls on both.
 */
export const ratiosOf = (above: readonly number[], below: readonly number[]): readonly number[] =>
  above.slice(0, below.length).map((value, round) => value / (below[round] ?? Number.NaN))
