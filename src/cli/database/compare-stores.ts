/**
 * Compares a vault in a database and in a file, row by row and entry by entry: the end of a move in
 * either direction.
 * @module
 */
import { bufferOf } from '../../lib/bytes.ts'
import type { BeginProgress } from '../../lib/progress.ts'
import { explainDatabase } from '../../server/folder/folder-database.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { elapsedMs } from '../../server/process/system.ts'
import type { DerivedValue, Row, StoredBundle } from '../../store/contract.ts'
import { encodeBundle } from '../../store/core/bundle-format.ts'
import { databaseReadMsMax, bulkStepRows } from '../../store/core/limits.ts'
import { everyBundle, everyDerived, type LogReads } from '../../store/core/log-walk.ts'
import type { LmdbStore } from '../../store/lmdb/lmdb-store.ts'
import type { DatabaseAddress } from '../../store/postgres/address.ts'
import { openPool, type Pool } from '../../store/postgres/pool.ts'
import { everyRow, readsOf } from '../../store/postgres/retried-reads.ts'
import { tablesIn, type Tables } from '../../store/postgres/schema.ts'
import { encodeRow } from '../../store/core/row-format.ts'

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

/** Walks both, step by step: equal ones have equal steps. @throws CommandFailure */
async function compareSteps<T>(
  own: AsyncGenerator<readonly T[]>,
  others: AsyncGenerator<readonly T[]>,
  isEqual: (a: T, b: T) => boolean,
  differ: string,
): Promise<void> {
  for await (const some of own) {
    const { value } = await others.next()
    const other: readonly T[] = value ?? []
    const areEqual = some.every((each, i) => {
      const twin = other[i]
      return twin !== undefined && isEqual(each, twin)
    })
    if (!areEqual || some.length !== other.length) throw new CommandFailure(differ)
  }
  if ((await others.next()).done !== true) throw new CommandFailure(differ)
}

const isSameBundle = (a: StoredBundle, b: StoredBundle): boolean =>
  a.first === b.first && bufferOf(encodeBundle(a)).equals(encodeBundle(b))

const isSameDerived = (a: DerivedValue, b: DerivedValue): boolean =>
  bufferOf(a.key).equals(b.key) && bufferOf(a.value).equals(b.value)

async function compareLogs(store: LogReads, other: LogReads, differ: string): Promise<void> {
  const [own, others] = [await store.logRange(), await other.logRange()]
  if (own.from !== others.from || own.next !== others.next) throw new CommandFailure(differ)
  await compareSteps(everyBundle(store), everyBundle(other), isSameBundle, differ)
  await compareSteps(everyDerived(store), everyDerived(other), isSameDerived, differ)
}

/**
 * Compares all rows, and the log with the values beside it.
 * @param differ message if they are not the same
 * @returns the number of rows
 * @throws CommandFailure
 */
export async function compareStores(
  store: LmdbStore,
  { pool, tables }: Opposite,
  progress: BeginProgress,
  differ: string,
): Promise<number> {
  const done = progress(store.figures().nextOrdinal, 'comparing')
  const reads = readsOf({ lookup: pool, page: pool }, tables, retryBounds)
  await compareLogs(store, reads, differ)
  const others = everyRow(reads)
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
