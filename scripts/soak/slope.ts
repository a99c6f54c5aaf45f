/**
 * Fits a line through a series of samples, to see if something grows.
 *
 * @module
 */

export interface Sample {
  readonly atMs: number
  readonly value: number
}

export interface Trend {
  /** The line at the first and at the last sample. */
  readonly start: number
  readonly end: number
  /** Growth in an hour, in percent of the mean; 0 if the mean is 0. */
  readonly percentPerHour: number
}

const hourMs = 60 * 60 * 1_000

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Least squares. @param samples in the order of time, at least two */
export function fitTrend(samples: readonly Sample[]): Trend {
  const atMs = meanOf(samples.map(sample => sample.atMs))
  const value = meanOf(samples.map(sample => sample.value))
  let both = 0
  let squares = 0
  for (const sample of samples) {
    both += (sample.atMs - atMs) * (sample.value - value)
    squares += (sample.atMs - atMs) ** 2
  }
  const slope = squares === 0 ? 0 : both / squares
  const at = (sample: Sample | undefined): number => value + slope * ((sample?.atMs ?? atMs) - atMs)
  const percentPerHour = value === 0 ? 0 : (slope * hourMs * 100) / value
  return { start: at(samples[0]), end: at(samples.at(-1)), percentPerHour }
}

/** Returns the lowest sample of each window. @param samples in the order of time */
export function lowestOf(samples: readonly Sample[], windowMs: number): Sample[] {
  const windows = Map.groupBy(samples, ({ atMs }) => Math.floor(atMs / windowMs))
  return [...windows.values()].map(window =>
    window.reduce((lowest, sample) => (sample.value < lowest.value ? sample : lowest)),
  )
}
