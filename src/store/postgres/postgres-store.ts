/**
 * The PostgreSQL engine of the store: tables that many vaults share, on any number of machines.
 *
 * Reads and writes have separate pools. Each waits for a lost database, within a bound; then it is
 * refused, and nothing else happens. Source: docs/many-machines.md.
 * @module
 */
import { hexOf } from '../../lib/bytes.ts'
import { ApiError } from '../../lib/errors.ts'
import type { BeginProgress } from '../../lib/progress.ts'
import type { Row, Store, SumSealer } from '../contract.ts'
import { prepareChanges } from '../core/decide-change.ts'
import {
  databaseFullMs,
  eraOrdinals,
  foldRowsMin,
  lookupConnections,
  pageConnections,
  receiptHoursMax,
  writeConnections,
  writersPerVault,
} from '../core/limits.ts'
import type { LogReads } from '../core/log-walk.ts'
import type { OperatedStore, StoreFigures } from '../operated.ts'
import { checkDue, checkQuery, checkUnique, checkWindow } from '../core/queries.ts'
import type { DatabaseAddress } from './address.ts'
import { defaultTimeouts, type DatabaseTimeouts } from './timeouts.ts'
import { openDatabaseClock, type DatabaseClock } from './database-clock.ts'
import type { DatabaseFigures } from './counters.ts'
import { startFolding } from './postgres-fold.ts'
import { inspectTables } from './inspect-tables.ts'
import { ensureLaterTables } from './later-tables.ts'
import { deleteStaleLeases, isAlone, keepLease } from './lease.ts'
import { makeLookups } from './lookup-batch.ts'
import { readPage } from './query-page.ts'
import { openPool, type Pool } from './pool.ts'
import { firstOrdinalOf, readsOf } from './retried-reads.ts'
import { beginSum, eachRow } from './summed-rows.ts'
import { makeWritePool } from './replication.ts'
import { assertFormat, movedOutMessage, tablesIn, type Tables } from './schema.ts'
import { faultOf, retry } from './database-error.ts'
import { makeWriteQueue } from './write/postgres-commit.ts'

export interface PostgresOptions {
  readonly address: DatabaseAddress
  readonly randomBytes: (count: number) => Uint8Array
  readonly wallMs: () => number
  readonly elapsedMs: () => number
  /** Waiting rows at which a fold starts, and the interval of checks, so that a test sees one. */
  readonly foldRows?: number
  readonly foldCheckMs?: number
  readonly bounds?: Partial<DatabaseTimeouts>
  readonly onSkew?: (skewMs: number, isRight: boolean) => void
  readonly onFoldFailure?: (state: string | undefined) => void
}

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

const holderBytes = 16
const clockIsOff =
  'the clock of this machine is off by more than 5 s from that of the database: set it right'

/** Opens pools, each for one kind of work, and their reads. */
function openPools(
  { address, elapsedMs }: PostgresOptions,
  tables: Tables,
  bounds: DatabaseTimeouts,
) {
  const openReads = (connections: number): Pool =>
    openPool(address, connections, { ...bounds, statementMs: bounds.readMs })
  const pools = {
    lookup: openReads(lookupConnections),
    page: openReads(pageConnections),
    write: makeWritePool(openPool(address, writeConnections, bounds), elapsedMs, bounds.connectMs),
  }
  const retryBounds = { elapsedMs, msMax: bounds.readMs }
  return {
    ...pools,
    retryBounds,
    reads: readsOf(pools, tables, retryBounds),
    async close() {
      await Promise.all(Object.values(pools).map(pool => pool.close().catch(() => {})))
    },
  }
}

type Pools = ReturnType<typeof openPools>

/** Deletes the receipts of vanished vaults; a live vault would make its own anew. */
const staleReceiptsText = ({ receipts }: Tables): string =>
  `DELETE FROM ${receipts} WHERE used_at < clock_timestamp() - interval '${receiptHoursMax} hours'`

/** @throws ApiError, DatabaseError; leaves nothing open */
async function prepare(
  options: PostgresOptions,
  pools: Pools,
  tables: Tables,
  bounds: DatabaseTimeouts,
) {
  const { wallMs, elapsedMs, onSkew = () => {} } = options
  const { lookup: pool, write, reads } = pools
  try {
    await assertFormat(pool, tables)
    await ensureLaterTables(write, tables)
    await write.query(staleReceiptsText(tables))
    await deleteStaleLeases(write, tables)
    const clock = await openDatabaseClock({
      pool,
      writer: write,
      tables,
      wallMs,
      elapsedMs,
      onSkew,
      bounds,
    })
    return { clock, firstOrdinal: await firstOrdinalOf(reads) }
  } catch (error) {
    await pools.close()
    throw error
  }
}

/** Starts the work that one vault does for all. */
function startLeasedWork(
  options: PostgresOptions,
  pools: Pools,
  tables: Tables,
  bounds: DatabaseTimeouts,
) {
  const { randomBytes, elapsedMs, foldRows, foldCheckMs, onFoldFailure = () => {} } = options
  const holder = randomBytes(holderBytes)
  const leased = { pool: pools.lookup, tables, holder, elapsedMs, bounds }
  // Each vault's own lease, by which the others know of it.
  const present = keepLease(`open ${hexOf(holder)}`, leased)
  const sweeping = keepLease('sweep', leased)
  const folding = keepLease('fold', leased)
  const folder = startFolding({
    pool: pools.write,
    tables,
    lease: folding,
    rowsMin: foldRows ?? foldRowsMin,
    ...(foldCheckMs === undefined ? {} : { everyMs: foldCheckMs }),
    onFailure: onFoldFailure,
  })
  return {
    sweeping,
    folding,
    folder,
    isAlone: () => isAlone(leased),
    async close() {
      await folder.close()
      await Promise.all([present, sweeping, folding].map(lease => lease.close()))
    },
  }
}

function openWriter(
  options: PostgresOptions,
  { write: pool }: Pools,
  tables: Tables,
  bounds: DatabaseTimeouts,
) {
  const { randomBytes, elapsedMs } = options
  let sealer: SumSealer | undefined
  const writer = {
    pool,
    tables,
    newId: () => randomBytes(holderBytes),
    sealer: () => sealer,
    bounds,
    elapsedMs,
  }
  const queue = makeWriteQueue(Array.from({ length: writersPerVault }, () => writer))
  const keepSum = (given: SumSealer): void => void (sealer = given)
  return { ...queue, keepSum }
}

/** Remembers when the database last lacked space: it reports to no client how much it has. */
function watchSpace(elapsedMs: () => number) {
  let fullMs = -Infinity
  return {
    isFull: () => elapsedMs() - fullMs < databaseFullMs,
    async watched<T>(write: Promise<T>): Promise<T> {
      try {
        return await write
      } catch (error) {
        if (error instanceof ApiError && error.kind === 'storage_full') fullMs = elapsedMs()
        throw error
      }
    },
  }
}

/** Everything of an open store. */
interface Parts extends Awaited<ReturnType<typeof prepare>> {
  readonly pools: Pools
  readonly tables: Tables
  readonly bounds: DatabaseTimeouts
  readonly leasedWork: ReturnType<typeof startLeasedWork>
  readonly queue: ReturnType<typeof openWriter>
  readonly space: ReturnType<typeof watchSpace>
}

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
      return retry(retryBounds, msLeft => readPage(page, tables, query, window, msLeft))
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
    eachRow: (take: (row: Row) => void) =>
      eachRow(page, tables, take).catch((error: unknown) => {
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
  const tables = tablesIn(options.address.schema)
  const bounds = { ...defaultTimeouts, ...options.bounds }
  const pools = openPools(options, tables, bounds)
  const prepared = await prepare(options, pools, tables, bounds)
  const { clock } = prepared
  const leasedWork = startLeasedWork(options, pools, tables, bounds)
  const queue = openWriter(options, pools, tables, bounds)
  const space = watchSpace(options.elapsedMs)
  const parts: Parts = { ...prepared, pools, tables, bounds, leasedWork, queue, space }
  let closing: Promise<void> | undefined
  const assertOpen = (): void => {
    if (closing !== undefined) throw new ApiError('unavailable', 'the store is closed')
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
