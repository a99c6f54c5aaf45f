/**
 * `coffer upgrade`: makes a stopped vault of an older format a vault of this one.
 *
 * Of format 3 only the stamp changes, once all of it was looked at as `coffer verify` does: what it
 * has is read as it is, and written anew when it is changed. Its ids stay without eras.
 * Of format 2 the new database is written beside the old one and looked at as `coffer verify` does
 * before it takes its place; the stamp of the folder comes last. What ends this process in between
 * is made good by another call. A damaged vault is left as it is.
 * @module
 */
import { ApiError } from '../errors.ts'
import { examinePages } from '../store/lmdb/inspect/damaged-pages.ts'
import { isUpgraded, oldTableNames, upgradeStore } from '../store/lmdb/inspect/upgrade.ts'
import {
  clearLeftovers,
  lockOldFolder,
  unsealKeysOf,
  type FolderOptions,
  type LockedFolder,
} from '../serve/data-folder.ts'
import { isOfThisFormat, stampFolder } from '../serve/folder-stamp.ts'
import { CommandFailure } from '../serve/failure.ts'
import type { Progress } from '../progress.ts'
import type { Store } from '../store/contract.ts'
import { emptyReport, inspect, isWhole } from './inspect.ts'
import { withProgress } from './progress.ts'
import { databaseBytesOf, replaceDatabase } from './replace-database.ts'
import { sayNow } from '../serve/system.ts'

const damagedIn = ({ data }: LockedFolder) =>
  new CommandFailure(`the vault in ${data} is damaged: restore it from a backup, then upgrade`)

/** @throws CommandFailure when something of the old store is damaged */
async function writeNew(folder: LockedFolder, to: string, progress: Progress): Promise<void> {
  try {
    await upgradeStore(folder.store, to, progress)
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'storage_corrupt') throw damagedIn(folder)
    throw error
  }
}

/** @throws CommandFailure for any damage, with the old database in its place */
async function bringUp(folder: LockedFolder, progress: Progress): Promise<void> {
  // Before the engine opens anything of it, which a damaged page can end without a word.
  if (examinePages(folder.store, oldTableNames, progress).damaged.length > 0) {
    throw damagedIn(folder)
  }
  const keysOf = (store: Store) => unsealKeysOf(store, folder)
  if (await isUpgraded(folder.store)) {
    const report = emptyReport()
    await inspect(folder, report, keysOf, progress)
    if (!isWhole(report)) throw damagedIn(folder)
    return
  }
  // The new one has the same rows, and an index that is no larger.
  const bytes = databaseBytesOf(folder)
  const write = (to: string) => writeNew(folder, to, progress)
  await replaceDatabase(folder, { bytes, write, keysOf, progress })
}

/** @throws CommandFailure with the old database in its place */
export async function upgrade(options: FolderOptions): Promise<void> {
  if (isOfThisFormat(options.data)) {
    sayNow('nothing to do: the vault is of this format')
    return
  }
  const folder = lockOldFolder(options)
  clearLeftovers(folder)
  await withProgress({ bytes: databaseBytesOf(folder) }, progress => bringUp(folder, progress))
  stampFolder(options.data)
  sayNow('upgraded')
}
