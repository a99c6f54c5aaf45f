/**
 * The parts of an open database, each begun here: pools, clock, leases, the writers.
 * @module
 */
import { hexOf } from '../../lib/bytes.ts'
import { ApiError } from '../../lib/errors.ts'
import type { SumSealer } from '../contract.ts'
import {
  databaseFullMs,
  foldRowsMin,
  lookupConnections,
  pageConnections,
  receiptHoursMax,
  writeConnections,
  writersPerVault,
} from '../core/limits.ts'
import type { DatabaseAddress } from './address.ts'
import { openDatabaseClock } from './database-clock.ts'
import { ensureLaterTables } from './later-tables.ts'
import { deleteStaleLeases, isAlone, keepLease } from './lease.ts'
import { openPool, type Pool } from './pool.ts'
import { startFolding } from './postgres-fold.ts'
import { makeWritePool } from './replication.ts'
import { firstOrdinalOf, readsOf } from './retried-reads.ts'
import { assertFormat, tablesIn, type Tables } from './schema.ts'
import { defaultTimeouts, type DatabaseTimeouts } from './timeouts.ts'
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
  /** Called when the database has lost what it said was done, or was put back. */
  readonly onLoss?: () => void
  /** Called as `onRefusal` of the lease of those that sweep: without it nothing is swept. */
  readonly onLeaseRefusal?: (state: string | undefined) => void
}

export const holderBytes = 16

/** Opens pools, each for one kind of work, and their reads. */
function openPools(
  { address, elapsedMs }: PostgresOptions,
  tables: Tables,
  bounds: DatabaseTimeouts,
) {
  const openReads = (connections: number): Pool =>
    openPool(address, connections, { ...bounds, statementMs: bounds.readMs })
  const writes = openPool(address, writeConnections, { ...bounds, lockMs: bounds.abandonedMs })
  const pools = {
    lookup: openReads(lookupConnections),
    page: openReads(pageConnections),
    write: makeWritePool(writes, elapsedMs, bounds.connectMs),
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
  const { onLeaseRefusal: onRefusal = () => {} } = options
  const holder = randomBytes(holderBytes)
  const leased = { pool: pools.lookup, tables, holder, elapsedMs, bounds }
  // Each vault's own lease, by which the others know of it.
  const present = keepLease(`open ${hexOf(holder)}`, leased)
  const sweeping = keepLease('sweep', { ...leased, onRefusal })
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
  const { randomBytes, elapsedMs, onLoss = () => {} } = options
  let sealer: SumSealer | undefined
  const writer = {
    pool,
    tables,
    newId: () => randomBytes(holderBytes),
    sealer: () => sealer,
    bounds,
    elapsedMs,
    onLoss,
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
export interface Parts extends Awaited<ReturnType<typeof prepare>> {
  readonly pools: Pools
  readonly tables: Tables
  readonly bounds: DatabaseTimeouts
  readonly leasedWork: ReturnType<typeof startLeasedWork>
  readonly queue: ReturnType<typeof openWriter>
  readonly space: ReturnType<typeof watchSpace>
}

/**
 * Opens all that a store consists of.
 * @throws ApiError `not_found` if there is no vault, `conflict` if it is of another format;
 *   DatabaseError
 */
export async function openParts(options: PostgresOptions): Promise<Parts> {
  const tables = tablesIn(options.address.schema)
  const bounds = { ...defaultTimeouts, ...options.bounds }
  const pools = openPools(options, tables, bounds)
  const prepared = await prepare(options, pools, tables, bounds)
  const leasedWork = startLeasedWork(options, pools, tables, bounds)
  const queue = openWriter(options, pools, tables, bounds)
  const space = watchSpace(options.elapsedMs)
  return { ...prepared, pools, tables, bounds, leasedWork, queue, space }
}
