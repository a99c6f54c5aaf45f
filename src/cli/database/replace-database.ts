/**
 * Replaces the database by a new file. The new file is made beside the old one, checked as `coffer
 * verify` does, and put in place by one rename: if this process dies at any point, the folder has
 * the old file or the new one, whole.
 * @module
 */
import { closeSync, existsSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Keys } from '../../crypto/keyring.ts'
import { freeSpaceBytesMin } from '../../limits/operation-limits.ts'
import type { BeginProgress } from '../../lib/progress.ts'
import type { Store } from '../../store/contract.ts'
import {
  clearLeftovers,
  type FoundFolder,
  type LockedFolder,
} from '../../server/folder/data-folder.ts'
import { explained, pathsOf } from '../../server/folder/folder-stamp.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { withRoom } from '../../server/folder/disk-space.ts'
import {
  assertRegular,
  giveToOwnerOf,
  openRegular,
  removeFile,
} from '../../server/folder/regular-files.ts'
import { emptyReport, inspect } from '../inspect.ts'
import { syncFolder } from '../../lib/files.ts'

/** The file of a store in the folder. */
export const databaseIn = (store: string): string => join(store, 'data.mdb')

/** Size of the database as it is now; 0 if it is elsewhere. */
export const databaseBytesOf = ({ store }: FoundFolder): number =>
  statSync(databaseIn(store), { throwIfNoEntry: false })?.size ?? 0

async function inspectNew(folder: LockedFolder, { keysOf, progress }: NewDatabase): Promise<void> {
  const report = emptyReport()
  await inspect({ ...folder, store: folder.compacting }, report, keysOf, progress)
  if (report.count > 0) throw new CommandFailure('the new file is not as it must be: try again')
}

function keepOwner(from: string, to: string): void {
  const file = openRegular(to)
  try {
    giveToOwnerOf(from, file)
  } finally {
    closeSync(file)
  }
}

function swap({ store, compacting }: LockedFolder): void {
  const old = databaseIn(store)
  // A vault that comes from a database has no old file.
  keepOwner(existsSync(old) ? old : store, databaseIn(compacting))
  syncFolder(compacting)
  renameSync(databaseIn(compacting), old)
  syncFolder(store)
}

interface NewDatabase {
  /** Most bytes that it may take. */
  readonly bytes: number
  /** Writes it to a folder that does not exist. */
  readonly write: (to: string) => Promise<void>
  readonly keysOf: (store: Store) => Promise<Keys>
  readonly progress: BeginProgress
}

async function replace(folder: LockedFolder, made: NewDatabase): Promise<void> {
  try {
    // A rename would replace a link, and leave its target behind.
    assertRegular(databaseIn(folder.store))
    await made.write(folder.compacting)
    await inspectNew(folder, made)
    swap(folder)
  } catch (error) {
    throw explained(folder.data, error)
  } finally {
    clearLeftovers(folder)
  }
}

/** @throws CommandFailure with the old file in its place */
export function replaceDatabase(folder: LockedFolder, made: NewDatabase): Promise<void> {
  const { bytes: fileBytes } = made
  const bytes = fileBytes + freeSpaceBytesMin
  const room = { folder: folder.data, bytes, fileBytes, what: 'a new file' }
  return withRoom(room, () => replace(folder, made))
}

/** Renames the folder's own file. @returns its new path */
export function setAside({ data, store }: LockedFolder): string {
  const kept = pathsOf(data).moved
  assertRegular(databaseIn(store))
  assertRegular(kept)
  renameSync(databaseIn(store), kept)
  removeFile(join(store, 'lock.mdb'))
  syncFolder(store)
  return kept
}
