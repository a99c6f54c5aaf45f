/**
 * `coffer compact`: rewrites the database of a stopped vault without deleted data.
 *
 * Until then the bytes of deleted rows stay in pages that the engine keeps for reuse, where a thief
 * who has the master key can read them. A damaged vault is left as it is. Source: contract section
 * 13; docs/threats.md, "Contents of the files".
 * @module
 */
import type { Command } from 'commander'
import { resolve } from 'node:path'
import type { BeginProgress } from '../lib/progress.ts'
import { assertOwnStore } from '../server/folder/folder-database.ts'
import type { FoundCopy } from '../server/folder/copies.ts'
import { copyBytesOf, copyStore } from '../store/lmdb/maintenance/compact-copy.ts'
import {
  clearLeftovers,
  lockDataFolder,
  type FolderOptions,
  type LockedFolder,
} from '../server/folder/data-folder.ts'
import { CommandFailure } from '../server/process/failure.ts'
import { pathsOf } from '../server/folder/folder-stamp.ts'
import { removeFile } from '../server/folder/regular-files.ts'
import { beginSumIn, copyKeyOf } from './database/begin-sum.ts'
import { advicesOf } from './copy-advice.ts'
import { inspectSound } from './inspect.ts'
import { withProgress } from './show-progress.ts'
import { databaseBytesOf, databaseIn, replaceDatabase } from './database/replace-database.ts'
import { sayNow } from '../server/process/system.ts'
import { takesVault } from './vault-options.ts'

/**
 * Prints the receipt: the files that were looked at, and those that are gone.
 * @throws CommandFailure if a copy is left that this cannot remove
 */
function endCopies({ data, store }: LockedFolder, copies: readonly FoundCopy[]): void {
  sayNow(`  looked at ${resolve(databaseIn(store))}: written anew`)
  const { moved } = pathsOf(data)
  // The vault is in the new file, all of which was checked.
  removeFile(moved)
  const left = copies.filter(({ path, state }) => state === 'kept' && path !== resolve(moved))
  for (const { path } of copies.filter(copy => !left.includes(copy))) {
    sayNow(`  looked at ${path}: removed`)
  }
  if (left.length > 0) throw new CommandFailure(`a copy is left: ${advicesOf(left).join('; ')}`)
}

async function rewrite(
  folder: LockedFolder,
  masterKey: Uint8Array,
  progress: BeginProgress,
): Promise<void> {
  const { keys, sum } = await inspectSound(folder, progress)
  await replaceDatabase(folder, {
    bytes: await copyBytesOf(folder.store),
    async write(to) {
      await copyStore(folder.store, to, progress)
      if (sum === 'not_begun') await beginSumIn({ ...folder, store: to, masterKey })
    },
    keysOf: async () => keys,
    progress,
  })
}

/** @throws CommandFailure with the old file in its place; with the new one, if a copy is left */
async function compact(options: FolderOptions): Promise<void> {
  assertOwnStore(options.data, 'it is compacted there, by VACUUM')
  const folder = lockDataFolder(options)
  const copies = clearLeftovers(folder)
  const held = copies.filter(({ state }) => state === 'held')
  if (held.length > 0) throw new CommandFailure(`not compacted: ${advicesOf(held).join('; ')}`)
  const before = databaseBytesOf(folder)
  const masterKey = copyKeyOf(folder)
  try {
    await withProgress({ bytes: before }, progress => rewrite(folder, masterKey, progress))
  } finally {
    masterKey.fill(0)
  }
  sayNow(`compacted: ${before} bytes before, ${databaseBytesOf(folder)} after`)
  endCopies(folder, copies)
}

export function addCompact(program: Command): void {
  takesVault(program.command('compact'), { store: 'folder' })
    .description('write the database anew without what was deleted; the server must be stopped')
    .action((options: FolderOptions) => compact(options))
}
