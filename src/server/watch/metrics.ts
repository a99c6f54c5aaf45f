/**
 * Metrics of a serving process for Prometheus: numbers with fixed names, and nothing that a caller
 * sent or the store holds.
 * @module
 */
import { Gauge, Registry, type Histogram } from 'prom-client'
import type { StoreFigures } from '../../store/operated.ts'
import type { DatabaseFigures } from '../../store/postgres/counters.ts'
import type { MaybeLater } from '../../lib/waiting.ts'
import { latencyBucketsSeconds } from '../../limits/operation-limits.ts'
import { addBackupMetrics } from '../backup/backup-metrics.ts'
import type { BackupSchedule } from '../backup/schedule.ts'
import type { DeliveryFigures } from '../../webhooks/delivery-figures.ts'
import { addDeliveryMetrics } from './delivery-metrics.ts'
import type { AnswerCounters, Counted } from './answer-counts.ts'
import { addDatabaseMetrics } from './database-metrics.ts'
import {
  addCounter,
  addLabelledGauge,
  gaugeAdder,
  numbersOf,
  secondsOf,
  type AddGauge,
  type Lines,
  type Numbers,
} from './metric-kinds.ts'
import { makeProcessMetrics } from './process-metrics.ts'

/** Values that are read on request; those of store and keys are absent while sealed. */
export interface Gauges {
  readonly requestsInFlight: () => number | undefined
  /** Absent if the store is in a database. */
  readonly fileBytes: () => number | undefined
  /** Absent while the database does not answer. */
  readonly store: () => MaybeLater<StoreFigures | undefined>
  /** Milliseconds that the oldest due row has waited; 0 if none is due. Absent like `store`. */
  readonly sweepLagMs: () => MaybeLater<number | undefined>
  /** Present if the store is in a database. */
  readonly database: () => DatabaseFigures | undefined
  readonly freeBytes: () => number | undefined
  /** Size of that disk, also of what others have on it. */
  readonly diskBytes: () => number | undefined
  /** Number of data keys, and age of the current one; absent if unknown. */
  readonly keys: () =>
    | {
        readonly count: number
        readonly ageMs: number
        readonly masterAgeMs: number | undefined
      }
    | undefined
  /** Delay of destruction behind the clock. */
  readonly clockBehindMs: () => number | undefined
  /** Source: `Clock.aheadMs`. */
  readonly clockAheadMs: () => number | undefined
  /** End of the server certificate, Unix time; absent without TLS. */
  readonly certificateUntilMs: () => number | undefined
  /** Checkpoints that witnesses were to cosign, by outcome; absent if there are no witnesses. */
  readonly witnessed: () => Readonly<Record<string, number>> | undefined
  /** Checkpoints that were to be kept elsewhere; absent if none are. */
  readonly checkpointCopies: () => { readonly kept: number; readonly failed: number } | undefined
  /** Absent while the vault is sealed, and for a log that nothing bounds. */
  readonly logBudgetBytes: () => number | undefined
  /** Entries that no checkpoint covers yet; absent like `store`, and where nothing is signed. */
  readonly logUnsigned: () => MaybeLater<number | undefined>
  /** Absent while the vault is sealed. */
  readonly deliveries: () => DeliveryFigures | undefined
  /** Names of all checks, each with true if it fails. */
  readonly checks: () => Iterable<readonly [name: string, fails: boolean]>
}

/** Source: build.ts. */
interface Build {
  readonly version: string
  readonly build: string
}

export interface Metrics {
  readonly numbers: () => Promise<Numbers>
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
}

/** Writes to the store, which each process counts for itself. */
function addWrites(registry: Registry, { store }: Gauges): void {
  const help = 'writes, of which a commit has several'
  const described = { name: 'coffer_store_writes_total', help, labelNames: [] }
  addCounter(registry, described, async () => {
    const figures = await store()
    return figures === undefined ? [] : [[{}, figures.writes]]
  })
}

function addCheckpointCopies(registry: Registry, { checkpointCopies }: Gauges): void {
  const help = 'checkpoints of the audit log that were to be kept elsewhere, by outcome'
  const labelNames = ['outcome'] as const
  addCounter(registry, { name: 'coffer_audit_copies_total', help, labelNames }, () => {
    const counts = checkpointCopies()
    if (counts === undefined) return []
    return [
      [{ outcome: 'kept' }, counts.kept],
      [{ outcome: 'failed' }, counts.failed],
    ]
  })
}

function addLogGauges(add: AddGauge, { store, logBudgetBytes, logUnsigned }: Gauges): void {
  add('coffer_audit_log_bytes', 'what the audit log takes', async () => (await store())?.logBytes)
  add('coffer_audit_log_budget_bytes', 'what it may take', logBudgetBytes)
  add('coffer_audit_unsigned_entries', 'entries that no checkpoint covers yet', logUnsigned)
}

function addWitnessed(registry: Registry, { witnessed }: Gauges): void {
  const help = 'checkpoints of the audit log that witnesses were to cosign, by outcome'
  const labelNames = ['outcome'] as const
  addCounter(registry, { name: 'coffer_audit_witness_total', help, labelNames }, () =>
    Object.entries(witnessed() ?? {}).map(([outcome, count]) => [{ outcome }, count]),
  )
}

function addClockGauges(add: AddGauge, gauges: Gauges): void {
  add('coffer_clock_behind_seconds', 'how far destruction stays behind the clock', () =>
    secondsOf(gauges.clockBehindMs()),
  )
  add('coffer_clock_ahead_seconds', 'how far the vault is ahead of the clock of its machine', () =>
    secondsOf(gauges.clockAheadMs()),
  )
}

function addGauges(registry: Registry, build: Build, gauges: Gauges): void {
  const add = gaugeAdder(registry)
  const info = { name: 'coffer_info', help: 'the build', labelNames: ['version', 'build'] as const }
  new Gauge({ ...info, aggregator: 'max', registers: [registry] }).set({ ...build }, 1)
  add('coffer_requests_in_flight', 'requests under way', gauges.requestsInFlight, 'sum')
  addStoreGauges(add, gauges)
  addWrites(registry, gauges)
  addLogGauges(add, gauges)
  addCheckpointCopies(registry, gauges)
  addDeliveryMetrics(registry, gauges.deliveries)
  addWitnessed(registry, gauges)
  add('coffer_sweep_lag_seconds', 'since when a row that has expired is still there', async () =>
    secondsOf(await gauges.sweepLagMs()),
  )
  add('coffer_disk_free_bytes', 'what its disk has left', gauges.freeBytes, 'min')
  add('coffer_disk_bytes', 'how large its disk is', gauges.diskBytes, 'min')
  add('coffer_data_keys', 'data keys, the current one and those before', () => gauges.keys()?.count)
  add('coffer_data_key_age_seconds', 'age of the current data key', () =>
    secondsOf(gauges.keys()?.ageMs),
  )
  add('coffer_master_key_age_seconds', 'since when the master key counts', () =>
    secondsOf(gauges.keys()?.masterAgeMs),
  )
  addClockGauges(add, gauges)
  add(
    'coffer_tls_certificate_end_time_seconds',
    'when the certificate of the server ends, Unix time',
    () => secondsOf(gauges.certificateUntilMs()),
    'min',
  )
  addChecks(registry, gauges.checks)
  addDatabaseMetrics(registry, gauges.database)
}

const durations = 'coffer_request_duration_seconds'

/** Values in the library's form: each bucket also counts the answers of those before it. */
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
  { operations, refused }: Pick<AnswerCounters, 'operations' | 'refused'>,
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
    aggregator: 'sum',
    get: async () => ({ ...told, values: [...operations].flatMap(pair => valuesOf(...pair)) }),
  }
  // The library needs only this to print a metric; it accepts no counts from outside.
  registry.registerMetric(told as unknown as Histogram)
}

/** Adds the checks of `/readyz`: 1 if a check fails. */
export function addChecks(registry: Registry, read: Gauges['checks']): void {
  const help = '1 where the check of this name fails, of those of /readyz'
  const labelNames = ['check'] as const
  const described = { name: 'coffer_check_failed', help, labelNames, aggregator: 'max' } as const
  addLabelledGauge(registry, described, function* (): Lines<'check'> {
    for (const [check, fails] of read()) yield [{ check }, Number(fails)]
  })
}

interface OfProcess {
  /** Name of the worker, if there are several. */
  readonly worker?: string | undefined
  /** Backups that this process makes. */
  readonly backups?: BackupSchedule | undefined
}

/** Labels are only names of operations, statuses and kinds of errors: there are few of each. */
export function makeMetrics(
  build: Build,
  gauges: Gauges,
  counts: Pick<AnswerCounters, 'operations' | 'refused'>,
  { worker, backups }: OfProcess,
): Metrics {
  const registry = new Registry()
  if (backups !== undefined) addBackupMetrics(registry, backups)
  addAnswers(registry, counts)
  addGauges(registry, build, gauges)
  const registries = [registry, makeProcessMetrics(worker)]
  return { numbers: () => numbersOf(registries) }
}
