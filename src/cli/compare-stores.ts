/**
 * Compares a vault in a database and in a file, row by row: the end of a move in either direction.
 * @module
 */
import { bufferOf } from '../lib/bytes.ts'
import type { BeginProgress } from '../lib/progress.ts'
import { explainDatabase } from '../server/folder/folder-database.ts'
import { CommandFailure } from '../server/process/failure.ts'
import { elapsedMs } from '../server/process/system.ts'
import type { Row } from '../store/contract.ts'
import { databaseReadMsMax, bulkStepRows } from '../store/core/limits.ts'
import type { LmdbStore } from '../store/lmdb/lmdb-store.ts'
import type { DatabaseAddress } from '../store/postgres/address.ts'
import { openPool, type Pool } from '../store/postgres/pool.ts'
import { everyRow, readsOf } from '../store/postgres/retried-reads.ts'
import { tablesIn, type Tables } from '../store/postgres/schema.ts'
import { encodeRow } from '../store/core/row-format.ts'

/** The database of a move. */
export interface Opposite {
  readonly pool: Pool
  readonly tables: Tables
}

/** Time for which the database is asked again. */
export const retryBounds = { elapsedMs, msMax: databaseReadMsMax }

/** @throws CommandFailure for every error of the database */
export async function withOpposite<T>(
  address: DatabaseAddress,
  work: (opposite: Opposite) => Promise<T>,
): Promise<T> {
  const pool = openPool(address, 1)
  try {
    return await work({ pool, tables: tablesIn(address.schema) })
  } catch (error) {
    throw explainDatabase(address, error)
  } finally {
    await pool.close()
  }
}

const isSame = (a: Row, b: Row | undefined): boolean =>
  b !== undefined && a.ordinal === b.ordinal && bufferOf(encodeRow(a)).equals(encodeRow(b))

/**
 * @param differ message if they are not the same
 * @returns the number of rows
 * @throws CommandFailure
 */
export async function compareRows(
  store: LmdbStore,
  { pool, tables }: Opposite,
  progress: BeginProgress,
  differ: string,
): Promise<number> {
  const done = progress(store.figures().nextOrdinal, 'comparing')
  const others = everyRow(readsOf({ lookup: pool, page: pool }, tables, retryBounds))
  let rows = 0
  for (let from = 0; ;) {
    const some = await store.rowsFrom(from, bulkStepRows)
    for (const row of some) {
      const { value } = await others.next()
      if (!isSame(row, value ?? undefined)) throw new CommandFailure(differ)
      rows += 1
    }
    const last = some.at(-1)
    if (last === undefined) break
    from = last.ordinal + 1
    done(from)
  }
  if ((await others.next()).done !== true) throw new CommandFailure(differ)
  return rows
}
