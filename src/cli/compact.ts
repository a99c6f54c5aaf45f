/**
 * `coffer compact`: writes the database of a stopped vault anew, without what was deleted.
 *
 * Until then the bytes of deleted rows stay in pages that the engine keeps for later, and whoever
 * has the master key reads them. A damaged vault is left as it is.
 * Source: contract section 13; SECURITY.md, "What the files tell".
 * @module
 */
import { assertOwnStore } from '../serve/database.ts'
import type { Keys } from '../crypto/keyring.ts'
import type { Progress } from '../progress.ts'
import type { Store } from '../store/contract.ts'
import { copyBytesOf, copyStore } from '../store/lmdb/inspect/compact.ts'
import {
  clearLeftovers,
  lockDataFolder,
  unsealKeysOf,
  type FolderOptions,
  type LockedFolder,
} from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { emptyReport, inspect } from './inspect.ts'
import { withProgress } from './progress.ts'
import { databaseBytesOf, replaceDatabase } from './replace-database.ts'
import { sayNow } from '../serve/system.ts'

/** @throws CommandFailure for any damage */
async function inspectOld(folder: LockedFolder, progress: Progress): Promise<Keys> {
  const report = emptyReport()
  let keys: Keys | undefined
  const keysOf = async (store: Store) => (keys = await unsealKeysOf(store, folder))
  await inspect(folder, report, keysOf, progress)
  if (report.count === 0 && keys !== undefined) return keys
  throw new CommandFailure(`the vault in ${folder.data} is damaged: see coffer verify`)
}

/** @throws CommandFailure with the old file in its place */
export async function compact(options: FolderOptions): Promise<void> {
  assertOwnStore(options.data, 'it is compacted there, by VACUUM')
  const folder = lockDataFolder(options)
  clearLeftovers(folder)
  const before = databaseBytesOf(folder)
  await withProgress({ bytes: before }, async progress => {
    const keys = await inspectOld(folder, progress)
    await replaceDatabase(folder, {
      bytes: await copyBytesOf(folder.store),
      write: to => copyStore(folder.store, to, progress),
      keysOf: async () => keys,
      progress,
    })
  })
  sayNow(`compacted: ${before} bytes before, ${databaseBytesOf(folder)} after`)
}
