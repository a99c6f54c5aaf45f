/**
 * Commands about backups.
 * @module
 */
import type { Command } from 'commander'
import { backup, type BackupOptions } from '../backup.ts'
import { restore, type RestoreOptions } from '../restore.ts'
import { dataOption, keyFileOption, masterKeyOption } from './options.ts'

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('make an encrypted copy of a vault in one file, also while it is served')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .requiredOption(
      '--to <file>',
      'where to, s3://bucket/name, or - for stdout; nothing may be there',
    )
    .option('--json', 'print one line of JSON')
    .action((options: BackupOptions) => backup(options))
  program
    .command('restore <file>')
    .description(
      'make a data folder, empty or not there, from a backup, also s3://bucket/name or - (stdin)',
    )
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--verify-only', 'look at the whole backup, and make nothing')
    .option('--revoke-keys', 'end all API keys and sessions in it, but a new management key')
    .option('--keep-keys', 'keep them, also those that were revoked since the backup')
    .addOption(keyFileOption())
    .option(
      '--erase <file>',
      'erase the tokens that a list of serve --erasure-log names; may be given again',
      (file: string, before: readonly string[] = []) => [...before, file],
    )
    .option('--json', 'print one line of JSON')
    .action((file: string, options: RestoreOptions) => restore(file, options))
}
