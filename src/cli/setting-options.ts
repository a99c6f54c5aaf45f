/**
 * Settings on the command line: their options, the file that they may stand in, and the refusal of
 * variables that nobody knows.
 *
 * @module
 */
import { Option, type Command } from 'commander'
import {
  addressOptions,
  backupOptions,
  countingSettings,
  decodeConfig,
  logOptions,
  settingOptions,
  vaultChoicesOf,
  type Config,
  type OptionText,
  type SettingTexts,
} from '../settings/config.ts'
import { ApiError } from '../lib/errors.ts'
import { configFileBytesMax } from '../limits/operation-limits.ts'
import { showName, type ConfigFile } from '../settings/config-file.ts'
import { CommandFailure, usageExitCode } from '../server/process/failure.ts'
import { readHanded } from '../server/folder/handed-files.ts'
import { isSourceGiven, masterKeyVariable } from '../server/keys/key-source.ts'
import { shownLast } from './help.ts'
import { keyVariable } from './reach.ts'
import { addOptions, takesVault } from './vault-options.ts'

const prefix = 'COFFER_'

/** What the parser has read, before it is decoded. */
export interface ConfigOptions extends SettingTexts {
  /** What `takeConfigFile` has read. */
  readonly configFile?: ConfigFile
}

const joinTexts = (text: string, before: string | undefined): string =>
  before === undefined ? text : `${before},${text}`

function optionOf({ flag, variable, describes, isRepeatable }: OptionText): Option {
  const option = new Option(`${flag} <value>`, describes).env(variable)
  return isRepeatable ? option.argParser(joinTexts) : option
}

const configOption = () =>
  new Option('--config <file>', 'a JSON file with settings').env(`${prefix}CONFIG`)

/** Where to listen, the file, and every setting. */
const servingOptions = (): readonly Option[] => [
  ...addressOptions.map(optionOf),
  configOption(),
  ...backupOptions.map(optionOf),
  ...logOptions.map(optionOf),
  ...settingOptions.map(optionOf),
]

/** Of a vault that is not meant to stay: it listens on loopback, and no file speaks of it. */
const tryingOptions = (): readonly Option[] =>
  [...addressOptions.filter(({ flag }) => flag === '--port'), ...logOptions, ...settingOptions].map(
    optionOf,
  )

const ofService =
  /^COFFER_(?:\w+_)?(?:SERVICE_(?:HOST|PORT)(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)$/
/** That of ours too which says where to listen. */
const portOfService: readonly [name: RegExp, value: RegExp] = [
  /^COFFER_(?:\w+_)?PORT$/,
  /^(?:tcp|udp|sctp):\/\//,
]

type Environment = Readonly<Record<string, string | undefined>>

/** Of a link it is `/web/coffer_db`: where it leads from, and what it is called there. */
function isNameOfLink(name: string, value: string): boolean {
  const alias = /^\/[\w.-]+\/([\w.-]+)$/.exec(value)?.[1]
  return alias !== undefined && name === `${alias.toUpperCase().replaceAll(/\W/g, '_')}_NAME`
}

/** A variable of what a link leads to, which is told beside its name. */
function isOfLink(name: string, environment: Environment): boolean {
  for (let at = name.indexOf('_ENV_'); at > 0; at = name.indexOf('_ENV_', at + 1)) {
    const named = `${name.slice(0, at)}_NAME`
    if (isNameOfLink(named, environment[named] ?? '')) return true
  }
  return isNameOfLink(name, environment[name] ?? '')
}

const isOfService = (name: string, value: string, environment: Environment): boolean =>
  ofService.test(name) ||
  (portOfService[0].test(name) && portOfService[1].test(value)) ||
  isOfLink(name, environment)

/**
 * decision: what these switch on, nothing tells of once it is off, and a new vault would silently
 * get a key of its own. So they are none of what a template may leave empty.
 */
const neverEmpty: readonly string[] = [
  masterKeyVariable,
  `${prefix}TLS_CLIENT_CA`,
  `${prefix}ERASURE_LOG`,
]

/** Those that were empty, and mean nothing. */
const emptied = new Set<string>()

/**
 * Kubernetes gives each container variables of each service, and Docker of each link: of one whose
 * name begins with `coffer` they begin as ours do, and one has the name of ours. They are taken
 * away, and mean nothing here; nor does a variable that is empty, as the templates of a deployment
 * leave it where nothing was chosen.
 * Source: the documentation of Kubernetes, "Environment variables" of a Service; of Docker, "Legacy
 * container links".
 */
export function dropForeignVariables(environment: Record<string, string | undefined>): void {
  const foreign = Object.entries(environment).filter(([name, value = '']) => {
    if (!name.startsWith(prefix)) return false
    if (value === '') return !neverEmpty.includes(name)
    return isOfService(name, value, environment)
  })
  for (const [name, value] of foreign) {
    if (value === '') emptied.add(name)
    delete environment[name]
  }
}

/**
 * Of a new vault: somebody meant to say where its key or its rows are, and said nothing.
 * @param names of variables for the same place, none of which was given, nor its option
 * @throws CommandFailure
 */
export function assertNotEmptied(...names: readonly string[]): void {
  const name = names.map(each => `${prefix}${each}`).find(each => emptied.has(each))
  if (name === undefined) return
  throw new CommandFailure(
    `environment: ${name} is empty: take it away, or say where`,
    usageExitCode,
  )
}

const variablesOf = ({ commands, options }: Command): readonly (string | undefined)[] => [
  ...options.map(({ envVar }) => envVar),
  ...commands.flatMap(variablesOf),
]

/**
 * A mistyped name must not leave a guard as it was.
 * @throws CommandFailure for a variable of ours that no command knows
 */
function assertKnownVariables(program: Command, environment: Environment): void {
  const known = new Set([...variablesOf(program), keyVariable])
  const unknown = Object.keys(environment).find(name => name.startsWith(prefix) && !known.has(name))
  if (unknown === undefined) return
  throw new CommandFailure(`environment: ${showName(unknown)} is no setting`, usageExitCode)
}

function readConfigFile(path: string): Uint8Array {
  let bytes: Uint8Array | undefined
  try {
    bytes = readHanded(path, configFileBytesMax)
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(`the config file at ${path} cannot be read`, usageExitCode)
  }
  if (bytes !== undefined) return bytes
  const expected = `expected a file or a pipe of at most ${configFileBytesMax} bytes`
  throw new CommandFailure(`the config file at ${path}: ${expected}`, usageExitCode)
}

/** @throws CommandFailure with one line that repeats no value */
function orUsage<T>(decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (error instanceof ApiError) throw new CommandFailure(error.message, usageExitCode)
    throw error
  }
}

/**
 * Reads the file of `--config`, once, as it may be a pipe. What it says of the vault and its key
 * counts where neither the command line nor the environment does; of the places of a key any.
 * @throws CommandFailure
 */
function takeConfigFile(command: Command): void {
  const path: unknown = command.getOptionValue('config')
  if (typeof path !== 'string') return
  const file = { path, bytes: readConfigFile(path) }
  command.setOptionValue('configFile', file)
  const choices = orUsage(() => vaultChoicesOf(file))
  const isKeyGiven = isSourceGiven(command.opts())
  for (const [name, value] of Object.entries(choices)) {
    const isGiven = ['cli', 'env'].includes(command.getOptionValueSource(name) ?? '')
    if (isGiven || (isKeyGiven && name.startsWith('masterKey'))) continue
    command.setOptionValueWithSource(name, value, 'config')
  }
}

/** @throws CommandFailure with one line that repeats no value */
export const loadConfig = ({ configFile, ...texts }: ConfigOptions): Config =>
  orUsage(() => decodeConfig(texts, configFile))

/** @throws CommandFailure as `loadConfig` */
export const loadSettings = ({ configFile, ...texts }: ConfigOptions) =>
  orUsage(() => countingSettings(texts, configFile))

const rootOf = (command: Command): Command =>
  command.parent === null ? command : rootOf(command.parent)

/** The file is read before anything is decided by what it may say. */
function takesSettings(command: Command, options: readonly Option[]): Command {
  return addOptions(command, options.map(shownLast))
    .hook('preAction', () => assertKnownVariables(rootOf(command), process.env))
    .hook('preAction', () => takeConfigFile(command))
}

/** For a command that takes a vault with its settings as `coffer serve` does. */
export const takesServing = (command: Command): Command =>
  takesVault(takesSettings(command, servingOptions()), { store: 'any', joins: false })

/** For a command that serves a vault of its own, which is thrown away. */
export const takesTrying = (command: Command): Command => takesSettings(command, tryingOptions())
