/**
 * Commands about what the binary is installed with.
 * @module
 */
import type { Command } from 'commander'
import { printCompletion } from '../completion.ts'
import { printUnit, type UnitOptions } from '../systemd.ts'

export function addPackagingCommands(program: Command): void {
  program
    .command('systemd')
    .description('serve under systemd')
    .command('print')
    .description('print a unit that may do no more than it must; for the user coffer')
    .option('--binary <file>', 'where the binary is', '/usr/local/bin/coffer')
    .option('--data <dir>', 'the data folder', '/var/lib/coffer')
    .option('--master-key-file <file>', 'where the master key is', '/etc/coffer/master.key')
    .option('--port <port>', 'the port to listen on, on loopback', '3333')
    .action((options: UnitOptions) => printUnit(options))
  program
    .command('completion <shell>')
    .description('print a script that makes bash, zsh or fish complete commands and options')
    .action((shell: string) => printCompletion(program, shell))
}
