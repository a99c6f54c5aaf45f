/**
 * `coffer compact`: writes the database of a stopped vault anew, without what was deleted.
 *
 * Until then the bytes of deleted rows stay in pages that the engine keeps for later, and whoever
 * has the master key reads them. The new file is made beside the old one, looked at as
 * `coffer verify` does, and takes its place by one rename: whatever ends this process in between,
 * the folder has the old file or the new one, whole. A damaged vault is left as it is.
 * Source: contract section 13; SECURITY.md, "What the files tell".
 * @module
 */
import { chownSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Keys } from '../crypto/keyring.ts'
import { freeSpaceBytesMin } from '../limits.ts'
import { copyBytesOf, copyStore } from '../store/lmdb/inspect/compact.ts'
import { freeBytesAt } from '../store/lmdb/write/write-group.ts'
import {
  clearLeftovers,
  explained,
  lockDataFolder,
  unsealKeysOf,
  type FolderOptions,
  type LockedFolder,
} from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { emptyReport, inspect } from './inspect.ts'
import { sayNow } from '../serve/system.ts'
import { syncFolder } from '../files.ts'

const databaseIn = (store: string): string => join(store, 'data.mdb')

/** @throws CommandFailure for any damage */
async function inspectOld(folder: LockedFolder): Promise<Keys> {
  const report = emptyReport()
  let keys: Keys | undefined
  await inspect(folder, report, async store => (keys = await unsealKeysOf(store, folder)))
  if (report.count === 0 && keys !== undefined) return keys
  throw new CommandFailure(`the vault in ${folder.data} is damaged: see coffer verify`)
}

async function assertRoom({ data, store }: LockedFolder): Promise<void> {
  const needed = (await copyBytesOf(store)) + freeSpaceBytesMin
  if (freeBytesAt(data)() >= needed) return
  const mebibytes = Math.ceil(needed / 1024 ** 2)
  throw new CommandFailure(`too little space is free for a new file: ${mebibytes} MiB are needed`)
}

async function inspectCopy(folder: LockedFolder, keys: Keys): Promise<void> {
  const report = emptyReport()
  await inspect({ ...folder, store: folder.compacting }, report, async () => keys)
  if (report.count > 0) throw new CommandFailure('the new file is not as it must be: try again')
}

/** Whoever compacts may be root, and whoever serves may not. */
function keepOwner(from: string, to: string): void {
  const { uid, gid } = statSync(from)
  if (statSync(to).uid !== uid) chownSync(to, uid, gid)
}

function swap({ store, compacting }: LockedFolder): void {
  keepOwner(databaseIn(store), databaseIn(compacting))
  syncFolder(compacting)
  renameSync(databaseIn(compacting), databaseIn(store))
  syncFolder(store)
}

async function replaceDatabase(folder: LockedFolder, keys: Keys): Promise<void> {
  try {
    await assertRoom(folder)
    await copyStore(folder.store, folder.compacting)
    await inspectCopy(folder, keys)
    swap(folder)
  } catch (error) {
    throw explained(folder.data, error)
  } finally {
    clearLeftovers(folder)
  }
}

/** @throws CommandFailure with the old file in its place */
export async function compact(options: FolderOptions): Promise<void> {
  const folder = lockDataFolder(options)
  clearLeftovers(folder)
  const bytesOf = () => statSync(databaseIn(folder.store)).size
  const before = bytesOf()
  await replaceDatabase(folder, await inspectOld(folder))
  sayNow(`compacted: ${before} bytes before, ${bytesOf()} after`)
}
