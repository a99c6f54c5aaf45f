/**
 * `coffer move`: a vault goes from its folder into PostgreSQL, and is served from there.
 *
 * All rows are copied as they are, sealed, then both stores are compared row by row; only then does
 * the folder name the database. The file of the folder's own store stays beside it, for whoever
 * wants to go back. Cut off anywhere, the same command goes on.
 * @module
 */
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bufferOf } from '../bytes.ts'
import { ApiError } from '../errors.ts'
import type { Progress } from '../progress.ts'
import {
  assertOwnStore,
  databaseAddress,
  explainDatabase,
  writeDatabase,
} from '../serve/database.ts'
import { clearLeftovers, lockDataFolder, type FolderOptions } from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { pathsOf } from '../serve/folder-stamp.ts'
import { elapsedMs, sayNow } from '../serve/system.ts'
import { databaseReadMsMax, fillFoldRows, fillStepRows } from '../store/limits.ts'
import type { Row } from '../store/contract.ts'
import { openLmdbStore, type LmdbStore } from '../store/lmdb/open.ts'
import type { DatabaseAddress } from '../store/postgres/address.ts'
import { beginFilling, endFilling, endRows, fillRows, foldFilled } from '../store/postgres/fill.ts'
import { inspectTables } from '../store/postgres/inspect.ts'
import { everyRow, readsOf } from '../store/postgres/reads.ts'
import { openPool, type Pool } from '../store/postgres/pool.ts'
import { tablesIn, type Tables } from '../store/postgres/schema.ts'
import { encodeRow } from '../store/row-format.ts'
import { withProgress } from './progress.ts'
import { databaseBytesOf } from './replace-database.ts'

export interface MoveOptions extends FolderOptions {
  /** The URL of the database. */
  readonly to: string
}

interface Target {
  readonly pool: Pool
  readonly tables: Tables
}

async function copyRows(store: LmdbStore, { pool, tables }: Target, progress: Progress) {
  const { nextOrdinal } = store.figures()
  const done = progress(nextOrdinal, 'copying')
  let from = await beginFilling(pool, tables)
  for (;;) {
    const rows = await store.rowsFrom(from, fillStepRows)
    const last = rows.at(-1)
    if (last === undefined) break
    await fillRows(pool, tables, rows)
    from = last.ordinal + 1
    done(from)
    await foldFilled(pool, tables, fillFoldRows)
  }
  await foldFilled(pool, tables, 0)
  await endRows(pool, tables, nextOrdinal - 1)
}

const isSame = (a: Row, b: Row | undefined): boolean =>
  b !== undefined && a.ordinal === b.ordinal && bufferOf(encodeRow(a)).equals(encodeRow(b))

const differs = (): CommandFailure =>
  new CommandFailure('the copy is not what the folder has: drop its schema, and begin again')

/** Each row of both, and what leads to them there. @returns how many there are */
async function compare(store: LmdbStore, { pool, tables }: Target, progress: Progress) {
  const done = progress(store.figures().nextOrdinal, 'comparing')
  const persisting = { elapsedMs, msMax: databaseReadMsMax }
  const copied = everyRow(readsOf({ look: pool, page: pool }, tables, persisting))
  let rows = 0
  for (let from = 0; ;) {
    const some = await store.rowsFrom(from, fillStepRows)
    for (const row of some) {
      const { value } = await copied.next()
      if (!isSame(row, value ?? undefined)) throw differs()
      rows += 1
    }
    const last = some.at(-1)
    if (last === undefined) break
    from = last.ordinal + 1
    done(from)
  }
  if ((await copied.next()).done !== true) throw differs()
  if ((await inspectTables(pool, tables, progress)).length > 0) throw differs()
  return rows
}

/** The folder is of the database once its file is there; what was its own is under another name. */
function pointTo(options: MoveOptions): string {
  const { data, to: store, storePasswordFile } = options
  const { store: folder } = pathsOf(data)
  const kept = join(folder, 'data.mdb.moved')
  writeDatabase(data, { store, ...(storePasswordFile === undefined ? {} : { storePasswordFile }) })
  renameSync(join(folder, 'data.mdb'), kept)
  rmSync(join(folder, 'lock.mdb'), { force: true })
  return kept
}

async function moveRows(
  store: LmdbStore,
  address: DatabaseAddress,
  progress: Progress,
): Promise<number> {
  const target = { pool: openPool(address, 1), tables: tablesIn(address.schema) }
  try {
    await copyRows(store, target, progress)
    const rows = await compare(store, target, progress)
    await endFilling(target.pool, target.tables, await store.generation())
    return rows
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    if (error instanceof ApiError && error.kind === 'storage_corrupt') {
      throw new CommandFailure('the store of the folder is damaged: see coffer verify')
    }
    throw explainDatabase(address, error)
  } finally {
    await target.pool.close()
  }
}

/** @throws CommandFailure with the folder as it was */
export async function move(options: MoveOptions): Promise<void> {
  const { data, to: store } = options
  assertOwnStore(data, 'it was moved already')
  const address = databaseAddress({ ...options, store })
  const folder = lockDataFolder(options)
  clearLeftovers(folder)
  folder.masterKey.fill(0)
  const own = await openLmdbStore({ path: folder.store })
  let rows: number
  try {
    rows = await withProgress({ ...options, bytes: databaseBytesOf(folder) }, progress =>
      moveRows(own, address, progress),
    )
  } finally {
    await own.close()
  }
  const kept = pointTo(options)
  sayNow(`${rows} rows were moved, and compared. ${data} is served from the database now.`)
  sayNow(`What it was before is in ${kept}: remove it once the database has a backup.`)
}
