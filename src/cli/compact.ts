/**
 * `coffer compact`: writes the database of a stopped vault anew, without what was deleted.
 *
 * Until then the bytes of deleted rows stay in pages that the engine keeps for later, and whoever
 * has the master key reads them. A damaged vault is left as it is.
 * Source: contract section 13; SECURITY.md, "What the files tell".
 * @module
 */
import { assertOwnStore } from '../serve/database.ts'
import { copyBytesOf, copyStore } from '../store/lmdb/inspect/compact.ts'
import { clearLeftovers, lockDataFolder, type FolderOptions } from '../serve/data-folder.ts'
import { inspectSound } from './inspect.ts'
import { withProgress } from './progress.ts'
import { databaseBytesOf, replaceDatabase } from './replace-database.ts'
import { sayNow } from '../serve/system.ts'

/** @throws CommandFailure with the old file in its place */
export async function compact(options: FolderOptions): Promise<void> {
  assertOwnStore(options.data, 'it is compacted there, by VACUUM')
  const folder = lockDataFolder(options)
  clearLeftovers(folder)
  const before = databaseBytesOf(folder)
  await withProgress({ bytes: before }, async progress => {
    const keys = await inspectSound(folder, progress)
    await replaceDatabase(folder, {
      bytes: await copyBytesOf(folder.store),
      write: to => copyStore(folder.store, to, progress),
      keysOf: async () => keys,
      progress,
    })
  })
  sayNow(`compacted: ${before} bytes before, ${databaseBytesOf(folder)} after`)
}
