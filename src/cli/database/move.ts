/**
 * `coffer move`: moves a vault from its folder into PostgreSQL, from which it is then served; or
 * back (`move-back.ts`).
 *
 * All rows are copied as they are, sealed, then both stores are compared row by row; only then does
 * the folder name the database, and last the database counts as a vault. The file of the folder's
 * own store stays beside it. If it is cut off anywhere, the same command continues.
 * @module
 */
import { Option, type Command } from 'commander'
import { existsSync } from 'node:fs'
import { ApiError } from '../../lib/errors.ts'
import type { BeginProgress } from '../../lib/progress.ts'
import { readMarkMs } from '../../server/process/clock-file.ts'
import {
  assertOwnStore,
  databaseAddress,
  isInDatabase,
  isMover,
  isOfDatabase,
  assertNoOtherLeft,
  noteDatabase,
  writeDatabase,
} from '../../server/folder/folder-database.ts'
import {
  clearLeftovers,
  damagedIn,
  lockDataFolder,
  type FolderOptions,
  type FoundFolder,
} from '../../server/folder/data-folder.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { pathsOf } from '../../server/folder/folder-stamp.ts'
import { removeFile } from '../../server/folder/regular-files.ts'
import { sayNow } from '../../server/process/system.ts'
import { bulkFoldRows, bulkStepRows } from '../../store/core/limits.ts'
import { openLmdbStore, type LmdbStore } from '../../store/lmdb/lmdb-store.ts'
import {
  beginBulkLoad,
  endBulkLoad,
  finishRows,
  loadRows,
  loadSum,
  foldLoaded,
} from '../../store/postgres/bulk-load.ts'
import { loadLog } from '../../store/postgres/bulk-log.ts'
import { inspectTables } from '../../store/postgres/inspect-tables.ts'
import { databaseFormat, readFormat } from '../../store/postgres/schema.ts'
import { compareStores, withOpposite, type Opposite } from './compare-stores.ts'
import { moveBack } from './move-back.ts'
import { withProgress } from '../show-progress.ts'
import { assertStoreRoom } from '../../server/folder/disk-space.ts'
import { databaseBytesOf, databaseIn, setAside } from './replace-database.ts'
import { addAddress, takesVault } from '../vault-options.ts'

interface MoveOptions extends FolderOptions {
  /** The URL of the database, or `folder`. */
  readonly to: string
}

async function copyRows(
  store: LmdbStore,
  { pool, tables }: Opposite,
  note: () => void,
  progress: BeginProgress,
) {
  const { nextOrdinal } = store.figures()
  const done = progress(nextOrdinal, 'copying')
  let from = await beginBulkLoad(pool, tables, note)
  for (;;) {
    const rows = await store.rowsFrom(from, bulkStepRows)
    const last = rows.at(-1)
    if (last === undefined) break
    await loadRows(pool, tables, rows)
    from = last.ordinal + 1
    done(from)
    await foldLoaded(pool, tables, bulkFoldRows)
  }
  await foldLoaded(pool, tables, 0)
  await finishRows(pool, tables, nextOrdinal - 1)
  await loadLog(pool, tables, store)
  await loadSum(pool, tables, store.storedSum())
}

const differ = 'the copy is not what the folder has: drop its schema, and begin again'

/** Compares the rows of both, and checks the index entries there. @returns the number of rows */
async function compare(store: LmdbStore, opposite: Opposite, progress: BeginProgress) {
  const rows = await compareStores(store, opposite, progress, differ)
  const findings = await inspectTables(opposite.pool, opposite.tables, progress)
  if (findings.length > 0) throw new CommandFailure(differ)
  return rows
}

/** True if the folder names the database, but may not be served from there yet. */
const isCutOff = ({ data, to }: MoveOptions): boolean =>
  existsSync(databaseIn(pathsOf(data).store)) && isOfDatabase(data, to) && !isMover(data)

/**
 * The folder names the database before that counts as a vault: both are never served.
 * @returns the number of rows; `undefined` if it was reported before
 */
async function moveRows(
  store: LmdbStore,
  options: MoveOptions,
  opposite: Opposite,
  progress: BeginProgress,
): Promise<number | undefined> {
  const { data, to, storePasswordFile } = options
  const { pool, tables } = opposite
  if (isInDatabase(data) && (await readFormat(pool, tables)) === databaseFormat) return undefined
  try {
    const note = (): void => {
      if (!isInDatabase(data)) noteDatabase(data, { store: to })
    }
    await copyRows(store, opposite, note, progress)
    const rows = await compare(store, opposite, progress)
    const markMs = readMarkMs(pathsOf(data).clock)
    writeDatabase(data, {
      store: to,
      ...(storePasswordFile === undefined ? {} : { storePasswordFile }),
    })
    await endBulkLoad(pool, tables, { generation: await store.generation(), markMs })
    return rows
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'storage_corrupt') {
      throw new CommandFailure('the store of the folder is damaged: see coffer verify')
    }
    throw error
  }
}

async function openOwn({ data, store: path }: FoundFolder): Promise<LmdbStore> {
  assertStoreRoom(path)
  try {
    return await openLmdbStore({ path })
  } catch (error) {
    const isDamage = error instanceof ApiError && error.kind === 'storage_corrupt'
    throw isDamage ? damagedIn(data, error) : error
  }
}

/** @throws CommandFailure; the same command then continues */
async function moveThere(options: MoveOptions): Promise<void> {
  const { data, to: store } = options
  if (!isInDatabase(data) || !isCutOff(options)) assertOwnStore(data, 'it was moved already')
  const address = databaseAddress({ ...options, store })
  const folder = lockDataFolder(options)
  clearLeftovers(folder)
  folder.masterKey.fill(0)
  if (!isInDatabase(data)) assertNoOtherLeft(data, { store })
  const own = await openOwn(folder)
  let rows: number | undefined
  try {
    rows = await withProgress({ ...options, bytes: databaseBytesOf(folder) }, progress =>
      withOpposite(address, opposite => moveRows(own, options, opposite, progress)),
    )
  } finally {
    await own.close()
  }
  const kept = setAside(folder)
  removeFile(pathsOf(data).databaseLeft)
  if (rows !== undefined) sayNow(`${rows} rows were moved, and compared.`)
  sayNow(`${data} is served from the database now.`)
  sayNow(`What it was before is in ${kept}: remove it once the database has a backup.`)
}

/** @throws CommandFailure; the same command then continues */
const move = (options: MoveOptions): Promise<void> =>
  options.to === 'folder' ? moveBack(options) : moveThere(options)

export function addMove(program: Command): void {
  const command = takesVault(program.command('move'), { store: 'folder' })
  const to = new Option('--to <place>', 'URL of the database, without a password; or: folder')
  addAddress(command, to.makeOptionMandatory())
    .description('move a vault into PostgreSQL, or back; all that serve it must be stopped')
    .option('--store-password-file <file>', 'where the password of its user is')
    .action((options: MoveOptions) => move(options))
}
