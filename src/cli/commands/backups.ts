/**
 * Commands about backups.
 * @module
 */
import type { Command } from 'commander'
import { CommandFailure, usageExitCode } from '../../server/process/failure.ts'
import { backup, type BackupOptions } from '../backup.ts'
import { listBackups, type BackupListOptions } from '../backup-list.ts'
import { restore, type RestoreOptions } from '../restore.ts'
import { dataOption, keyFileOption, masterKeyOption } from '../shared-options.ts'

/** The parser takes what both commands have for the one above. */
function listOptionsOf(command: Command): BackupListOptions {
  const { to, ...options }: BackupListOptions & BackupOptions = command.optsWithGlobals()
  if (to === undefined) return options
  throw new CommandFailure('backup list: --to: a list makes no backup', usageExitCode)
}

export function addBackupCommands(program: Command): void {
  const making = program
    .command('backup')
    .description('make an encrypted copy of a vault in one file, also while it is served')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--to <file>', 'where to, s3://bucket/name, or - for stdout; nothing may be there')
    .option('--json', 'print one line of JSON')
    .action((options: BackupOptions) => backup(options))
  making
    .command('list <place>')
    .description('the backups in a folder or s3://bucket/prefix, newest first, by their beginnings')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--json', 'print one line of JSON')
    .action((place: string, _, command: Command) => listBackups(place, listOptionsOf(command)))
  program
    .command('restore [file]')
    .description(
      'make a data folder, empty or not there, from a backup, also s3://bucket/name or - (stdin)',
    )
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--latest <place>', 'the newest backup in a folder or s3://bucket/prefix')
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
    .action((file: string | undefined, options: RestoreOptions) => restore(file, options))
}
