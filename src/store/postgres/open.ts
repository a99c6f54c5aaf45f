/**
 * The PostgreSQL engine of the store: tables that many vaults share, on any number of machines.
 *
 * Reads and writes go by pools of their own. Each waits for a database that is gone, within a bound;
 * then it is refused, and nothing else happens.
 * Source: docs/many-machines.md.
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import { ApiError } from '../../errors.ts'
import type { Progress } from '../../progress.ts'
import type { Row } from '../contract.ts'
import { prepareChanges } from '../decide.ts'
import {
  databaseRetryMsMax,
  databaseRetryMsMin,
  eraOrdinals,
  foldRowsMin,
  inspectRows,
  lookConnections,
  pageConnections,
  writeConnections,
  writeLanes,
} from '../limits.ts'
import type { OperatedStore, StoreFigures } from '../operated.ts'
import { checkDue, checkQuery, checkUnique, checkWindow } from '../queries.ts'
import { decodeRow } from '../row-format.ts'
import type { DatabaseAddress } from './address.ts'
import { defaultBounds, type Bounds } from './bounds.ts'
import { openDatabaseClock, type DatabaseClock } from './clock.ts'
import { fillingFormat } from './fill.ts'
import { startFolding } from './fold.ts'
import { inspectTables } from './inspect.ts'
import { keepLease } from './lease.ts'
import { makeLooker } from './look.ts'
import { readPage } from './page.ts'
import { openPool, type Cells, type Parameter, type Pool } from './pool.ts'
import { databaseFormat, readFormat, tablesIn, type Tables } from './schema.ts'
import { faultOf, troubleOf } from './trouble.ts'
import { makeWriteQueue } from './write/commit.ts'

export interface PostgresOptions {
  readonly address: DatabaseAddress
  readonly randomBytes: (count: number) => Uint8Array
  readonly wallMs: () => number
  readonly elapsedMs: () => number
  /** How many rows wait before they are folded, and how often is looked, so that a test sees it. */
  readonly foldRows?: number
  readonly foldLookMs?: number
  readonly bounds?: Partial<Bounds>
  readonly onSkew?: (skewMs: number, isRight: boolean) => void
  readonly onFoldTrouble?: (state: string | undefined) => void
}

export interface PostgresStore extends OperatedStore {
  readonly clock: DatabaseClock
  /** Whether this vault sweeps for all. */
  readonly isSweeper: () => boolean
  /** Whether the database has answered lately, and takes writes. */
  readonly isReachable: () => boolean
}

const holderBytes = 16
const clockIsOff = 'the clock of this machine is not that of the database'

/** The same once more, while nobody answers, within a bound. */
async function persist<T>(msMax: number, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + msMax
  for (let waitMs = databaseRetryMsMin; ; waitMs = Math.min(2 * waitMs, databaseRetryMsMax)) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ApiError) throw error
      const { kind } = troubleOf(error)
      const isPassing = kind === 'lost' || kind === 'again'
      if (!isPassing || performance.now() + waitMs > until) throw faultOf(error)
    }
    await setTimeout(waitMs)
  }
}

const rowsIn = (cells: readonly Cells[]): Row[] =>
  cells.flatMap(([ordinal, value]) => {
    try {
      return value instanceof Uint8Array ? [decodeRow(value, Number(ordinal))] : []
    } catch {
      // What is no row is passed over: `integrity` names it.
      return []
    }
  })

/** @throws ApiError `storage_corrupt`, `unavailable` */
async function assertFormat(pool: Pool, tables: Tables): Promise<void> {
  const format = await readFormat(pool, tables)
  if (format === undefined) throw new ApiError('not_found', 'the database has no vault')
  if (format === fillingFormat) throw new ApiError('conflict', 'a vault is being moved there')
  if (format > databaseFormat) throw new ApiError('conflict', 'the tables are of a newer coffer')
  if (format !== databaseFormat) throw new ApiError('conflict', 'the tables are of an older coffer')
}

function readsOf(
  pools: { readonly look: Pool; readonly page: Pool },
  tables: Tables,
  { readMs }: Bounds,
) {
  const { rows, ordinals } = tables
  const ask = (pool: Pool, text: string, parameters: readonly Parameter[]) =>
    persist(readMs, () => pool.query(text, parameters, readMs))
  const dueText = `SELECT ordinal, value FROM ${rows} WHERE deadline_ms <= $1::bigint
ORDER BY deadline_ms, ordinal LIMIT $2::int`
  const fromText = `SELECT ordinal, value FROM ${rows} WHERE ordinal >= $1::bigint
ORDER BY ordinal LIMIT $2::int`
  const figuresText = `SELECT
(SELECT last_value FROM ${ordinals}),
(SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relkind = 'r')`
  return {
    look: (text: string, parameters: readonly Parameter[]) => ask(pools.look, text, parameters),
    due: async (nowMs: number, limit: number) =>
      rowsIn(await ask(pools.page, dueText, [nowMs, limit])),
    rowsFrom: async (ordinal: number, limit: number) => {
      const cells = await ask(pools.page, fromText, [ordinal, limit])
      return { rows: rowsIn(cells), last: cells.at(-1)?.[0] }
    },
    figures: async () => (await ask(pools.page, figuresText, [tables.schema]))[0] ?? [],
  }
}

type Reads = ReturnType<typeof readsOf>

/** All rows, oldest first. */
export const readRows = (pool: Pool, tables: Tables): AsyncGenerator<Row> =>
  everyRow(readsOf({ look: pool, page: pool }, tables, defaultBounds))

async function* everyRow({ rowsFrom }: Reads): AsyncGenerator<Row> {
  for (let from = 0; ;) {
    const { rows, last } = await rowsFrom(from, inspectRows)
    yield* rows
    if (last === undefined) return
    from = Number(last) + 1
  }
}

/** Of the row that is read in place of one that is not there. */
async function firstOrdinalOf({ rowsFrom }: Reads): Promise<number> {
  const { last } = await rowsFrom(0, 1)
  return Number(last ?? 0)
}

/**
 * Opens the store of a database.
 * @throws ApiError `not_found` where there is no vault, `conflict` where it is of another format;
 *   Trouble
 */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { address, randomBytes, wallMs, elapsedMs, foldRows, foldLookMs, onSkew, onFoldTrouble } =
    options
  const tables = tablesIn(address.schema)
  const bounds = { ...defaultBounds, ...options.bounds }
  const [look, page, write] = [lookConnections, pageConnections, writeConnections].map(
    connections => openPool(address, connections, bounds.connectMs),
  ) as [Pool, Pool, Pool]
  const pools = [look, page, write]
  const closePools = async (): Promise<void> => {
    await Promise.all(pools.map(pool => pool.close().catch(() => {})))
  }
  const reads = readsOf({ look, page }, tables, bounds)
  let clock: DatabaseClock
  let firstOrdinal: number
  try {
    await assertFormat(look, tables)
    clock = await openDatabaseClock({
      pool: look,
      tables,
      wallMs,
      elapsedMs,
      onSkew: onSkew ?? (() => {}),
      bounds,
    })
    firstOrdinal = await firstOrdinalOf(reads)
  } catch (error) {
    await closePools()
    throw error
  }
  const holder = randomBytes(holderBytes)
  const leased = { pool: look, tables, holder, elapsedMs, bounds }
  const sweeping = keepLease('sweep', leased)
  const folding = keepLease('fold', leased)
  const folder = startFolding({
    pool: write,
    tables,
    lease: folding,
    rowsMin: foldRows ?? foldRowsMin,
    ...(foldLookMs === undefined ? {} : { everyMs: foldLookMs }),
    onTrouble: onFoldTrouble ?? (() => {}),
  })
  const looker = makeLooker(tables, reads.look, firstOrdinal)
  const writers = Array.from({ length: writeLanes }, () => randomBytes(holderBytes))
  const queue = makeWriteQueue(writers.map(writer => ({ pool: write, tables, writer, bounds })))
  let highest = firstOrdinal
  let closing: Promise<void> | undefined
  const assertOpen = (): void => {
    if (closing !== undefined) throw new ApiError('unavailable', 'the store is closed')
    // Others would call expired what this one calls live.
    if (!clock.isRight()) throw new ApiError('unavailable', clockIsOff)
  }

  async function close(): Promise<void> {
    await queue.close()
    await folder.close()
    await Promise.all([sweeping.close(), folding.close(), clock.close()])
    await closePools()
  }

  return {
    clock,
    isSweeper: () => sweeping.isHeld() && clock.isRight(),
    isReachable: clock.isAnswered,
    async find(unique) {
      checkUnique(unique)
      assertOpen()
      const row = await looker.find(unique)
      if (row !== undefined) highest = Math.max(highest, row.ordinal)
      return row
    },
    async page(query, window) {
      checkQuery(query)
      checkWindow(window)
      assertOpen()
      return persist(bounds.readMs, () => readPage(page, tables, query, window, bounds.readMs))
    },
    async write(changes) {
      assertOpen()
      const outcome = await queue.submit(prepareChanges(changes))
      if (outcome.ok) for (const ordinal of outcome.ordinals) highest = Math.max(highest, ordinal)
      return outcome
    },
    async rowsFrom(ordinal, limit) {
      assertOpen()
      return (await reads.rowsFrom(ordinal, limit)).rows
    },
    async due(nowMs, limit) {
      checkDue(nowMs, limit)
      assertOpen()
      return reads.due(nowMs, limit)
    },
    async generation() {
      assertOpen()
      return looker.generation()
    },
    era: () => Math.floor(highest / eraOrdinals) % 2 ** 32,
    integrity: (progress?: Progress) =>
      inspectTables(page, tables, progress).catch(error => {
        throw faultOf(error)
      }),
    scrub: async () => undefined,
    async figures(): Promise<StoreFigures> {
      const [last, bytes] = await reads.figures()
      const { waiting } = folder.figures()
      return {
        writes: queue.writes(),
        usedBytes: Number(bytes),
        nextOrdinal: Number(last) + 1,
        waiting,
      }
    },
    everyRow: () => everyRow(reads),
    close: () => (closing ??= close()),
  }
}
