/**
 * The metrics of all serving processes at one moment, read as the state of one vault.
 * @module
 */
import { latencyBucketsSeconds } from '../../limits/operation-limits.ts'
import type { HistorySample } from '../../status/schema.ts'
import type { NumberLine, Numbers } from './metric-kinds.ts'

type Answers = HistorySample['answers']
type Levels = HistorySample['levels']

export interface Moment {
  /** Unix milliseconds. */
  readonly atMs: number
  /** By a monotonic clock. */
  readonly elapsedMs: number
}

export interface Reading extends Moment {
  /** Answers since the start, by the first digit of their status. */
  readonly byClass: ReadonlyMap<string, number>
  /** Answers since the start, by the first bucket that holds them; the last has no bound. */
  readonly byDuration: readonly number[]
  readonly linesOf: (name: string) => readonly NumberLine[]
  /** The only line of a metric. */
  readonly valueOf: (name: string) => number | undefined
}

const isBucket = ({ metricName }: NumberLine): boolean => metricName?.endsWith('_bucket') === true

/** The library has each bucket with those before it. */
function durationsIn(lines: readonly NumberLine[]): number[] {
  const bounds = [...latencyBucketsSeconds.map(String), '+Inf']
  const within = bounds.map(bound =>
    lines
      .filter(line => isBucket(line) && String(line.labels['le']) === bound)
      .reduce((sum, { value }) => sum + value, 0),
  )
  return within.map((count, at) => count - (within[at - 1] ?? 0))
}

function classesIn(lines: readonly NumberLine[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { labels, value } of lines) {
    const digit = String(labels['status']).slice(0, 1)
    counts.set(digit, (counts.get(digit) ?? 0) + value)
  }
  return counts
}

export async function readingOf(all: readonly Numbers[], at: Moment): Promise<Reading> {
  // Loaded with the first sample: a start goes without.
  const { mergeNumbers } = await import('./metric-kinds.ts')
  const merged = await mergeNumbers(...all)
  const byName = new Map(merged.map(({ name, values }) => [name, values]))
  const linesOf = (name: string) => byName.get(name) ?? []
  return {
    ...at,
    byClass: classesIn(linesOf('coffer_requests_total')),
    byDuration: durationsIn(linesOf('coffer_request_duration_seconds')),
    linesOf,
    valueOf: name => linesOf(name)[0]?.value,
  }
}

/**
 * Returns the time within which a share of the answers came, in seconds: within its bucket it is
 * taken to grow evenly, as Prometheus does. `undefined` if there were none.
 */
export function quantileOf(byDuration: readonly number[], share: number): number | undefined {
  const wanted = byDuration.reduce((sum, count) => sum + count, 0) * share
  if (wanted === 0) return undefined
  let before = 0
  for (const [at, count] of byDuration.entries()) {
    const [from, to] = [latencyBucketsSeconds[at - 1] ?? 0, latencyBucketsSeconds[at]]
    if (to === undefined) return from
    if (count > 0 && before + count >= wanted)
      return from + ((to - from) * (wanted - before)) / count
    before += count
  }
  return undefined
}

const roundMs = (seconds: number): number => Math.round(seconds * 100_000) / 100

/** @param before counts of an earlier moment, which are taken off */
export function answersIn(now: Reading, before?: Reading): Answers {
  const ofClass = (digits: string): number =>
    [...digits].reduce(
      (sum, digit) => sum + (now.byClass.get(digit) ?? 0) - (before?.byClass.get(digit) ?? 0),
      0,
    )
  const durations = now.byDuration.map((count, at) => count - (before?.byDuration[at] ?? 0))
  const [half, most] = [quantileOf(durations, 0.5), quantileOf(durations, 0.99)]
  return {
    answered: ofClass('123'),
    refused: ofClass('4'),
    failed: ofClass('5'),
    ...(half === undefined ? {} : { p50_ms: roundMs(half) }),
    ...(most === undefined ? {} : { p99_ms: roundMs(most) }),
  }
}

/** Members of the answer, and the metrics that they are. */
const levelNames = [
  ['in_flight', 'coffer_requests_in_flight'],
  ['sweep_lag_seconds', 'coffer_sweep_lag_seconds'],
  ['unfolded_rows', 'coffer_store_tail_rows'],
  ['unsigned_entries', 'coffer_audit_unsigned_entries'],
  ['log_bytes', 'coffer_audit_log_bytes'],
  ['file_bytes', 'coffer_store_file_bytes'],
  ['disk_free_bytes', 'coffer_disk_free_bytes'],
] as const

export function levelsIn({ valueOf }: Reading): Levels {
  const told: Levels = {}
  for (const [member, metric] of levelNames) {
    const value = valueOf(metric)
    if (value !== undefined) told[member] = value
  }
  return told
}
