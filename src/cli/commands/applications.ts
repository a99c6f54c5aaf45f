/**
 * Commands about applications.
 * @module
 */
import type { Command } from 'commander'
import { createApp, type AppCreateOptions } from '../app-create.ts'
import { dataOption, masterKeyOption } from './options.ts'

export function addAppCommands(program: Command): void {
  program
    .command('app')
    .description('manage applications without a key')
    .command('create')
    .description(
      'make a management application, and print its key once; the server must be stopped',
    )
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--name <name>', 'what to call it', 'Made on the command line')
    .option('--tenant <id>', 'whose it is, where there are several tenants')
    .option('--json', 'print one line of JSON')
    .action((options: AppCreateOptions) => createApp(options))
}
