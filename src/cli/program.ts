/**
 * The program of the command line: every command with its options.
 * @module
 */
import { Command } from 'commander'
import { versionAndBuild } from '../lib/version.ts'
import { addAppCommands } from './commands/applications-commands.ts'
import { addBackupCommands } from './commands/backups.ts'
import { addCallerCommands } from './commands/callers.ts'
import { addFileCommands } from './commands/files-commands.ts'
import { addKeyCommands } from './commands/keys-commands.ts'
import { addLogCommands } from './commands/logs.ts'
import { addPackagingCommands } from './commands/packaging.ts'
import { addDatabase, addKeySources } from './shared-options.ts'
import { addServingCommands } from './commands/serving.ts'
import { helpEnd, helpForm } from './help.ts'
import { usageExitCode } from '../server/process/failure.ts'
import { failureLine } from '../server/process/failure-line.ts'
import { assertMachine } from '../server/process/machine.ts'
import { guardProcess } from '../server/process/process-guard.ts'
import { say } from '../server/process/system.ts'

export function buildProgram(): Command {
  const program = new Command('coffer')
    .description('A tokenization vault in one binary.')
    .exitOverride()
    .configureHelp(helpForm)
    .addHelpText('afterAll', helpEnd)
    .version(versionAndBuild, '--version', 'print the version, and the build behind +')
    .hook('preAction', (_, command) => {
      if (command.name() === 'version') return
      guardProcess()
      assertMachine()
    })
    .configureOutput({
      outputError: (text, write) =>
        write(
          failureLine(
            `${text
              .replace(/^error: /, '')
              .trim()
              .replaceAll('\n', ' ')}; see --help`,
            usageExitCode,
          ),
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
    .action(() => say(versionAndBuild))
  return program
}
