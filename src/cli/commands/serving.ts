/**
 * Commands that make a vault, serve it and look at what serving needs.
 * @module
 */
import type { Command } from 'commander'
import { checkConfig, printConfig, type ConfigCommandOptions } from '../config-command.ts'
import { dev, type DevOptions } from '../dev.ts'
import { doctor, type DoctorOptions } from '../doctor.ts'
import { init, type InitOptions } from '../init.ts'
import {
  assertKnownVariables,
  servingOptions,
  takeConfigFile,
  tryingOptions,
} from '../setting-options.ts'
import { scheduledBackup } from '../scheduled-backup.ts'
import { serve } from '../serve.ts'
import type { ServeOptions } from '../serve-shared.ts'
import { seal, unseal, type UnsealOptions } from '../unseal.ts'
import { status, type StatusOptions } from '../status.ts'
import { testVault } from '../test-vault.ts'
import { work } from '../../server/process/worker.ts'
import { addOptions, dataOption, keyFileOption, masterKeyOption } from '../shared-options.ts'

/** What settings are of is told by `serve` and these alike. */
function addConfigCommands(program: Command): readonly Command[] {
  const config = program.command('config').description('settings as coffer serve would take them')
  const printing = config
    .command('print')
    .description('print each setting and where it comes from; no secret is shown')
    .option('--json', 'print one line of JSON')
    .action((options: ConfigCommandOptions, command: Command) => printConfig(options, command))
  const checking = config
    .command('check')
    .description('end with 2 and a line that says what is wrong in them, if anything is')
    .action((options: ConfigCommandOptions) => checkConfig(options))
  for (const command of [printing, checking]) {
    addOptions(command, [dataOption(), masterKeyOption(), ...servingOptions()])
  }
  return [printing, checking]
}

/** Before each of them does anything. */
function readSettings(program: Command, commands: readonly Command[]): void {
  for (const command of commands) {
    command.hook('preAction', () => assertKnownVariables(program, process.env))
    command.hook('preAction', () => takeConfigFile(command))
  }
}

export function addServingCommands(program: Command): void {
  program
    .command('init')
    .description('make a data folder, and print the first management key once')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .addOption(keyFileOption())
    .option('--json', 'print one line of JSON')
    .action((options: InitOptions) => init(options))
  const serving = program
    .command('serve')
    .description('serve a data folder')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--init', 'make the data folder and its --master-key-file first where neither is')
    .option('--init-new', 'the same wherever the key is, for a first start alone')
    .addOption(keyFileOption())
    .option('--sealed', 'start without the master key, which coffer unseal brings')
    .action((options: ServeOptions) => serve(options))
  addOptions(serving, servingOptions())
  program
    .command('unseal')
    .description('give a sealed vault its master key: by shares on stdin, or from one place')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--reset', 'forget the shares that came so far')
    .option('--json', 'print one line of JSON')
    .action((options: UnsealOptions) => unseal(options))
  program
    .command('seal')
    .description('make a running vault forget its keys, until it is unsealed')
    .addOption(dataOption())
    .option('--json', 'print one line of JSON')
    .action((options: UnsealOptions) => seal(options))
  program
    .command('worker <index>', { hidden: true })
    .description('serve with others, as coffer serve --workers orders on stdin')
    .action((index: string) => work(Number(index)))
  program
    .command('scheduled-backup', { hidden: true })
    .description('make a backup where one is due, as coffer serve --backup-to orders on stdin')
    .action(() => scheduledBackup())
  program
    .command('test-vault <order>', { hidden: true })
    .description('serve one test, as coffer/testing orders')
    .action((order: string) => testVault(order))
  const trying = program
    .command('dev')
    .description('start a throw-away vault with three keys')
    .option('--json', 'print one line of JSON when it is ready')
    .action((options: DevOptions) => dev(options))
  addOptions(trying, tryingOptions())
  const examining = program
    .command('doctor')
    .description('look for faults and weak choices in a data folder and its settings')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--json', 'print one line of JSON')
    .action((options: DoctorOptions) => doctor(options))
  addOptions(examining, servingOptions())
  program
    .command('status')
    .description('what the server of a data folder says of itself')
    .addOption(dataOption())
    .option('--json', 'print one line of JSON')
    .action((options: StatusOptions) => status(options))
  readSettings(program, [serving, trying, examining, ...addConfigCommands(program)])
}
