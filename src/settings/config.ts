/**
 * Settings from an operator's texts: flags, then environment, then file, then default.
 *
 * Pure: the texts and the file are handed in. Unknown names and impossible values are refused, and
 * no value is repeated. Source: docs/decisions.md, "Settings".
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { ApiError } from '../lib/errors.ts'
import { noMembers, readMembers, type ConfigFile, type FileMembers } from './config-file.ts'
import {
  addressSchema,
  backupSchema,
  logSchema,
  planOf,
  vaultSchema,
  type AddressSettings,
  type BackupPlan,
  type BackupSettings,
  type LogSettings,
  type VaultChoices,
} from './serving-settings.ts'
import { settingsSchema, type Settings } from './settings.ts'

export interface TcpAddress {
  readonly host: string
  readonly port: number
  /** Seconds that a connection waits for its next request; for the listener of callers. */
  readonly keepAliveSeconds?: number
}

export interface SocketAddress {
  readonly socket: string
  /** Permission bits; by default, only its owner has access. */
  readonly mode?: number
  /** By name or number; by default, the group of the process. */
  readonly group?: string
}

export type Address = SocketAddress | TcpAddress

/** Paths of the files for HTTPS. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
  /** CA of callers' certificates; if absent, anyone may call. */
  readonly clientCa?: string
}

export interface Config {
  readonly address: Address
  /** Processes that serve; 1 if the address is a socket, which cannot be shared. */
  readonly workers: number
  /** Seconds from the signal to stop until no more requests are accepted. */
  readonly drainSeconds: number
  /** Absent for plain HTTP. */
  readonly tls?: TlsFiles
  /** Path at which the vault's own address reports readiness; absent for none. */
  readonly checkPath?: string
  /** Address for health and metrics; absent for none. */
  readonly ops?: TcpAddress
  /** Absent for no backups. */
  readonly backups?: BackupPlan
  /** Path of the file that lists deletions; absent for none. */
  readonly erasureLog?: string
  /** Address in a bucket for checkpoints of the audit log; absent for none. */
  readonly checkpointsTo?: string
  readonly logs: LogSettings
  readonly settings: Settings
}

const schemas: Readonly<Record<string, TSchema>> = {
  ...addressSchema.properties,
  ...backupSchema.properties,
  ...logSchema.properties,
  ...settingsSchema.properties,
}

type Values = AddressSettings & BackupSettings & LogSettings & Settings

/** Texts of flags and variables, by camelCase name; a flag wins over its variable. */
export type SettingTexts = { readonly [K in keyof Values]?: string }

const snakeOf = (name: string): string =>
  name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** Name of a setting on the command line and in the environment, and its purpose. */
export interface OptionText {
  readonly flag: string
  readonly variable: string
  readonly describes: string
  /** A list: the flag may be repeated, and its text may hold several values between commas. */
  readonly isRepeatable: boolean
}

const optionOf = (name: string, schema: TSchema): OptionText => {
  const snake = snakeOf(name)
  const shown = String(schema.default ?? '')
  return {
    flag: `--${snake.replaceAll('_', '-')}`,
    variable: `COFFER_${snake.toUpperCase()}`,
    describes: `${schema.description}${shown === '' ? '' : ` (default: ${shown})`}`,
    isRepeatable: schema['type'] === 'array',
  }
}

const optionsOf = (some: Readonly<Record<string, TSchema>>): readonly OptionText[] =>
  Object.entries(some).map(([name, schema]) => optionOf(name, schema))

export const addressOptions: readonly OptionText[] = optionsOf(addressSchema.properties)
export const backupOptions: readonly OptionText[] = optionsOf(backupSchema.properties)
export const logOptions: readonly OptionText[] = optionsOf(logSchema.properties)
export const settingOptions: readonly OptionText[] = optionsOf(settingsSchema.properties)

/** Parses a flag or variable into the file's type; returns the text if it cannot be parsed. */
function meaningOf(text: string, type: unknown): unknown {
  if (type === 'integer') return /^\d{1,10}$/.test(text) ? Number(text) : text
  if (type === 'boolean') return text === 'true' || (text === 'false' ? false : text)
  if (type !== 'array') return text
  const items = text.split(',').map(item => item.trim())
  return items.filter(item => item !== '')
}

const refuse = (message: string): ApiError => new ApiError('invalid_request', message)

const fileNames = new Set(Object.keys({ ...vaultSchema.properties, ...schemas }).map(snakeOf))

const membersOf = (file: ConfigFile | undefined): FileMembers =>
  file === undefined ? noMembers : readMembers(file, fileNames)

function decodeSetting(
  name: string,
  schema: TSchema,
  given: string | undefined,
  file: FileMembers,
): unknown {
  const snake = snakeOf(name)
  const value = given === undefined ? file.values[snake] : meaningOf(given, schema['type'])
  if (value === undefined || Value.Check(schema, value)) {
    const decoded: unknown = value === undefined ? schema.default : Value.Decode(schema, value)
    return Array.isArray(decoded) ? Object.freeze([...new Set(decoded)]) : decoded
  }
  const { flag, variable } = optionOf(name, schema)
  const where = given === undefined ? `${file.placeOf(snake)}: ${snake}` : `${flag} or ${variable}`
  throw refuse(`${where}: expected ${schema['expected']}${entryOf(schema, value)}`)
}

/** Names the wrong entry of a list by its place: no value is repeated. */
function entryOf(schema: TSchema, value: unknown): string {
  if (schema['type'] !== 'array' || !Array.isArray(value)) return ''
  const place = /^\/(\d+)/.exec(Value.Errors(schema, value).First()?.path ?? '')?.[1]
  return place === undefined ? '' : `; entry ${Number(place) + 1} is none`
}

/** Names a setting to the operator by its line in the file, else by its flag and variable. */
type NameOf = (name: keyof Values) => string

const nameIn =
  (texts: SettingTexts, { values, placeOf }: FileMembers): NameOf =>
  name => {
    const snake = snakeOf(name)
    const isOfFile = texts[name] === undefined && Object.hasOwn(values, snake)
    const { flag, variable } = optionOf(name, schemas[name] as TSchema)
    return isOfFile ? `${placeOf(snake)}: ${snake}` : `${flag} or ${variable}`
  }

/** The closer source wins: a port given by flag overrules a socket of the file. */
function addressOf(values: Values, texts: SettingTexts, nameOf: NameOf): Address {
  const { socket, socketMode, socketGroup, host, port, keepAliveSeconds } = values
  const isOverruled = texts.socket === undefined && (texts.host ?? texts.port) !== undefined
  if (socket !== undefined && !isOverruled) {
    const mode = socketMode === undefined ? {} : { mode: Number.parseInt(socketMode, 8) }
    const group = socketGroup === undefined ? {} : { group: socketGroup }
    return { socket, ...mode, ...group }
  }
  if ((socketMode ?? socketGroup) === undefined) return { host, port, keepAliveSeconds }
  const name = nameOf(socketMode === undefined ? 'socketGroup' : 'socketMode')
  throw refuse(`${name}: expected with a --socket to listen on`)
}

/** @throws ApiError for one without the other, and if no listener would use them */
function tlsOf(values: Values, address: Address, nameOf: NameOf) {
  const { tlsCert: cert, tlsKey: key, tlsClientCa: clientCa } = values
  if (cert === undefined && key === undefined && clientCa === undefined) return {}
  if (cert === undefined || key === undefined) {
    const said = (['tlsCert', 'tlsKey', 'tlsClientCa'] as const).find(name => values[name])
    const expected = 'expected --tls-cert and --tls-key, both of them, or no setting of TLS'
    throw refuse(`${nameOf(said ?? 'tlsCert')}: ${expected}`)
  }
  if ('socket' in address) {
    throw refuse(`${nameOf('tlsCert')}: expected no --socket, which has no TLS`)
  }
  return { tls: clientCa === undefined ? { cert, key } : { cert, key, clientCa } }
}

const decodeValues = (texts: SettingTexts, members: FileMembers): Values =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      decodeSetting(name, schema, texts[name as keyof Values], members),
    ]),
  ) as Values

/**
 * Returns the file's settings of the vault and its key, by camelCase name.
 * @throws ApiError as `decodeConfig`
 */
export function vaultChoicesOf(file: ConfigFile): VaultChoices {
  const members = membersOf(file)
  const said = Object.entries(vaultSchema.properties)
    .map(([name, schema]) => [name, decodeSetting(name, schema, undefined, members)] as const)
    .filter(([, value]) => value !== undefined)
  return Object.fromEntries(said)
}

/** A setting in force. */
export interface CountingSetting {
  /** As named in the file. */
  readonly name: string
  readonly value: unknown
  /** `text` for a flag or variable; the file's position, as `/etc/coffer.json:3`; or `default`. */
  readonly from: string
}

/** Returns the position of a setting in the file; `undefined` if it is missing there. */
export function placeIn(file: ConfigFile | undefined, name: string): string | undefined {
  const { values, placeOf } = membersOf(file)
  return Object.hasOwn(values, snakeOf(name)) ? placeOf(snakeOf(name)) : undefined
}

/** Returns every setting, given or default. @throws ApiError as `decodeConfig` */
export function countingSettings(
  texts: SettingTexts,
  file?: ConfigFile,
): readonly CountingSetting[] {
  const values = Object.entries(decodeValues(texts, membersOf(file)))
  return values.map(([name, value]) => ({
    name: snakeOf(name),
    value,
    from: texts[name as keyof Values] === undefined ? (placeIn(file, name) ?? 'default') : 'text',
  }))
}

/**
 * @throws ApiError `invalid_request` with one line that names the fault (and its line in the file),
 *   without its value
 */
export function decodeConfig(texts: SettingTexts, file?: ConfigFile): Config {
  const members = membersOf(file)
  const values = decodeValues(texts, members)
  const nameOf = nameIn(texts, members)
  const { host: _host, port: _port, keepAliveSeconds: _keep, ...listened } = values
  const { opsHost, opsPort, checkPath, ...others } = listened
  const { socket: _socket, socketMode: _mode, socketGroup: _group, ...beside } = others
  const {
    tlsCert: _cert,
    tlsKey: _key,
    tlsClientCa: _clientCa,
    workers,
    drainSeconds,
    ...rest
  } = beside
  const { backupTo, backupEvery, backupKeep, erasureLog, auditCheckpointsTo, ...more } = rest
  const { logLevel, logFormat, logPriority, logRequests, logSample, ...settings } = more
  const plan = planOf({ backupTo, backupEvery, backupKeep })
  const address = addressOf(values, texts, nameOf)
  if ('socket' in address && workers > 1) {
    throw refuse(`${nameOf('workers')}: expected 1 with a socket, which workers cannot share`)
  }
  if (plan === undefined && (backupEvery ?? backupKeep) !== undefined) {
    const name = nameOf(backupEvery === undefined ? 'backupKeep' : 'backupEvery')
    throw refuse(`${name}: expected with --backup-to or COFFER_BACKUP_TO`)
  }
  const copies = {
    ...(plan === undefined ? {} : { backups: plan }),
    ...(erasureLog === undefined ? {} : { erasureLog }),
    ...(auditCheckpointsTo === undefined ? {} : { checkpointsTo: auditCheckpointsTo }),
  }
  const ops = opsPort === undefined ? {} : { ops: { host: opsHost, port: opsPort } }
  const check = checkPath === undefined ? {} : { checkPath }
  const tls = tlsOf(values, address, nameOf)
  const logs = { logLevel, logFormat, logPriority, logRequests, logSample }
  return {
    address,
    workers,
    drainSeconds,
    ...tls,
    ...check,
    ...ops,
    ...copies,
    logs,
    settings: Object.freeze(settings),
  }
}
