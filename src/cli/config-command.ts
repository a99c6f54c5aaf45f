/**
 * `coffer config`: the settings that `coffer serve` would take from the same flags, variables and
 * file.
 *
 * It checks only the texts: `coffer doctor` checks the files and addresses that they name.
 * @module
 */
import type { Command } from 'commander'
import { sayJson, sayNow } from '../server/process/system.ts'
import { settingLines, type LineOptions } from './setting-lines.ts'
import { loadConfig, takesServing } from './setting-options.ts'
import { assertReadAgain } from './serve/serve.ts'
import { printTable, shown, textOf } from './table.ts'

type ConfigCommandOptions = LineOptions & { readonly json?: boolean }

const shownValue = (value: unknown): string => {
  if (value === null) return '-'
  return shown(Array.isArray(value) ? value.join(', ') || '-' : textOf(value))
}

/** @throws CommandFailure with exit code 2 if `checkConfig` does */
function printConfig(options: ConfigCommandOptions, command: Command): void {
  checkChoices(options)
  const lines = settingLines(options, command)
  if (options.json === true) sayJson({ settings: lines })
  else {
    const rows = lines.map(({ name, value, from }) => [name, shownValue(value), shown(from)])
    printTable([['setting', 'value', 'from'], ...rows])
  }
}

const checkChoices = (options: ConfigCommandOptions): void =>
  assertReadAgain(options, loadConfig(options))

/** @throws CommandFailure with exit code 2, which names the flag, the variable or the line */
function checkConfig(options: ConfigCommandOptions): void {
  checkChoices(options)
  sayNow('The settings can be taken.')
}

export function addConfig(program: Command): void {
  const config = program.command('config').description('settings as coffer serve would take them')
  takesServing(config.command('print').option('--json', 'print one line of JSON'))
    .description('print each setting and where it comes from; no secret is shown')
    .action((options: ConfigCommandOptions, command: Command) => printConfig(options, command))
  takesServing(config.command('check'))
    .description('end with 2 and a line that says what is wrong in them, if anything is')
    .action((options: ConfigCommandOptions) => checkConfig(options))
}
