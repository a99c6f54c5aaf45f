/**
 * Commands about what the binary is installed with.
 * @module
 */
import type { Command } from 'commander'
import { printCompletion } from '../completion.ts'
import { printUnit } from '../systemd.ts'

export function addPackagingCommands(program: Command): void {
  program
    .command('systemd')
    .description('serve under systemd')
    .command('print')
    .description('print a unit that may do no more than it must; for the user coffer')
    .option('--binary <file>', 'where the binary is, where it is not this one')
    .option('--data <dir>', 'the data folder', '/var/lib/coffer')
    .option('--master-key-file <file>', 'where the master key is', '/etc/coffer/master.key')
    .option(
      '--master-key-credential <name>',
      'an encrypted credential that systemd-creds made of the master key, in its place',
    )
    .option('--port <port>', 'the port to listen on, on loopback', '3333')
    .option('--socket <file>', 'a Unix socket to listen on, in place of the port')
    .option('--ops-port <port>', 'where health and metrics are told, on loopback')
    .option('--backup-to <place>', 'a folder or a bucket for nightly backups')
    .option('--tls-cert <file>', 'the TLS certificate (PEM), which the user coffer may read')
    .option('--tls-key <file>', "its key (PEM), which is that user's alone")
    .option('--workers <number>', 'processes that serve together')
    .option('--config <file>', 'a JSON file with more settings')
    .option('--activation', 'listen on coffer.socket, so that no restart refuses a request')
    .option('--socket-unit', 'print coffer.socket instead, which listens on the port')
    .action((options: Parameters<typeof printUnit>[0]) => printUnit(options))
  program
    .command('completion <shell>')
    .description('print a script that makes bash, zsh or fish complete commands and options')
    .action((shell: string) => printCompletion(program, shell))
}
