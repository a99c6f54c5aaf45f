/**
 * Commands about backups.
 * @module
 */
import type { Command } from 'commander'
import { backup, type BackupOptions } from '../backup.ts'
import { restore, type RestoreOptions } from '../restore.ts'
import { dataOption, masterKeyOption } from './options.ts'

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('make an encrypted copy of a vault in one file, also while it is served')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .requiredOption('--to <file>', 'where to, or s3://bucket/name; nothing may be there')
    .option('--json', 'print one line of JSON')
    .action((options: BackupOptions) => backup(options))
  program
    .command('restore <file>')
    .description(
      'make a data folder from a backup, a file or s3://bucket/name; the folder must not exist, or be empty',
    )
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--verify-only', 'look at the whole backup, and make nothing')
    .option('--json', 'print one line of JSON')
    .action((file: string, options: RestoreOptions) => restore(file, options))
}
