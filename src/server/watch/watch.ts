/**
 * What is told of a serving process to its operator: numbers, and whether it is well.
 * @module
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { build, version } from '../../lib/version.ts'
import type { Deps, AnswerEvent } from '../../deps.ts'
import { present } from '../../lib/errors.ts'
import { freeSpaceBytesMin } from '../../limits/operation-limits.ts'
import { foldLagMax } from '../../store/core/limits.ts'
import { freeBytesAt } from '../../store/lmdb/write/write-group.ts'
import type { MaybeLater } from '../../lib/waiting.ts'
import { singleFlight } from '../../lib/serial.ts'
import type { App } from '../listen/app.ts'
import type { BackupSchedule } from '../backup/schedule.ts'
import type { Clock } from '../process/clock.ts'
import type { OpenedFolder } from '../folder/data-folder.ts'
import type { Gauges, Metrics } from './metrics.ts'
import { elapsedMs } from '../process/system.ts'
import { failingOf, failsBy, type Checks, type ProcessReport } from './process-report.ts'

/** A vault that is open, as it is looked at. */
export interface Watched {
  readonly opened: OpenedFolder
  readonly deps: Deps
  readonly clock: Clock
  readonly app: App
}

interface WatchedProcess {
  /** `undefined` while the vault is sealed. */
  readonly current: () => Watched | undefined
  /** Whether it was told to end. */
  readonly isStopping: () => boolean
  /** Of the backups that it makes, if any. */
  readonly backups?: BackupSchedule | undefined
  /** Its name, of several. */
  readonly worker?: string | undefined
  /** Unix milliseconds; absent without TLS, and before it listens. */
  readonly certificateUntilMs: () => number | undefined
}

/** An engine of others makes no write wait for its folds. */
function waitingIn({ store, database }: OpenedFolder): number | undefined {
  const figures = database === undefined ? store.figures() : undefined
  return figures === undefined || figures instanceof Promise ? 0 : figures.waiting
}

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
    // Throws where it cannot be read; a failed commit ends the process.
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
  }
}

/**
 * Figures of the store and of what is due; of a database that does not answer there are none, and
 * all else is told all the same: that is when it is asked for.
 */
function askedOf(current: WatchedProcess['current']): Pick<Gauges, 'store' | 'sweepLagMs'> {
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
    /** Asked once for all numbers of one answer. */
    store: singleFlight(() => orAbsent(({ opened }) => opened.store.figures())),
    sweepLagMs: () =>
      orAbsent(async ({ opened, deps }) => {
        const nowMs = deps.settled()
        const [first] = await opened.store.due(nowMs, 1)
        return first?.deadlineMs === undefined ? 0 : nowMs - first.deadlineMs
      }),
  }
}

function keysOf({ opened, deps }: Watched): ReturnType<Gauges['keys']> {
  const { dataKeys } = opened.ring.keyring()
  const { madeMs } = present(dataKeys.at(-1), 'a keyring has a current key')
  return { count: dataKeys.length, ageMs: deps.now() - madeMs }
}

/** In this order: a millisecond may pass between the two, and what is shown is never below 0. */
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
    keys: ofOpen(keysOf),
    clockBehindMs: ofOpen(clockBehindMs),
    clockAheadMs: ofOpen(({ clock }) => clock.aheadMs()),
    database: () => current()?.opened.database?.databaseFigures(),
    certificateUntilMs,
    checks: () =>
      Object.entries(checks).map(([name, check]: [string, () => boolean]) => [
        name,
        failsBy(check),
      ]),
  }
}

/** What a process tells, and what it counts meanwhile, sealed or not. */
export interface Watch extends ProcessReport {
  readonly observe: (seen: AnswerEvent) => void
}

/** What counts is loaded only where somebody asks for it: others start without it. */
export async function makeWatch(watched: WatchedProcess, checks: Checks): Promise<Watch> {
  const { makeMetrics } = await import('./metrics.ts')
  const metrics: Metrics = makeMetrics({ version, build }, gaugesOf(watched, checks), watched)
  return {
    observe: seen => metrics.observe(seen, elapsedMs()),
    failing: () => failingOf(checks),
    isAlive: () => true,
    numbers: async () => [await metrics.numbers()],
  }
}
