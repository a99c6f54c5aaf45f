/**
 * Settings on the command line: their options, the file that may hold them, and the refusal of
 * unknown variables.
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
import { CommandFailure, usage } from '../server/process/failure.ts'
import { readHanded } from '../server/folder/handed-files.ts'
import { isSourceGiven, masterKeyVariable } from '../server/keys/key-source.ts'
import { shownLast } from './help.ts'
import { keyVariable } from './reach.ts'
import { addOptions, takesVault } from './vault-options.ts'

const prefix = 'COFFER_'

/** Texts from the parser, before they are decoded. */
export interface ConfigOptions extends SettingTexts {
  /** Contents read by `takeConfigFile`. */
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

/** Options for addresses, the file, and every setting. */
const servingOptions = (): readonly Option[] => [
  ...addressOptions.map(optionOf),
  configOption(),
  ...backupOptions.map(optionOf),
  ...logOptions.map(optionOf),
  ...settingOptions.map(optionOf),
]

/** Options of a throw-away vault: it listens on loopback, and no file describes it. */
const tryingOptions = (): readonly Option[] =>
  [...addressOptions.filter(({ flag }) => flag === '--port'), ...logOptions, ...settingOptions].map(
    optionOf,
  )

const ofService =
  /^COFFER_(?:\w+_)?(?:SERVICE_(?:HOST|PORT)(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)$/
/** Our variable for a port may also be one of a service, by its name and value. */
const portOfService: readonly [name: RegExp, value: RegExp] = [
  /^COFFER_(?:\w+_)?PORT$/,
  /^(?:tcp|udp|sctp):\/\//,
]

type Environment = Readonly<Record<string, string | undefined>>

/** A link's name variable is `/web/coffer_db`: the container that links, and the alias there. */
function isNameOfLink(name: string, value: string): boolean {
  const alias = /^\/[\w.-]+\/([\w.-]+)$/.exec(value)?.[1]
  return alias !== undefined && name === `${alias.toUpperCase().replaceAll(/\W/g, '_')}_NAME`
}

/** True for a variable of the container behind a link, which comes with its name variable. */
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
 * decision: if one of these is empty, nothing reports that its guard is off, and a new vault would
 * silently get a key of its own. So a template may not leave them empty.
 */
const neverEmpty: readonly string[] = [
  masterKeyVariable,
  `${prefix}TLS_CLIENT_CA`,
  `${prefix}ERASURE_LOG`,
]

/** Variables that were dropped because they were empty. */
const emptied = new Set<string>()

/**
 * Drops variables that are not meant for coffer. Kubernetes gives each container variables of every
 * service, and Docker of every link: if the name of one begins with `coffer`, its variables begin
 * like ours, and one has the name of ours. An empty variable is dropped too, because templates of a
 * deployment leave it empty if nothing was chosen. Source: the documentation of Kubernetes,
 * "Environment variables" of a Service; of Docker, "Legacy container links".
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
 * For a new vault: an empty variable shows that its key or its rows were meant to have a place.
 * @param names of variables for one place, none of which was given, nor its option
 * @throws CommandFailure
 */
export function assertNotEmptied(...names: readonly string[]): void {
  const name = names.map(each => `${prefix}${each}`).find(each => emptied.has(each))
  if (name === undefined) return
  throw usage(`environment: ${name} is empty: take it away, or say where`)
}

const variablesOf = ({ commands, options }: Command): readonly (string | undefined)[] => [
  ...options.map(({ envVar }) => envVar),
  ...commands.flatMap(variablesOf),
]

/**
 * A mistyped name must not leave a safeguard off unnoticed.
 * @throws CommandFailure for a variable with our prefix that no command knows
 */
function assertKnownVariables(program: Command, environment: Environment): void {
  const known = new Set([...variablesOf(program), keyVariable])
  const unknown = Object.keys(environment).find(name => name.startsWith(prefix) && !known.has(name))
  if (unknown === undefined) return
  throw usage(`environment: ${showName(unknown)} is no setting`)
}

function readConfigFile(path: string): Uint8Array {
  let bytes: Uint8Array | undefined
  try {
    bytes = readHanded(path, configFileBytesMax)
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw usage(`the config file at ${path} cannot be read`)
  }
  if (bytes !== undefined) return bytes
  const expected = `expected a file or a pipe of at most ${configFileBytesMax} bytes`
  throw usage(`the config file at ${path}: ${expected}`)
}

/** @throws CommandFailure with one line that repeats no value */
function orUsage<T>(decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (error instanceof ApiError) throw usage(error.message)
    throw error
  }
}

/**
 * Reads the file of `--config` once, as it may be a pipe. The command line and the environment
 * override its places of the vault; a key named there overrides all of its places of a key.
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

/** Reads the file before anything that depends on it is decided. */
function takesSettings(command: Command, options: readonly Option[]): Command {
  return addOptions(command, options.map(shownLast))
    .hook('preAction', () => assertKnownVariables(rootOf(command), process.env))
    .hook('preAction', () => takeConfigFile(command))
}

/** Adds the options of a command that takes a vault with its settings as `coffer serve` does. */
export const takesServing = (command: Command): Command =>
  takesVault(takesSettings(command, servingOptions()), { store: 'any', joins: false })

/** Adds the options of a command that serves a throw-away vault of its own. */
export const takesTrying = (command: Command): Command => takesSettings(command, tryingOptions())
