/**
 * The PostgreSQL engine of the store: tables that many vaults share, on any number of machines.
 *
 * Reads and writes have separate pools. Each waits for a lost database, within a bound; then it is
 * refused, and nothing else happens. Source: docs/many-machines.md.
 * @module
 */
import { ApiError } from '../../lib/errors.ts'
import type { BeginProgress } from '../../lib/progress.ts'
import { StoreClosed, type Store, type SumSealer } from '../contract.ts'
import { makeKeptExpired } from '../core/kept-expired.ts'
import { databaseUnsettledMs, eraOrdinals } from '../core/limits.ts'
import type { LogReads } from '../core/log-walk.ts'
import { prepareChanges } from '../core/prepare-change.ts'
import { checkDue, checkQuery, checkUnique, checkWindow } from '../core/queries.ts'
import type { OperatedStore, StoreFigures } from '../operated.ts'
import type { DatabaseFigures } from './counters.ts'
import type { DatabaseClock } from './database-clock.ts'
import { faultOf, retry } from './database-error.ts'
import { inspectTables } from './inspect-tables.ts'
import { makeLookups } from './lookup-batch.ts'
import { holderBytes, openParts, type Parts, type PostgresOptions } from './open-parts.ts'
import { readPage } from './query-page.ts'
import { movedOutMessage } from './schema.ts'
import { beginSum, eachRow } from './summed-rows.ts'

export interface PostgresStore extends OperatedStore {
  readonly clock: DatabaseClock
  /** True if this vault sweeps for all. */
  readonly isSweeper: () => boolean
  /** True if no other process has it open, or its lease has expired. @throws DatabaseError */
  readonly isAlone: () => Promise<boolean>
  /**
   * Begins the sum over rows of which no writer keeps a part. Only an older coffer writes without.
   * @throws ApiError `storage_corrupt` if a part is not one of this vault
   */
  readonly beginSum: (sealer: SumSealer) => Promise<void>
  /** True if the database answered recently, and takes writes. */
  readonly isReachable: () => boolean
  /** True if it lacked space for a write within `databaseFullMs`. */
  readonly isFull: () => boolean
  /** Figures of this process, for metrics: queries no database. */
  readonly databaseFigures: () => DatabaseFigures
}

const clockIsOff =
  'the clock of this machine is off by more than 5 s from that of the database: set it right'

/** The reads of the log. */
const logOf = (reads: LogReads, assertRight: () => void): LogReads => ({
  async logRange() {
    assertRight()
    return reads.logRange()
  },
  async bundles(range, limit) {
    assertRight()
    return reads.bundles(range, limit)
  },
  async derived(from, to, limit) {
    assertRight()
    return reads.derived(from, to, limit)
  },
})

/** The interface for features. */
function storeOf(
  { pools, tables, clock, queue, space, firstOrdinal, bounds }: Parts,
  assertOpen: () => void,
) {
  const { reads, page, retryBounds } = pools
  const { elapsedMs } = retryBounds
  const lookups = makeLookups(tables, { ask: reads.lookup, firstOrdinal, elapsedMs, bounds })
  const expired = makeKeptExpired(databaseUnsettledMs)
  let highest = firstOrdinal
  const noteOrdinal = (ordinal: number): void => void (highest = Math.max(highest, ordinal))
  /** Otherwise the vaults would disagree about which rows are expired. */
  const assertRight = (): void => {
    assertOpen()
    if (clock.hasMovedOut()) throw new ApiError('unavailable', movedOutMessage)
    if (!clock.isRight()) throw new ApiError('unavailable', clockIsOff)
  }
  const store: Omit<Store, 'close'> = {
    async find(unique) {
      checkUnique(unique)
      assertRight()
      const row = await lookups.find(unique)
      if (row !== undefined) noteOrdinal(row.ordinal)
      return row
    },
    async glance(unique, parts) {
      checkUnique(unique)
      assertRight()
      const row = await lookups.glance(unique, parts)
      if (row !== undefined) noteOrdinal(row.ordinal)
      return row
    },
    async page(query, window) {
      checkQuery(query)
      checkWindow(window)
      assertRight()
      return retry(retryBounds, msLeft => readPage(page, tables, query, window, msLeft, expired))
    },
    async write(changes) {
      assertRight()
      const outcome = await space.watched(queue.submit(prepareChanges(changes)))
      if (outcome.ok) outcome.ordinals.forEach(noteOrdinal)
      return outcome
    },
    async rowsFrom(ordinal, limit) {
      assertRight()
      return (await reads.rowsFrom(ordinal, limit)).rows
    },
    async due(nowMs, limit) {
      checkDue(nowMs, limit)
      assertRight()
      return reads.due(nowMs, limit)
    },
    async generation(isPatient) {
      assertRight()
      return lookups.generation(isPatient)
    },
    ...logOf(reads, assertRight),
    keepSum: queue.keepSum,
    era: () => Math.floor(highest / eraOrdinals) % 2 ** 32,
  }
  return store
}

/** The operations for operators. */
function operationsOf({ pools, tables, queue }: Parts) {
  const { reads, page } = pools
  return {
    integrity: (progress?: BeginProgress) =>
      inspectTables(page, tables, progress).catch((error: unknown) => {
        throw faultOf(error)
      }),
    // The files of a database are out of reach.
    scrub: async () => undefined,
    async figures(): Promise<StoreFigures> {
      const [last, bytes, waiting, logBytes] = await reads.figures()
      return {
        writes: queue.writes(),
        usedBytes: Number(bytes),
        logBytes: Number(logBytes),
        nextOrdinal: Number(last) + 1,
        waiting: Number(waiting),
      }
    },
    eachRow: (...takers: Parameters<OperatedStore['eachRow']>) =>
      eachRow(page, tables, ...takers).catch((error: unknown) => {
        throw faultOf(error)
      }),
  }
}

const databaseFiguresOf = ({ pools, queue, leasedWork, clock }: Parts): DatabaseFigures => ({
  pools: {
    // As the metrics name it.
    look: pools.lookup.figures(),
    page: pools.page.figures(),
    write: pools.write.figures(),
  },
  ...queue.figures(),
  ...leasedWork.folder.figures(),
  leases: { sweep: leasedWork.sweeping.isHeld(), fold: leasedWork.folding.isHeld() },
  skewMs: clock.skewMs(),
  silentMs: clock.silentMs(),
})

/**
 * Opens the store of a database.
 * @throws ApiError `not_found` if there is no vault, `conflict` if it is of another format;
 *   DatabaseError
 */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const parts = await openParts(options)
  const { pools, tables, clock, leasedWork, queue, space } = parts
  let closing: Promise<void> | undefined
  const assertOpen = (): void => {
    if (closing !== undefined) throw new StoreClosed()
  }
  async function close(): Promise<void> {
    await queue.close()
    await Promise.all([leasedWork.close(), clock.close()])
    await pools.close()
  }
  return {
    ...storeOf(parts, assertOpen),
    ...operationsOf(parts),
    clock,
    isSweeper: () => leasedWork.sweeping.isHeld() && clock.isRight() && !clock.hasMovedOut(),
    isAlone: leasedWork.isAlone,
    beginSum: sealer =>
      beginSum(pools.write, tables, sealer, options.randomBytes(holderBytes)).catch(
        (error: unknown) => {
          throw faultOf(error)
        },
      ),
    isReachable: clock.isAnswered,
    isFull: space.isFull,
    databaseFigures: () => databaseFiguresOf(parts),
    close: () => (closing ??= close()),
  }
}
