/**
 * `coffer config`: the settings that `coffer serve` would take from the same flags, variables and
 * file.
 *
 * It checks only the texts: `coffer doctor` checks the files and addresses that they name.
 * @module
 */
import type { Command } from 'commander'
import { placeIn } from '../settings/config.ts'
import type { FolderOptions } from '../server/folder/data-folder.ts'
import { isKeyInEnvironment, masterKeyVariable } from '../server/keys/key-source.ts'
import { sayJson, sayNow } from '../server/process/system.ts'
import { hasPassword } from './vault-options.ts'
import { loadConfig, loadSettings, takesServing, type ConfigOptions } from './setting-options.ts'
import { assertReadAgain } from './serve.ts'
import { printTable, shown, textOf } from './table.ts'

type ConfigCommandOptions = FolderOptions & ConfigOptions & { readonly json?: boolean }

/** A line of the output. */
interface Line {
  readonly name: string
  /** `null` if it is not set. */
  readonly value: unknown
  readonly from: string
}

const notShown = '(not shown)'

const camelOf = (snake: string): string =>
  snake.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Returns the flag or the variable that gave an option its text; `undefined` if neither did. */
function textSource(command: Command, name: string): string | undefined {
  const option = command.options.find(each => each.attributeName() === name)
  const source = command.getOptionValueSource(name)
  if (source === 'cli') return option?.long
  return source === 'env' ? option?.envVar : undefined
}

/** An address that is no URL may hold a password anywhere. */
const shownAddress = (url: string): string =>
  hasPassword(url) || !URL.canParse(url) ? notShown : url

/** Places of the vault and its key. */
function linesOfVault(options: ConfigCommandOptions, command: Command): readonly Line[] {
  const { data, masterKeyFile, masterKeyCredential, store, configFile } = options
  const { passphrase, passphraseFd, storePasswordFile } = options
  const key = isKeyInEnvironment() ? notShown : undefined
  const said = {
    data,
    master_key_file: masterKeyFile,
    master_key_credential: masterKeyCredential,
    master_key: key,
    passphrase,
    passphrase_fd: passphraseFd,
    store: store === undefined ? undefined : shownAddress(store),
    store_password_file: storePasswordFile,
  }
  return Object.entries(said)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = name === 'master_key' ? masterKeyVariable : textSource(command, camelOf(name))
      return { name, value, from: text ?? placeIn(configFile, camelOf(name)) ?? 'default' }
    })
}

function linesOf(options: ConfigCommandOptions, command: Command): readonly Line[] {
  const settings = loadSettings(options).map(({ name, value = null, from }) => ({
    name,
    value,
    from: from === 'text' ? (textSource(command, camelOf(name)) ?? 'default') : from,
  }))
  return [...linesOfVault(options, command), ...settings]
}

const shownValue = (value: unknown): string => {
  if (value === null) return '-'
  return shown(Array.isArray(value) ? value.join(', ') || '-' : textOf(value))
}

/** @throws CommandFailure with exit code 2 if `checkConfig` does */
function printConfig(options: ConfigCommandOptions, command: Command): void {
  checkChoices(options)
  const lines = linesOf(options, command)
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
