/**
 * Commands about the files of a data folder.
 * @module
 */
import type { Command } from 'commander'
import type { FolderOptions } from '../../server/folder/data-folder.ts'
import { compact } from '../compact.ts'
import { databaseSetup, type DatabaseSetupOptions } from '../database-setup.ts'
import { move, type MoveOptions } from '../move.ts'
import { verify, type VerifyOptions } from '../verify.ts'
import { dataOption, masterKeyOption } from '../shared-options.ts'

export function addFileCommands(program: Command): void {
  program
    .command('verify')
    .description('look at all that is in a data folder: exit 1 for any damage')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--online', 'look at a copy of one moment, while it is served')
    .option('--json', 'print one line of JSON')
    .action((options: VerifyOptions) => verify(options))
  program
    .command('compact')
    .description('write the database anew without what was deleted; the server must be stopped')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .action((options: FolderOptions) => compact(options))
  program
    .command('move')
    .description('move a vault into PostgreSQL, or back; all that serve it must be stopped')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .requiredOption('--to <place>', 'URL of the database, without a password; or: folder')
    .option('--store-password-file <file>', 'where the password of its user is')
    .action((options: MoveOptions) => move(options))
  program
    .command('db')
    .description('the database that holds a vault')
    .command('setup')
    .description('print what makes the tables, for an operator who runs that by hand')
    .option('--print-sql', 'print the statements')
    .option('--schema <name>', 'where the tables are', 'coffer')
    .option('--role <name>', 'the user that serves, and owns nothing', 'coffer')
    .action((options: DatabaseSetupOptions) => databaseSetup(options))
}
