/**
 * The program of the command line, and the list of its commands. Each is declared where it acts.
 * @module
 */
import { Command } from 'commander'
import { versionAndBuild } from '../lib/version.ts'
import { usageExitCode } from '../server/process/failure.ts'
import { failureLine } from '../server/process/failure-line.ts'
import { assertMachine } from '../server/process/machine.ts'
import { guardProcess } from '../server/process/process-guard.ts'
import { say } from '../server/process/system.ts'
import { addAccess } from './access/explained-access.ts'
import { addApp } from './applications.ts'
import { addAudit } from './audit/audit.ts'
import { addBackup } from './backup/backup.ts'
import { addCompact } from './compact.ts'
import { addCompletion } from './completion.ts'
import { addConfig } from './config-command.ts'
import { addDatabase } from './database/database-setup.ts'
import { addDev } from './dev.ts'
import { addDoctor } from './doctor/doctor.ts'
import { helpEnd, helpForm } from './help.ts'
import { addInit } from './init.ts'
import { addKeys } from './keys/keys.ts'
import { addLog } from './audit/log-digest.ts'
import { addMove } from './database/move.ts'
import { addPermissions } from './access/permission-list.ts'
import { addRestore } from './backup/restore.ts'
import { addScheduledBackup } from './backup/scheduled-backup.ts'
import { addServe, addWorker } from './serve/serve.ts'
import { addSession } from './sessions.ts'
import { addStatus } from './serve/status.ts'
import { addSystemd } from './serve/systemd.ts'
import { addTestVault } from './test-vault.ts'
import { addToken } from './tokens.ts'
import { addSeal, addUnseal } from './serve/unseal.ts'
import { addVerify } from './verify.ts'

function addVersion(program: Command): void {
  program
    .command('version')
    .description('print the version')
    .action(() => say(versionAndBuild))
}

/** In the order of help. */
const commands: readonly ((program: Command) => void)[] = [
  addInit,
  addServe,
  addUnseal,
  addSeal,
  addWorker,
  addScheduledBackup,
  addTestVault,
  addDev,
  addDoctor,
  addStatus,
  addConfig,
  addApp,
  addSession,
  addToken,
  addPermissions,
  addAccess,
  addBackup,
  addRestore,
  addVerify,
  addCompact,
  addMove,
  addDatabase,
  addKeys,
  addLog,
  addAudit,
  addSystemd,
  addCompletion,
  addVersion,
]

/** Errors of the parser are one line, like every failure. */
const tellOutput = (text: string, write: (line: string) => void): void => {
  const message = text
    .replace(/^error: /, '')
    .trim()
    .replaceAll('\n', ' ')
  write(failureLine(`${message}; see --help`, usageExitCode))
}

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
    .configureOutput({ outputError: tellOutput })
  for (const add of commands) add(program)
  return program
}
