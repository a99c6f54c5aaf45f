/**
 * `coffer db sum`: lets `coffer verify` find rows put back in a database that an older coffer made,
 * from now on. It takes the rows that it finds as right, once all else was checked.
 * @module
 */
import type { Command } from 'commander'
import { isInDatabase } from '../../server/folder/folder-database.ts'
import {
  clearLeftovers,
  lockDataFolder,
  type FolderOptions,
} from '../../server/folder/data-folder.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { sayNow } from '../../server/process/system.ts'
import { beginSumInDatabase, copyKeyOf } from './begin-sum.ts'
import { inspectSound } from '../inspect.ts'
import { databaseBytesOf } from './replace-database.ts'
import { withProgress } from '../show-progress.ts'
import { takesVault } from '../vault-options.ts'

/** @throws CommandFailure */
async function databaseSum(options: FolderOptions): Promise<void> {
  const { data } = options
  if (!isInDatabase(data)) {
    throw new CommandFailure(`${data} has a store of its own: coffer compact begins its sum`)
  }
  const folder = lockDataFolder(options)
  clearLeftovers(folder)
  const masterKey = copyKeyOf(folder)
  try {
    const { sum } = await withProgress({ bytes: databaseBytesOf(folder) }, progress =>
      inspectSound(folder, progress),
    )
    if (sum === 'compared') return sayNow('There is a sum over all rows, and they fit it.')
    await beginSumInDatabase({ ...folder, masterKey })
  } finally {
    masterKey.fill(0)
  }
  sayNow('From now on coffer verify finds rows that are put back with their index entries.')
}

export function addDatabaseSum(database: Command): void {
  takesVault(database.command('sum'), { store: 'any', joins: true })
    .description('begin the sum over all rows that verify compares; all vaults must be stopped')
    .action((options: FolderOptions) => databaseSum(options))
}
