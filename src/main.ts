#!/usr/bin/env bun
/**
 * The command line: parse, dispatch, exit code.
 *
 * 0 is success, 1 a failure, 2 a wrong command line. Every failure is one line on stderr.
 * @module
 */
import { Command, CommanderError, Option } from 'commander'
import { version } from '../package.json' with { type: 'json' }
import { createApp, type AppCreateOptions } from './cli/app-create.ts'
import { backup, type BackupOptions } from './cli/backup.ts'
import { compact } from './cli/compact.ts'
import type { FolderOptions } from './serve/data-folder.ts'
import { dev, type DevOptions } from './cli/dev.ts'
import { doctor, type DoctorOptions } from './cli/doctor.ts'
import { CommandFailure, systemCodeOf, usageExitCode } from './serve/failure.ts'
import { endOnFault, tellFault } from './cli/fault.ts'
import { init, type InitOptions } from './cli/init.ts'
import { assertMachine } from './serve/machine.ts'
import {
  assertKnownVariables,
  dropServiceVariables,
  servingOptions,
  tryingOptions,
} from './cli/options.ts'
import { serve, type ServeOptions } from './cli/serve.ts'
import { guardProcess } from './serve/process-guard.ts'
import { say } from './serve/system.ts'
import { work } from './serve/worker.ts'
import { restore, type RestoreOptions } from './cli/restore.ts'
import { printUnit, type UnitOptions } from './cli/systemd.ts'
import { upgrade } from './cli/upgrade.ts'
import { verify, type VerifyOptions } from './cli/verify.ts'

const dataOption = () =>
  new Option('--data <dir>', 'the data folder').env('COFFER_DATA').default('coffer-data')

const masterKeyOption = () =>
  new Option('--master-key-file <file>', 'where the master key is, if not in the folder').env(
    'COFFER_MASTER_KEY_FILE',
  )

function addOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) command.addOption(option)
  return command
}

function addAppCommands(program: Command): void {
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

function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('make an encrypted copy of a vault in one file, also while it is served')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .requiredOption('--to <file>', 'where to; nothing may be there')
    .option('--json', 'print one line of JSON')
    .action((options: BackupOptions) => backup(options))
  program
    .command('restore <file>')
    .description('make a data folder from a backup; the folder must not exist, or be empty')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--verify-only', 'look at the whole backup, and make nothing')
    .option('--json', 'print one line of JSON')
    .action((file: string, options: RestoreOptions) => restore(file, options))
}

function addSystemdCommands(program: Command): void {
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
}

function addFileCommands(program: Command): void {
  program
    .command('verify')
    .description('look at all that is in a data folder: exit 1 for any damage')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--json', 'print one line of JSON')
    .action((options: VerifyOptions) => verify(options))
  program
    .command('compact')
    .description('write the database anew without what was deleted; the server must be stopped')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .action((options: FolderOptions) => compact(options))
  program
    .command('upgrade')
    .description('make a vault of an older format one of this format; the server must be stopped')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .action((options: FolderOptions) => upgrade(options))
}

function buildCommands(): Command {
  const program = new Command('coffer')
    .description('A tokenization vault in one binary.')
    .exitOverride()
    .version(version, '--version', 'print the version')
    .hook('preAction', (_, command) => {
      if (command.name() === 'version') return
      guardProcess()
      assertMachine()
    })
    .configureOutput({
      outputError: (text, write) =>
        write(
          `coffer: ${text
            .replace(/^error: /, '')
            .trim()
            .replaceAll('\n', ' ')}; see --help\n`,
        ),
    })
  program
    .command('init')
    .description('make a data folder, and print the first management key once')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--json', 'print one line of JSON')
    .action((options: InitOptions) => init(options))
  const serving = program
    .command('serve')
    .description('serve a data folder')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .action((options: ServeOptions) => serve(options))
  addOptions(serving, servingOptions())
  program
    .command('worker <index>', { hidden: true })
    .description('serve with others, as coffer serve --workers orders on stdin')
    .action((index: string) => work(Number(index)))
  const trying = program
    .command('dev')
    .description('start a throw-away vault with three keys')
    .option('--json', 'print one line of JSON when it is ready')
    .action((options: DevOptions) => dev(options))
  addOptions(trying, tryingOptions())
  addAppCommands(program)
  const examining = program
    .command('doctor')
    .description('look for faults and weak choices in a data folder and its settings')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--json', 'print one line of JSON')
    .action((options: DoctorOptions) => doctor(options))
  addOptions(examining, servingOptions())
  addBackupCommands(program)
  addFileCommands(program)
  addSystemdCommands(program)
  program
    .command('version')
    .description('print the version')
    .action(() => say(version))
  for (const command of [serving, trying, examining]) {
    command.hook('preAction', () => assertKnownVariables(program, process.env))
  }
  return program
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode
  if (error instanceof CommandFailure) {
    const hint = error.exitCode === usageExitCode ? '; see --help' : ''
    process.stderr.write(`coffer: ${error.message}${hint}\n`)
    return error.exitCode
  }
  // Whoever reads the lines has gone away: nobody is left to tell.
  if (systemCodeOf(error) === 'EPIPE') return 1
  tellFault(error)
  return 1
}

async function run(): Promise<number> {
  process.umask(0o077)
  endOnFault()
  dropServiceVariables(process.env)
  try {
    await buildCommands().parseAsync()
    return 0
  } catch (error) {
    return exitCodeOf(error)
  }
}

process.exit(await run())
