#!/usr/bin/env bun
/**
 * The command line: parse, dispatch, exit code.
 *
 * 0 is success, 1 a failure, 2 a wrong command line. Every failure is one line on stderr.
 * @module
 */
import { CommanderError } from 'commander'
import { buildProgram } from './cli/program.ts'
import { endOnFault, tellFault } from './cli/fault.ts'
import { helpAsFlag } from './cli/help.ts'
import { dropForeignVariables } from './cli/setting-options.ts'
import { failureLine, findFailureForm } from './server/process/failure-line.ts'
import { CommandFailure, systemCodeOf, usageExitCode } from './server/process/failure.ts'
import { takeKeyVariable } from './server/keys/key-source.ts'

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode
  if (error instanceof CommandFailure) {
    const hint = error.exitCode === usageExitCode ? '; see --help' : ''
    process.stderr.write(failureLine(`${error.message}${hint}`, error.exitCode))
    return error.exitCode
  }
  // The reader of the output has gone away: nobody is left to tell.
  if (systemCodeOf(error) === 'EPIPE') return 1
  tellFault(error)
  return 1
}

async function run(): Promise<number> {
  process.umask(0o077)
  endOnFault()
  dropForeignVariables(process.env)
  findFailureForm(process.argv.slice(2), process.env)
  takeKeyVariable(process.env)
  try {
    await buildProgram().parseAsync(helpAsFlag(process.argv.slice(2)), { from: 'user' })
    return 0
  } catch (error) {
    return exitCodeOf(error)
  }
}

process.exit(await run())
