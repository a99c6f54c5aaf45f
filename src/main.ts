#!/usr/bin/env bun
/**
 * The command line: parse, dispatch, exit code.
 *
 * 0 is success, 1 a failure, 2 a wrong command line. Every failure is one line on stderr.
 * @module
 */
import { Command, CommanderError } from 'commander'
import { version } from '../package.json' with { type: 'json' }
import { addAppCommands } from './cli/commands/applications.ts'
import { addBackupCommands } from './cli/commands/backups.ts'
import { addCallerCommands } from './cli/commands/callers.ts'
import { addFileCommands } from './cli/commands/files.ts'
import { addKeyCommands } from './cli/commands/keys.ts'
import { addLogCommands } from './cli/commands/logs.ts'
import { addPackagingCommands } from './cli/commands/packaging.ts'
import { addDatabase, addKeySources } from './cli/commands/options.ts'
import { addServingCommands } from './cli/commands/serving.ts'
import { endOnFault, tellFault } from './cli/fault.ts'
import { helpEnd, helpForm } from './cli/help.ts'
import { dropForeignVariables } from './cli/options.ts'
import { CommandFailure, systemCodeOf, usageExitCode } from './serve/failure.ts'
import { takeKeyVariable } from './serve/key-source.ts'
import { assertMachine } from './serve/machine.ts'
import { guardProcess } from './serve/process-guard.ts'
import { say } from './serve/system.ts'
import { visible } from './serve/visible-text.ts'

function buildCommands(): Command {
  const program = new Command('coffer')
    .description('A tokenization vault in one binary.')
    .exitOverride()
    .configureHelp(helpForm)
    .addHelpText('afterAll', helpEnd)
    .version(version, '--version', 'print the version')
    .hook('preAction', (_, command) => {
      if (command.name() === 'version') return
      guardProcess()
      assertMachine()
    })
    .configureOutput({
      outputError: (text, write) =>
        write(
          `coffer: ${visible(
            text
              .replace(/^error: /, '')
              .trim()
              .replaceAll('\n', ' '),
          )}; see --help\n`,
        ),
    })
  addServingCommands(program)
  addAppCommands(program)
  addCallerCommands(program)
  addBackupCommands(program)
  addFileCommands(program)
  addKeyCommands(program)
  addLogCommands(program)
  addPackagingCommands(program)
  addDatabase(program)
  addKeySources(program)
  program
    .command('version')
    .description('print the version')
    .action(() => say(version))
  return program
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode
  if (error instanceof CommandFailure) {
    const hint = error.exitCode === usageExitCode ? '; see --help' : ''
    process.stderr.write(`coffer: ${visible(error.message)}${hint}\n`)
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
  dropForeignVariables(process.env)
  takeKeyVariable(process.env)
  try {
    await buildCommands().parseAsync()
    return 0
  } catch (error) {
    return exitCodeOf(error)
  }
}

process.exit(await run())
