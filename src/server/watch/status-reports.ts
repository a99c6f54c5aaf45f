/**
 * The answers of `/status`, of what the metrics of a serving vault say. One process makes them for
 * all that serve together.
 * @module
 */
import type { Reports } from '../../deps.ts'
import { singleFlight } from '../../lib/serial.ts'
import { build, version } from '../../lib/version.ts'
import { certificateEndsSoonMs, historyEveryMs } from '../../limits/operation-limits.ts'
import { printInstantUtc } from '../../rules/instants.ts'
import type { StatusAnswer, StatusFinding, StatusSetting } from '../../status/schema.ts'
import { describeFailing } from './check-texts.ts'
import { makeHistory, type History } from './status-history.ts'
import { isUnavailable, stateUnknown } from './state-unknown.ts'
import { mayBeSent, type Failing, type ProcessReport } from './process-report.ts'
import { answersIn, levelsIn, readingOf, type Moment, type Reading } from './reading.ts'

/** Facts of a serving vault that are known from its start on. */
export interface ServedFacts extends Pick<StatusAnswer, 'store' | 'workers'> {
  readonly keySource: NonNullable<StatusAnswer['keys']>['source']
  /** Absent if it makes no backups. */
  readonly backupsTo?: NonNullable<StatusAnswer['backups']>['to'] | undefined
  readonly findings: () => readonly StatusFinding[]
  readonly settings: readonly StatusSetting[]
}

export interface ReportParts extends ServedFacts {
  readonly report: Pick<ProcessReport, 'failing' | 'numbers'>
  readonly wallMs: () => number
  readonly elapsedMs: () => number
}

/** @returns an object without the member if there is no value */
const given = <K extends string, V>(name: K, value: V | undefined): { readonly [N in K]?: V } =>
  value === undefined ? {} : ({ [name]: value } as { readonly [N in K]: V })

const countOf = ({ linesOf }: Reading, name: string, outcome: string): number =>
  linesOf(name).find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0

function refusalsIn({ linesOf }: Reading): StatusAnswer['refusals'] {
  return linesOf('coffer_refusals_total')
    .map(({ labels, value }) => ({ kind: String(labels['kind']), count: value }))
    .toSorted((one, other) => other.count - one.count)
}

function backupsIn(now: Reading, { backupsTo: to }: ServedFacts): StatusAnswer['backups'] {
  const every = now.valueOf('coffer_backup_interval_seconds')
  if (to === undefined || every === undefined) return undefined
  return {
    to,
    every_seconds: every,
    ...given('age_seconds', now.valueOf('coffer_backup_age_seconds')),
    made: countOf(now, 'coffer_backups_total', 'made'),
    failed: countOf(now, 'coffer_backups_total', 'failed'),
  }
}

const keysIn = ({ valueOf }: Reading, { keySource }: ServedFacts): StatusAnswer['keys'] => ({
  source: keySource,
  ...given('data_keys', valueOf('coffer_data_keys')),
  ...given('master_key_age_seconds', valueOf('coffer_master_key_age_seconds')),
  ...given('data_key_age_seconds', valueOf('coffer_data_key_age_seconds')),
})

const certificateMsIn = ({ valueOf }: Reading): number | undefined => {
  const seconds = valueOf('coffer_tls_certificate_end_time_seconds')
  return seconds === undefined ? undefined : seconds * 1_000
}

/** Findings that come and go while it serves. */
function findingsNow(now: Reading): StatusFinding[] {
  const found: StatusFinding[] = []
  const warn = (about: string, text: string) => found.push({ level: 'warning', about, text })
  const untilMs = certificateMsIn(now)
  if (untilMs !== undefined && untilMs - now.atMs < certificateEndsSoonMs) {
    const when = untilMs < now.atMs ? 'has expired' : 'expires within 14 days'
    warn('--tls-cert', `the TLS certificate ${when}: renew it, then send SIGHUP`)
  }
  const disabled = now.valueOf('coffer_webhooks_disabled') ?? 0
  if (disabled > 0) {
    warn('webhooks', `${disabled} are disabled, since they failed: mend and enable them`)
  }
  if ((now.valueOf('coffer_data_keys') ?? 1) > 1) {
    const text = 'a rotation is under way: earlier data keys go once no row needs them'
    found.push({ level: 'note', about: 'data keys', text })
  }
  return found
}

function statusOf(
  parts: ReportParts,
  started: Moment,
  now: Reading,
  failing: Failing,
): StatusAnswer {
  const { store, workers, findings } = parts
  const untilMs = certificateMsIn(now)
  return {
    version,
    build,
    store,
    ...given('workers', workers),
    started_at: printInstantUtc(started.atMs),
    serving_seconds: Math.floor((now.elapsedMs - started.elapsedMs) / 1_000),
    is_ready: mayBeSent(failing),
    failing: describeFailing(failing),
    answers: answersIn(now),
    ...given('refusals', refusalsIn(now)),
    levels: levelsIn(now),
    ...given('log_budget_bytes', now.valueOf('coffer_audit_log_budget_bytes')),
    ...given('disk_bytes', now.valueOf('coffer_disk_bytes')),
    ...given('rows_given', now.valueOf('coffer_store_rows')),
    ...given('keys', keysIn(now, parts)),
    ...given('backups', backupsIn(now, parts)),
    ...given('certificate_ends_at', untilMs === undefined ? undefined : printInstantUtc(untilMs)),
    findings: [...findingsNow(now), ...findings()],
  }
}

/** Counts of nobody: a vault begins without any answer. */
const emptyReading = (at: Moment): Reading => ({
  ...at,
  byClass: new Map(),
  byDuration: [],
  linesOf: () => [],
  valueOf: () => undefined,
})

export interface RunningReports extends Reports {
  readonly stop: () => void
}

/** Takes a sample every `historyEveryMs`, the first of them that long after the start. */
export function startReports(parts: ReportParts): RunningReports {
  const { report, wallMs, elapsedMs, settings } = parts
  const moment = (): Moment => ({ atMs: wallMs(), elapsedMs: elapsedMs() })
  const started = moment()
  const history: History = makeHistory(emptyReading(started))
  const read = singleFlight(async () => readingOf(await report.numbers(), moment()))
  // A store that cannot be read is no fault of the program; what else fails is one.
  const orUnavailable = <T>(told: Promise<T>): Promise<T> =>
    told.catch((error: unknown) => {
      throw isUnavailable(error) ? stateUnknown() : error
    })
  const timer = setInterval(() => {
    // The next sample also tells of the time of one that failed.
    read().then(history.add, () => {})
  }, historyEveryMs).unref()
  return {
    async status() {
      // At once: of a worker that is silent both are waited for.
      const [now, failing] = await orUnavailable(Promise.all([read(), report.failing()]))
      return statusOf(parts, started, now, failing)
    },
    history: async () => history.until(await orUnavailable(read())),
    settings: async () => ({ settings }),
    stop: () => clearInterval(timer),
  }
}
