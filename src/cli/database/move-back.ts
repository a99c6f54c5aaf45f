/**
 * `coffer move --to folder`: moves a vault from PostgreSQL into a folder of its own.
 *
 * First the vault is checked as `coffer verify` does, before anything changes. Then the database is
 * closed to new processes, the command looks for one that still serves it, and writes are stopped.
 * A new file is made beside its place, compared row by row with the database, and checked as well;
 * one rename puts it in place, and last the folder stops naming the database. If it is cut off
 * anywhere, the same command continues; a failure before the rename leaves everything as it was.
 * @module
 */
import { existsSync, renameSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { Keys } from '../../crypto/keyring.ts'
import { syncFolder } from '../../lib/files.ts'
import { freeSpaceBytesMin, progressFileBytesMin } from '../../limits/operation-limits.ts'
import type { BeginProgress } from '../../lib/progress.ts'
import { keepMarkMs } from '../../server/process/clock-file.ts'
import { isInDatabase, moverOf, readDatabase } from '../../server/folder/folder-database.ts'
import {
  clearLeftovers,
  lockDataFolder,
  unsealKeysOf,
  type FolderOptions,
  type LockedFolder,
} from '../../server/folder/data-folder.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { pathsOf } from '../../server/folder/folder-stamp.ts'
import { assertRegular } from '../../server/folder/regular-files.ts'
import { elapsedMs, sayNow, stderrNow } from '../../server/process/system.ts'
import type { Store } from '../../store/contract.ts'
import { movedOrdinalMax } from '../../store/core/limits.ts'
import { buildStoreFrom } from '../../store/lmdb/maintenance/bulk-build.ts'
import { openLmdbStore } from '../../store/lmdb/lmdb-store.ts'
import { ensureLaterTables } from '../../store/postgres/later-tables.ts'
import {
  beginMoveOut,
  cancelMoveOut,
  endMoveOut,
  isServed,
  readMovedState,
  sourceOf,
  type MoveOut,
  type MovedState,
} from '../../store/postgres/move-out.ts'
import { movedOutFormat, movingOutFormat, readFormat } from '../../store/postgres/schema.ts'
import { readParts } from '../../store/postgres/summed-rows.ts'
import { beginSumIn, copyKeyOf } from './begin-sum.ts'
import { compareStores, retryBounds, withOpposite, type Opposite } from './compare-stores.ts'
import { inspectSound } from '../inspect.ts'
import { withProgress } from '../show-progress.ts'
import { databaseIn, replaceDatabase, setAside } from './replace-database.ts'

const served = 'the vault is served from the database, or a command is at it: end that first'
const endless = 'the database gives more rows than its tables take: see that they are tables'
const differ = 'the new file is not what the database has: try again'

/** @throws CommandFailure while a process serves the vault; DatabaseError */
async function shutOut(moveOut: MoveOut, progress: BeginProgress): Promise<void> {
  const { pool, tables } = moveOut
  await beginMoveOut(moveOut)
  if ((await readFormat(pool, tables)) === movedOutFormat) return
  if (await isServed(moveOut, { elapsedMs, sleep: setTimeout, progress })) {
    throw new CommandFailure(served)
  }
  await endMoveOut(moveOut)
}

/** @returns the number of rows */
async function writeRows(
  to: string,
  { pool, tables }: Opposite,
  { nextOrdinal, generation, bytes }: MovedState,
  progress: BeginProgress,
): Promise<number> {
  const source = sourceOf(pool, tables, retryBounds)
  const checkBytes = (made: number): void => {
    // The database compresses little of it, and that much more room is free.
    if (made > bytes + freeSpaceBytesMin) throw new CommandFailure(endless)
  }
  await buildStoreFrom({ ...source, nextOrdinal, generation, checkBytes }, to, progress)
  const made = await openLmdbStore({ path: to })
  try {
    return await compareStores(made, { pool, tables }, progress, differ)
  } finally {
    await made.close()
  }
}

/** An administrator of the database can leave the new store no number for a further row. */
function assertRoomBehind({ nextOrdinal }: MovedState, { tables }: MoveOut): void {
  if (nextOrdinal <= movedOrdinalMax) return
  const expected = `expected a last value of at most ${movedOrdinalMax}`
  throw new CommandFailure(
    `${tables.ordinals}: ${expected}: no vault counts that far, so set it to its highest ordinal`,
  )
}

/**
 * @param folder its master key is wiped
 * @returns the number of rows
 */
async function takeRows(
  folder: LockedFolder,
  moveOut: MoveOut,
  keysOf: (store: Store) => Promise<Keys>,
  progress: BeginProgress,
): Promise<number> {
  await shutOut(moveOut, progress)
  const moved = await readMovedState(moveOut)
  assertRoomBehind(moved, moveOut)
  // Rows that have expired there stay expired, even if the clock of this machine is behind.
  if (moved.markMs > 0) keepMarkMs(folder.clock, moved.markMs)
  let rows = 0
  await replaceDatabase(folder, {
    bytes: moved.bytes,
    async write(to) {
      rows = await writeRows(to, moveOut, moved, progress)
      // The rows may have changed since they were checked, which an earlier run may have done.
      await beginSumIn(
        { ...folder, store: to },
        await readParts(moveOut.pool.query, moveOut.tables),
      )
    },
    keysOf,
    progress,
  })
  return rows
}

/** @returns the number of rows */
async function moveRows(
  folder: LockedFolder,
  opposite: Opposite,
  progress: BeginProgress,
): Promise<number> {
  const { data, store } = folder
  const format = await readFormat(opposite.pool, opposite.tables)
  const hasBegun = format === movingOutFormat || format === movedOutFormat
  // An older coffer may have begun it.
  if (hasBegun) await ensureLaterTables(opposite.pool, opposite.tables)
  const masterKey = copyKeyOf(folder)
  const sound = hasBegun ? undefined : await inspectSound(folder, progress)
  // Left by a move to the database that was cut off at its very end; served from there since.
  if (!hasBegun && existsSync(databaseIn(store))) setAside(folder)
  const keysOf = async (of: Store): Promise<Keys> => sound?.keys ?? unsealKeysOf(of, folder)
  const moveOut = { ...opposite, mover: moverOf(data) }
  try {
    return await takeRows({ ...folder, masterKey }, moveOut, keysOf, progress)
  } catch (error) {
    // Otherwise the folder has the vault, and only the last step is missing.
    if (!existsSync(databaseIn(store))) await cancelMoveOut(moveOut).catch(() => {})
    throw error
  }
}

/** @throws CommandFailure; the same command then continues */
export async function moveBack(options: FolderOptions): Promise<void> {
  const { data } = options
  if (!isInDatabase(data))
    throw new CommandFailure(`${data} has a store of its own already: nothing to move`)
  const folder = lockDataFolder(options)
  clearLeftovers(folder)
  const address = readDatabase(data)
  const { store, database, databaseLeft } = pathsOf(data)
  const rows = await withOpposite(address, async opposite => {
    const { bytes } = await readMovedState(opposite)
    // On a terminal, shows that the search for serving processes does not hang.
    const told = stderrNow.isTerminal ? Math.max(bytes, progressFileBytesMin) : bytes
    return withProgress({ bytes: told }, progress => moveRows(folder, opposite, progress))
  })
  assertRegular(databaseLeft)
  renameSync(database, databaseLeft)
  syncFolder(store)
  sayNow(`${rows} rows were moved, and compared. ${data} is served from its own store now.`)
  sayNow(
    `The database has them still: drop its schema ${address.schema} once ${data} has a backup, ` +
      `then remove ${databaseLeft}, which says so.`,
  )
}
