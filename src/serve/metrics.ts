/**
 * What a serving process tells Prometheus of itself: numbers by names of ours, and nothing that a
 * caller sent or the store holds.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { Gauge, Registry, type Histogram } from 'prom-client'
import type { Seen } from '../deps.ts'
import type { StoreFigures } from '../store/operated.ts'
import type { DatabaseFigures } from '../store/postgres/figures.ts'
import type { MaybeLater } from '../waiting.ts'
import { latencyBucketsSeconds } from '../operation-limits.ts'
import { addDatabaseMetrics } from './database-metrics.ts'
import { addCounter, gaugeAdder, type AddGauge } from './metric-kinds.ts'

interface BackupsTold {
  /** How old the newest is; absent where there is none. */
  readonly ageMs?: number | undefined
  readonly made: number
  readonly failed: number
}

/** What is read when somebody asks. */
export interface Gauges {
  /** When the process began, Unix time. */
  readonly startedMs: number
  readonly requestsInFlight: () => number
  /** Absent where the store is in a database of others. */
  readonly fileBytes: () => number | undefined
  /** Absent while a database of others does not answer. */
  readonly store: () => MaybeLater<StoreFigures | undefined>
  /** Milliseconds since which a row that is due is still there; 0 where none is. Absent as that. */
  readonly sweepLagMs: () => Promise<number | undefined>
  /** Of a store in a database of others. */
  readonly database?: () => DatabaseFigures
  readonly freeBytes: () => number
  /** How many data keys stand, and when the current one was made; 0 is not known. */
  readonly keys: () => { readonly count: number; readonly madeMs: number }
  readonly nowMs: () => number
  /** How far destruction stays behind the clock. */
  readonly clockBehindMs: () => number
  /** Source: `Clock.aheadMs`. */
  readonly clockAheadMs: () => number
  /** Of the backups that are made meanwhile, if any. */
  readonly backups?: () => BackupsTold
}

export interface Metrics {
  /** Counts one answer. */
  readonly observe: (seen: Seen, elapsedMs: number) => void
  /** In the text format of Prometheus, and its media type. */
  readonly print: () => Promise<{ readonly text: string; readonly contentType: string }>
}

const nowhere = 'none'

/** Linux alone tells; elsewhere there is no such line. Source: proc(5). */
function openFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return undefined
  }
}

function residentBytes(): number {
  try {
    const pages = readFileSync('/proc/self/statm', 'latin1').split(' ')[1]
    return Number(pages) * 4_096
  } catch {
    return process.memoryUsage.rss()
  }
}

function addBackups(registry: Registry, { backups }: Gauges): void {
  addCounter(
    registry,
    {
      name: 'coffer_backups_total',
      help: 'backups that this process was to make, by outcome',
      labelNames: ['outcome'] as const,
    },
    function* () {
      if (backups === undefined) return
      const { made, failed } = backups()
      yield [{ outcome: 'made' }, made]
      yield [{ outcome: 'failed' }, failed]
    },
  )
}

function addStoreGauges(add: AddGauge, gauges: Gauges): void {
  add('coffer_store_rows', 'rows given so far, also those that are gone', async () => {
    const figures = await gauges.store()
    return figures === undefined ? undefined : figures.nextOrdinal - 1
  })
  add(
    'coffer_store_tail_rows',
    'rows that are not folded yet',
    async () => (await gauges.store())?.waiting,
  )
  add('coffer_store_file_bytes', 'the database', gauges.fileBytes)
  add(
    'coffer_store_used_bytes',
    'the database without free pages',
    async () => (await gauges.store())?.usedBytes,
  )
  add(
    'coffer_store_commits',
    'commits since the store was made',
    async () => (await gauges.store())?.commits,
  )
  add(
    'coffer_store_writes',
    'writes since the start; a commit has several',
    async () => (await gauges.store())?.writes,
  )
}

function addGauges(registry: Registry, version: string, gauges: Gauges): void {
  const add = gaugeAdder(registry)
  const info = { name: 'coffer_info', help: 'the build', labelNames: ['version'] as const }
  new Gauge({ ...info, registers: [registry] }).set({ version }, 1)
  add(
    'process_start_time_seconds',
    'when the process began, Unix time',
    () => gauges.startedMs / 1_000,
  )
  add('coffer_requests_in_flight', 'requests under way', gauges.requestsInFlight)
  addStoreGauges(add, gauges)
  const lag = 'since when a row that has expired is still there'
  add('coffer_sweep_lag_seconds', lag, async () => {
    const lagMs = await gauges.sweepLagMs()
    return lagMs === undefined ? undefined : lagMs / 1_000
  })
  add('coffer_disk_free_bytes', 'what its disk has left', gauges.freeBytes)
  add('coffer_data_keys', 'data keys, the current one and those before', () => gauges.keys().count)
  add('coffer_data_key_age_seconds', 'age of the current data key', () => {
    const { madeMs } = gauges.keys()
    return madeMs === 0 ? undefined : (gauges.nowMs() - madeMs) / 1_000
  })
  const behind = 'how far destruction stays behind the clock'
  add('coffer_clock_behind_seconds', behind, () => gauges.clockBehindMs() / 1_000)
  const ahead = 'how far the vault is ahead of the clock of its machine'
  add('coffer_clock_ahead_seconds', ahead, () => gauges.clockAheadMs() / 1_000)
  add('process_resident_memory_bytes', 'resident memory', residentBytes)
  add('process_open_fds', 'open files', openFiles)
  add('coffer_backup_age_seconds', 'how old the newest backup is', () => {
    const ageMs = gauges.backups?.().ageMs
    return ageMs === undefined ? undefined : ageMs / 1_000
  })
  addBackups(registry, gauges)
  if (gauges.database !== undefined) addDatabaseMetrics(registry, gauges.database)
  addCounter(
    registry,
    {
      name: 'process_cpu_seconds_total',
      help: 'user and system time of the processor',
      labelNames: [],
    },
    () => {
      const { user, system } = process.cpuUsage()
      return [[{}, (user + system) / 1e6]]
    },
  )
}

/*
 * What is counted of answers: plain numbers, which the library is given when somebody asks. Its own
 * counting digests the labels of each answer anew, which took a sixth of a read.
 */

/** Of one operation. */
interface Counted {
  readonly byStatus: Map<number, number>
  /** Answers by the first bound that they keep within; the last has none. */
  readonly byDuration: number[]
  seconds: number
}

const makeCounted = (): Counted => ({
  byStatus: new Map(),
  byDuration: Array.from({ length: latencyBucketsSeconds.length + 1 }, () => 0),
  seconds: 0,
})

const addOne = <K>(counts: Map<K, number>, key: K): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1)

function addDuration(counted: Counted, seconds: number): void {
  let at = 0
  while (seconds > (latencyBucketsSeconds[at] ?? Infinity)) at += 1
  counted.byDuration[at] = (counted.byDuration[at] ?? 0) + 1
  counted.seconds += seconds
}

const durations = 'coffer_request_duration_seconds'

/** In the form in which the library prints: each bucket has those of the ones before as well. */
function valuesOf(operation: string, { byDuration, seconds }: Counted) {
  let count = 0
  const buckets = byDuration.map((some, at) => {
    count += some
    const le = latencyBucketsSeconds[at] ?? '+Inf'
    return { metricName: `${durations}_bucket`, labels: { operation, le }, value: count }
  })
  const whole = [
    { metricName: `${durations}_sum`, labels: { operation }, value: seconds },
    { metricName: `${durations}_count`, labels: { operation }, value: count },
  ]
  return [...buckets, ...whole]
}

function addAnswers(
  registry: Registry,
  operations: ReadonlyMap<string, Counted>,
  refused: ReadonlyMap<string, number>,
): void {
  addCounter(
    registry,
    {
      name: 'coffer_requests_total',
      help: 'answers, by operation and status',
      labelNames: ['operation', 'status'] as const,
    },
    function* () {
      for (const [operation, { byStatus }] of operations) {
        for (const [status, count] of byStatus) {
          yield [{ operation, status: String(status) }, count]
        }
      }
    },
  )
  addCounter(
    registry,
    {
      name: 'coffer_refusals_total',
      help: 'answers that are errors, by kind',
      labelNames: ['kind'] as const,
    },
    function* () {
      for (const [kind, count] of refused) yield [{ kind }, count]
    },
  )
  const told = {
    name: durations,
    help: 'from the head of a request to its answer',
    type: 'histogram',
    get: async () => ({ ...told, values: [...operations].flatMap(pair => valuesOf(...pair)) }),
  }
  // All that the library asks of a metric that it prints; it can be given no counts of its own.
  registry.registerMetric(told as unknown as Histogram)
}

/** Of names of operations, statuses and kinds of errors alone: there are few of each. */
export function makeMetrics(version: string, gauges: Gauges): Metrics {
  const registry = new Registry()
  const operations = new Map<string, Counted>()
  const refused = new Map<string, number>()
  addAnswers(registry, operations, refused)
  addGauges(registry, version, gauges)
  return {
    observe({ operation = nowhere, status, refusal, startedMs }, elapsedMs) {
      let counted = operations.get(operation)
      if (counted === undefined) operations.set(operation, (counted = makeCounted()))
      addOne(counted.byStatus, status)
      addDuration(counted, (elapsedMs - startedMs) / 1_000)
      if (refusal !== undefined) addOne(refused, refusal)
    },
    print: async () => ({ text: await registry.metrics(), contentType: registry.contentType }),
  }
}
