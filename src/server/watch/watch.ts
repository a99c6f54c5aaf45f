/**
 * Reports of a serving process to its operator: metrics and checks.
 * @module
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { countUnsigned } from '../../audit/unsigned.ts'
import { build, version } from '../../lib/version.ts'
import type { Deps, AnswerEvent } from '../../deps.ts'
import { present } from '../../lib/errors.ts'
import { freeSpaceBytesMin } from '../../limits/operation-limits.ts'
import { foldLagMax } from '../../store/core/limits.ts'
import { freeBytesAt } from '../../store/lmdb/write/disk-reserve.ts'
import { diskBytesAt } from '../folder/disk-space.ts'
import type { MaybeLater } from '../../lib/waiting.ts'
import { singleFlight } from '../../lib/serial.ts'
import type { StoreFigures } from '../../store/operated.ts'
import type { App } from '../listen/app.ts'
import type { CheckpointCopies } from '../backup/checkpoint-copies.ts'
import type { WitnessedLog } from '../witness/ask-witnesses.ts'
import type { BackupSchedule } from '../backup/schedule.ts'
import type { Clock } from '../process/clock.ts'
import type { OpenedFolder } from '../folder/data-folder.ts'
import { makeAnswerCounters } from './answer-counts.ts'
import type { Gauges, Metrics } from './metrics.ts'
import { elapsedMs } from '../process/system.ts'
import { sweepLagMs } from '../../vault/sweep.ts'
import type { DeliveryFigures } from '../../webhooks/delivery-figures.ts'
import { isLogNearlyFull, logBudgetBytes } from './log-budget.ts'
import { failingOf, failsBy, type Checks, type ProcessReport } from './process-report.ts'

/** Parts of an open vault that are watched. */
export interface Watched {
  readonly opened: OpenedFolder
  readonly deps: Deps
  readonly clock: Clock
  readonly app: App
  readonly deliveries: () => DeliveryFigures
  /** Copies of checkpoints that this process makes. */
  readonly copies?: CheckpointCopies | undefined
  readonly witnessed?: WitnessedLog | undefined
}

interface WatchedProcess {
  /** `undefined` while the vault is sealed. */
  readonly current: () => Watched | undefined
  /** True once the process was told to end. */
  readonly isStopping: () => boolean
  /** Backups that this process makes. */
  readonly backups?: BackupSchedule | undefined
  /** Name of the worker, if there are several. */
  readonly worker?: string | undefined
  /** Unix milliseconds; absent without TLS, and before it listens. */
  readonly certificateUntilMs: () => number | undefined
}

/** Figures that are there at once; absent with a database, which is asked for them. */
function figuresIn({ store, database }: OpenedFolder): StoreFigures | undefined {
  const figures = database === undefined ? store.figures() : undefined
  return figures instanceof Promise ? undefined : figures
}

/** With a database, writes do not wait for folds. */
const waitingIn = (opened: OpenedFolder): number | undefined =>
  opened.database === undefined ? figuresIn(opened)?.waiting : 0

const logBudgetOf = ({ opened, deps }: Watched): number | undefined =>
  logBudgetBytes(deps.settings, opened.database !== undefined)

const freeBytesOf = ({ storeFolder }: OpenedFolder): number => freeBytesAt(storeFolder)()

export function checksOf({
  current,
  isStopping,
  backups,
}: Omit<WatchedProcess, 'certificateUntilMs'>): Checks {
  const ofOpen = (fails: (open: Watched) => boolean) => (): boolean => {
    const open = current()
    return open !== undefined && fails(open)
  }
  return {
    sealed: () => current() === undefined,
    stopping: () => isStopping() || ofOpen(({ app }) => app.isEnding())(),
    // Throws if the store cannot be read; a failed commit ends the process.
    store: ofOpen(
      ({ opened }) => opened.database?.isReachable() === false || waitingIn(opened) === undefined,
    ),
    clock: ofOpen(({ opened }) => opened.database?.clock.isRight() === false),
    clock_ahead: ofOpen(({ clock }) => clock.aheadMs() > 0),
    disk: ofOpen(
      ({ opened }) => freeBytesOf(opened) < freeSpaceBytesMin || opened.database?.isFull() === true,
    ),
    fold: ofOpen(
      ({ opened, deps }) => (waitingIn(opened) ?? 0) > foldLagMax * deps.settings.foldRows,
    ),
    backup: () => backups?.isOverdue() === true,
    audit_log: ofOpen(open =>
      isLogNearlyFull(figuresIn(open.opened)?.logBytes ?? 0, logBudgetOf(open)),
    ),
  }
}

/**
 * Figures of the store, of due rows and of the log. They are absent if a database does not answer;
 * everything else is still reported, as it is needed most then.
 */
function askedOf(
  current: WatchedProcess['current'],
): Pick<Gauges, 'store' | 'sweepLagMs' | 'logUnsigned'> {
  async function orAbsent<T>(ask: (open: Watched) => MaybeLater<T>): Promise<T | undefined> {
    const open = current()
    if (open === undefined) return undefined
    const { database } = open.opened
    if (database === undefined) return ask(open)
    if (!database.isReachable()) return undefined
    try {
      return await ask(open)
    } catch {
      return undefined
    }
  }
  return {
    /** Read once for all numbers of one answer. */
    store: singleFlight(() => orAbsent(({ opened }) => opened.store.figures())),
    sweepLagMs: () =>
      orAbsent(({ opened, deps }) => sweepLagMs({ store: opened.store, settled: deps.settled })),
    logUnsigned: () => orAbsent(({ opened }) => countUnsigned(opened.store)),
  }
}

function keysOf({ opened, deps }: Watched): ReturnType<Gauges['keys']> {
  const { dataKeys } = opened.keyring.current()
  const { madeMs } = present(dataKeys.at(-1), 'a keyring has a current key')
  const masterMs = opened.keyring.masterSinceMs()
  return {
    count: dataKeys.length,
    ageMs: deps.now() - madeMs,
    masterAgeMs: masterMs === undefined ? undefined : deps.now() - masterMs,
  }
}

/** The order matters: time may pass between the two, and the difference must not be negative. */
function clockBehindMs({ deps }: Watched): number {
  const settledMs = deps.settled()
  return deps.now() - settledMs
}

function gaugesOf({ current, certificateUntilMs }: WatchedProcess, checks: Checks): Gauges {
  const ofOpen =
    <T>(read: (open: Watched) => T) =>
    (): T | undefined => {
      const open = current()
      return open && read(open)
    }
  const fileBytes = ({ opened }: Watched): number | undefined =>
    statSync(join(opened.storeFolder, 'data.mdb'), { throwIfNoEntry: false })?.size
  return {
    requestsInFlight: () => current()?.app.underWay() ?? 0,
    fileBytes: ofOpen(fileBytes),
    ...askedOf(current),
    freeBytes: ofOpen(({ opened }) => freeBytesOf(opened)),
    diskBytes: ofOpen(({ opened }) => diskBytesAt(opened.storeFolder)),
    logBudgetBytes: ofOpen(logBudgetOf),
    deliveries: () => current()?.deliveries(),
    keys: ofOpen(keysOf),
    clockBehindMs: ofOpen(clockBehindMs),
    clockAheadMs: ofOpen(({ clock }) => clock.aheadMs()),
    database: () => current()?.opened.database?.databaseFigures(),
    certificateUntilMs,
    witnessed: () => current()?.witnessed?.counts(),
    checkpointCopies: () => current()?.copies?.counts(),
    checks: () =>
      Object.entries(checks).map(([name, check]: [string, () => boolean]) => [
        name,
        failsBy(check),
      ]),
  }
}

/** Reports of a process, and its counting of answers, sealed or not. */
export interface Watch extends ProcessReport {
  readonly observe: (seen: AnswerEvent) => void
}

/** Loads the metrics with the first question for them: a start goes without. */
export function makeWatch(watched: WatchedProcess, checks: Checks): Watch {
  const counts = makeAnswerCounters()
  let loading: Promise<Metrics> | undefined
  const load = async (): Promise<Metrics> => {
    const { makeMetrics } = await import('./metrics.ts')
    return makeMetrics({ version, build }, gaugesOf(watched, checks), counts, watched)
  }
  return {
    observe: seen => counts.observe(seen, elapsedMs()),
    failing: () => failingOf(checks),
    isAlive: () => true,
    numbers: async () => [await (await (loading ??= load())).numbers()],
  }
}
