/**
 * What is told of a serving process to whoever runs it: numbers, and whether it is well.
 * @module
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import type { TcpAddress } from '../config.ts'
import type { Deps, Seen } from '../deps.ts'
import { ApiError } from '../errors.ts'
import { freeSpaceBytesMin } from '../limits.ts'
import { foldLagMax } from '../store/limits.ts'
import type { StoreFigures } from '../store/operated.ts'
import type { MaybeLater } from '../waiting.ts'
import { freeBytesAt } from '../store/lmdb/write/write-group.ts'
import type { App } from './app.ts'
import type { BackupSchedule } from './backups/schedule.ts'
import type { Clock } from './clock.ts'
import type { OpenedFolder } from './data-folder.ts'
import { explainListening, opsFlags } from './listen-failure.ts'
import type { Metrics } from './metrics.ts'
import { startOps, type Checks, type OpsServer } from './ops.ts'
import { elapsedMs, wallMs } from './system.ts'
import type { Unsealer } from './unsealer.ts'

/** Of a vault that is open; counts from the start. */
export interface Watch {
  readonly observe: (seen: Seen) => void
  readonly checks: (app: App) => Omit<Checks, 'sealed'>
  readonly print: Metrics['print']
}

function checksOf(
  { store, database }: OpenedFolder,
  { settings }: Deps,
  clock: Clock,
  app: App,
  free: () => number,
  backups?: BackupSchedule,
): ReturnType<Watch['checks']> {
  // An engine of others makes no write wait for its folds.
  const waiting = (): number => {
    const figures = database === undefined ? store.figures() : undefined
    return figures === undefined || figures instanceof Promise ? 0 : figures.waiting
  }
  return {
    stopping: app.isEnding,
    // Throws where it cannot be read; a failed commit ends the process.
    store: () => database?.isReachable() === false || waiting() === undefined,
    clock: () => database?.clock.isRight() === false,
    clock_ahead: () => clock.aheadMs() > 0,
    disk: () => free() < freeSpaceBytesMin || database?.isFull() === true,
    fold: () => waiting() > foldLagMax * settings.foldRows,
    ...(backups === undefined ? {} : { backup: backups.isOverdue }),
  }
}

/**
 * Figures of the store and of what is due; of a database that does not answer there are none, and
 * all else is told all the same: that is when it is asked for.
 */
function askedOf({ store, database }: OpenedFolder, { settled }: Deps) {
  async function orAbsent<T>(ask: () => MaybeLater<T>): Promise<T | undefined> {
    if (database === undefined) return ask()
    if (!database.isReachable()) return undefined
    try {
      return await ask()
    } catch {
      return undefined
    }
  }
  let asking: Promise<StoreFigures | undefined> | undefined
  return {
    /** Asked once for all numbers of one answer. */
    store: () =>
      (asking ??= orAbsent(() => store.figures()).finally(() => {
        asking = undefined
      })),
    sweepLagMs: () =>
      orAbsent(async () => {
        const nowMs = settled()
        const [first] = await store.due(nowMs, 1)
        return first?.deadlineMs === undefined ? 0 : nowMs - first.deadlineMs
      }),
  }
}

/** What counts is loaded only where somebody asks for it: others start without it. */
export async function makeWatch(
  opened: OpenedFolder,
  deps: Deps,
  clock: Clock,
  backups?: BackupSchedule,
): Promise<Watch> {
  const { makeMetrics } = await import('./metrics.ts')
  const { storeFolder, ring, database } = opened
  const freeBytes = freeBytesAt(storeFolder)
  let underWay = (): number => 0
  const metrics = makeMetrics(version, {
    startedMs: Math.round(wallMs() - elapsedMs()),
    requestsInFlight: () => underWay(),
    fileBytes: () => statSync(join(storeFolder, 'data.mdb'), { throwIfNoEntry: false })?.size,
    ...askedOf(opened, deps),
    freeBytes,
    keys() {
      const { dataKeys } = ring.keyring()
      return { count: dataKeys.length, madeMs: dataKeys.at(-1)?.madeMs ?? 0 }
    },
    nowMs: deps.now,
    clockBehindMs: () => deps.now() - deps.settled(),
    clockAheadMs: clock.aheadMs,
    ...(backups === undefined ? {} : { backups: backups.counts }),
    ...(database === undefined ? {} : { database: database.databaseFigures }),
  })
  return {
    observe: seen => metrics.observe(seen, deps.elapsedMs()),
    checks(app) {
      underWay = app.underWay
      return checksOf(opened, deps, clock, app, freeBytes, backups)
    },
    print: metrics.print,
  }
}

/** What the listener tells of: absent while the vault is sealed. */
export interface Watched {
  readonly watch: Watch
  readonly checks: ReturnType<Watch['checks']>
}

/** @throws CommandFailure when the address cannot be had */
export async function listenOps(
  address: TcpAddress,
  current: () => Watched | undefined,
  takeShare?: Unsealer['takeShare'],
): Promise<OpsServer> {
  const check = (name: keyof Watched['checks']) => () => current()?.checks[name]?.() ?? false
  const checks = {
    sealed: () => current() === undefined,
    stopping: check('stopping'),
    store: check('store'),
    clock: check('clock'),
    clock_ahead: check('clock_ahead'),
    disk: check('disk'),
    fold: check('fold'),
    backup: check('backup'),
  }
  const print = (): ReturnType<Metrics['print']> => {
    const open = current()
    if (open === undefined) throw new ApiError('unavailable', 'the vault is sealed')
    return open.watch.print()
  }
  try {
    return startOps(address, checks, { print }, takeShare)
  } catch (error) {
    throw await explainListening(error, address, opsFlags)
  }
}
