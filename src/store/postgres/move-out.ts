/**
 * Moves a vault out of the database: looks for a serving process, shuts all of them out, and reads
 * the tables.
 *
 * From the first step on no process opens it. A serving process then gets time to show itself: one
 * of the live vaults holds the leases and renews them. If one does, the move is undone. The last
 * step shuts out even processes that were stalled and showed nothing: no group of writes commits
 * without its receipt, and all receipts are removed, with no new ones given.
 * @module
 */
import { ApiError, assertStored } from '../../lib/errors.ts'
import { noProgress, type BeginProgress } from '../../lib/progress.ts'
import { bulkMsMax, bulkStepRows, moveOutCheckMs, moveOutWatchMs } from '../core/limits.ts'
import type { Cells, Parameter, Pool } from './pool.ts'
import { untilReplicated } from './replication.ts'
import { readsOf } from './retried-reads.ts'
import { retry, type RetryBounds } from './database-error.ts'
import { moverLease } from './lease.ts'
import {
  databaseFormat,
  movedOutMessage,
  movingOutFormat,
  movedOutFormat,
  type Tables,
} from './schema.ts'

export interface MoveOut {
  readonly pool: Pool
  readonly tables: Tables
  /** Id of the folder that takes the vault, 16 bytes: no second one may. */
  readonly mover: Uint8Array
}

/**
 * From here on no process opens the vault.
 * @throws ApiError `conflict` if another folder takes it; DatabaseError
 */
export async function beginMoveOut({ pool, tables, mover }: MoveOut): Promise<void> {
  const { state, leases } = tables
  const text = `WITH moved AS (
  UPDATE ${state} SET format = ${movingOutFormat} WHERE format = ${databaseFormat} RETURNING 1
)
INSERT INTO ${leases} SELECT '${moverLease}', $1::bytea, 'infinity' FROM moved
ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, until = EXCLUDED.until`
  await pool.query(text, [mover])
  await untilReplicated(pool.query)
  const held = `SELECT 1 FROM ${leases} WHERE name = '${moverLease}' AND holder = $1::bytea`
  if ((await pool.query(held, [mover])).length === 0)
    throw new ApiError('conflict', movedOutMessage)
}

/** Undoes `beginMoveOut`, for a folder that has not taken the vault. @throws DatabaseError */
export async function cancelMoveOut({ pool, tables, mover }: MoveOut): Promise<void> {
  const { state, leases } = tables
  const text = `WITH moved AS (
  UPDATE ${state} SET format = ${databaseFormat}
  WHERE format IN (${movingOutFormat}, ${movedOutFormat}) AND EXISTS (
    SELECT 1 FROM ${leases} WHERE name = '${moverLease}' AND holder = $1::bytea
  ) RETURNING 1
)
DELETE FROM ${leases} USING moved WHERE name = '${moverLease}'`
  await pool.query(text, [mover])
}

interface WatchOptions {
  readonly elapsedMs: () => number
  readonly sleep: (ms: number) => Promise<unknown>
  readonly progress?: BeginProgress
}

/**
 * True if a process serves: a lease is taken or renewed, or has not expired at the end.
 * @throws DatabaseError
 */
export async function isServed(
  { pool, tables }: Omit<MoveOut, 'mover'>,
  { elapsedMs, sleep, progress = noProgress }: WatchOptions,
): Promise<boolean> {
  const text = `SELECT name || ' ' || until, until >= clock_timestamp() FROM ${tables.leases}
WHERE name <> '${moverLease}'`
  const first = await pool.query(text)
  const known = new Set(first.map(([lease]) => lease))
  const done = progress(moveOutWatchMs, 'waiting')
  const startMs = elapsedMs()
  for (;;) {
    await sleep(moveOutCheckMs)
    const live = (await pool.query(text)).filter(([, isLive]) => isLive === true)
    if (live.some(([lease]) => !known.has(lease))) return true
    const passedMs = elapsedMs() - startMs
    if (passedMs >= moveOutWatchMs) return live.length > 0
    done(passedMs)
  }
}

/**
 * From here on no process writes, and a serving one notices within `databaseClockMs`. Everything
 * that was acknowledged is in the tables when this resolves.
 * @throws DatabaseError
 */
export async function endMoveOut({ pool, tables }: Omit<MoveOut, 'mover'>): Promise<void> {
  const { state, receipts } = tables
  await pool.query(
    `UPDATE ${state} SET format = ${movedOutFormat} WHERE format = ${movingOutFormat}`,
  )
  // Waits for each group in progress.
  await pool.query(`DELETE FROM ${receipts}`, [], bulkMsMax)
  await untilReplicated(pool.query)
}

/** State that moves along with the rows. */
export interface MovedState {
  readonly nextOrdinal: number
  readonly generation: number
  /** Mark of the clock; 0 if there is none. */
  readonly markMs: number
  /** Largest size of a file with everything. */
  readonly bytes: number
}

/** Reads the state that moves along. @throws DatabaseError */
export async function readMovedState({
  pool,
  tables,
}: Omit<MoveOut, 'mover'>): Promise<MovedState> {
  const text = `SELECT generation, clock_ms, (SELECT last_value FROM ${tables.ordinals}),
(SELECT sum(pg_table_size(c.oid))::bigint FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r')
FROM ${tables.state}`
  const [cells = []] = await pool.query(text, [tables.schema])
  const [generation = 0, markMs = 0, last = 0, bytes = 0] = cells.map(Number)
  return { nextOrdinal: last + 1, generation, markMs, bytes }
}

/*
 * Reading the whole vault, once it has no writers, in the orders in which another store is written:
 * each table in steps, each of which starts after the last entry of the step before.
 */

/** Repeats a query with the last row of each answer, until an answer is empty. */
async function* steps(
  ask: (behind: readonly Parameter[]) => Promise<readonly Cells[]>,
  first: readonly Parameter[],
): AsyncGenerator<readonly Cells[]> {
  for (let behind = first; ;) {
    const rows = await ask(behind)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    behind = first.map((_, i) => (last[i] instanceof Uint8Array ? last[i] : Number(last[i])))
  }
}

/**
 * Returns the tables as another store is written from them (`lmdb/maintenance/bulk-build.ts`).
 * @throws ApiError as `retry`; `storage_corrupt` for an entry that is not a row
 */
export function sourceOf(pool: Pool, tables: Tables, retryBounds: RetryBounds) {
  const reads = readsOf({ lookup: pool, page: pool }, tables, retryBounds)
  const limit = `LIMIT ${bulkStepRows}`
  const uniquesText = `SELECT digest, ordinal, version FROM ${tables.uniques}
WHERE digest > $1::bytea ORDER BY digest ${limit}`
  const deadlinesText = `SELECT deadline_ms, ordinal FROM ${tables.rows}
WHERE deadline_ms IS NOT NULL AND (deadline_ms, ordinal) > ($1::bigint, $2::bigint)
ORDER BY deadline_ms, ordinal ${limit}`
  const ask = (text: string) => (behind: readonly Parameter[]) =>
    retry(retryBounds, msLeft => pool.query(text, behind, msLeft))
  return {
    log: reads,
    async *rows() {
      for (let from = 0; ;) {
        const { rows, last } = await reads.rowsFrom(from, bulkStepRows)
        if (last === undefined) return
        assertStored(rows.at(-1)?.ordinal === Number(last), 'rows as they were written')
        yield rows
        from = Number(last) + 1
      }
    },
    async *uniques() {
      for await (const entries of steps(ask(uniquesText), [new Uint8Array()])) {
        yield entries.map(([unique, ordinal, version]) => {
          assertStored(unique instanceof Uint8Array, 'a digest of a unique')
          return { unique, ordinal: Number(ordinal), version: Number(version) }
        })
      }
    },
    async *deadlines() {
      for await (const entries of steps(ask(deadlinesText), [-1, -1])) {
        yield entries.map(([deadlineMs, ordinal]) => ({
          deadlineMs: Number(deadlineMs),
          ordinal: Number(ordinal),
        }))
      }
    },
  }
}
