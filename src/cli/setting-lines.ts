/**
 * Settings in force, with the flag, the variable or the line that gave each: as `coffer config`
 * prints them, and as a serving vault tells them.
 * @module
 */
import type { Command } from 'commander'
import { placeIn } from '../settings/config.ts'
import { dependentDefaults } from '../settings/serving-settings.ts'
import { isInDatabase } from '../server/folder/folder-database.ts'
import type { FolderOptions } from '../server/folder/data-folder.ts'
import { isKeyInEnvironment, masterKeyVariable } from '../server/keys/key-source.ts'
import type { StatusSetting } from '../status/schema.ts'
import { loadSettings, type ConfigOptions } from './setting-options.ts'
import { hasPassword } from './vault-options.ts'

export type LineOptions = FolderOptions & ConfigOptions

/** A line of `coffer config print`. */
export interface SettingLine {
  readonly name: string
  /** `null` if it is not set. */
  readonly value: unknown
  /** The flag, the variable, the file's position as `/etc/coffer.json:3`, or `default`. */
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
function linesOfVault(options: LineOptions, command: Command): readonly SettingLine[] {
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

function linesOfSettings(options: ConfigOptions, command: Command): readonly SettingLine[] {
  const loaded = loadSettings(options)
  const isSet = (wanted: string): boolean =>
    loaded.some(({ name, value }) => name === wanted && value !== undefined)
  const defaultOf = (wanted: string): unknown => {
    const { beside, value } = dependentDefaults[camelOf(wanted)] ?? {}
    return beside !== undefined && isSet(beside) ? value : null
  }
  return loaded.map(({ name, value = defaultOf(name), from }) => ({
    name,
    value,
    from: from === 'text' ? (textSource(command, camelOf(name)) ?? 'default') : from,
  }))
}

export const settingLines = (options: LineOptions, command: Command): readonly SettingLine[] => [
  ...linesOfVault(options, command),
  ...linesOfSettings(options, command),
]

/*
 * The same for callers: they learn no path of the machine, and no secret.
 */

/** Texts that hold neither a path nor a secret; any other text is told as set, and not shown. */
const shownTexts: ReadonlySet<string> = new Set([
  'host',
  'socket_mode',
  'socket_group',
  'check_path',
  'ops_host',
  'backup_every',
  'log_level',
  'log_format',
  'log_priority',
  'log_requests',
  'key_headers',
  'header_prefix',
  'base_path',
  'cors_origins',
  'trusted_proxies',
  'egress_allow',
  'audit_reads',
  'audit_witnesses',
  'cvc_lifetime',
])

function originOf(from: string): Pick<StatusSetting, 'from' | 'by'> {
  if (from === 'default') return { from }
  if (from.startsWith('--')) return { from: 'flag', by: from }
  const line = /:(\d+)$/.exec(from)?.[1]
  return line === undefined
    ? { from: 'environment', by: from }
    : { from: 'file', by: `line ${line}` }
}

const isText = (value: unknown): value is string | string[] =>
  typeof value === 'string' ||
  (Array.isArray(value) && value.every(item => typeof item === 'string'))

/** User and password of an address. */
const hasCredentials = (text: string): boolean => /:\/\/[^/]*@/.test(text)

/** Returns the value if a caller may see it. */
function shownValue(name: string, value: unknown): StatusSetting['value'] {
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (!isText(value) || !shownTexts.has(name)) return undefined
  return [value].flat().some(hasCredentials) ? undefined : value
}

function shownLine({ name, value, from }: SettingLine): StatusSetting {
  const origin = originOf(from)
  if (value === null) return { name, ...origin }
  const shown = shownValue(name, value)
  return shown === undefined
    ? { name, is_hidden: true, ...origin }
    : { name, value: shown, ...origin }
}

/** Returns the settings of a vault without a folder of its own. */
export const shownChoices = (options: ConfigOptions, command: Command): readonly StatusSetting[] =>
  linesOfSettings(options, command).map(shownLine)

export function shownSettings(options: LineOptions, command: Command): readonly StatusSetting[] {
  const lines = settingLines(options, command).map(shownLine)
  const isRemembered = options.store === undefined && isInDatabase(options.data)
  const store: StatusSetting = { name: 'store', is_hidden: true, from: 'folder' }
  return isRemembered ? [store, ...lines] : lines
}
