/**
 * Settings from the texts of an operator: flags, then environment, then file, then default.
 *
 * Pure: the texts and the file are handed in. A name that is not known and a value that cannot be
 * are refused, and no value is repeated. Source: docs/decisions.md, "Settings".
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
  /** How long a connection waits for its next request; of the listener for callers. */
  readonly keepAliveSeconds?: number
}

export interface SocketAddress {
  readonly socket: string
  /** Its bits; its owner alone where it is absent. */
  readonly mode?: number
  /** By name or number; that of the process where it is absent. */
  readonly group?: string
}

export type Address = SocketAddress | TcpAddress

/** Paths of what HTTPS is served with. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
  /** Who signed the certificates of callers; anybody may call where it is absent. */
  readonly clientCa?: string
}

export interface Config {
  readonly address: Address
  /** Processes that serve; 1 where the address is a socket, which none can share. */
  readonly workers: number
  /** From the signal to end until nothing more is accepted. */
  readonly drainSeconds: number
  /** Plain HTTP where it is absent. */
  readonly tls?: TlsFiles
  /** Where the vault's own address says whether it may be sent requests; nowhere if absent. */
  readonly checkPath?: string
  /** Where health and metrics are told; nowhere where it is absent. */
  readonly ops?: TcpAddress
  /** None are made where it is absent. */
  readonly backups?: BackupPlan
  /** The path of a file; deletes are listed nowhere where it is absent. */
  readonly erasureLog?: string
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

/** What flags and variables say, by camelCase name; a flag stands before its variable. */
export type SettingTexts = { readonly [K in keyof Values]?: string }

const snakeOf = (name: string): string =>
  name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** How a choice is named on the command line and in the environment, and what it is for. */
export interface OptionText {
  readonly flag: string
  readonly variable: string
  readonly describes: string
  /** A list: the flag may be given again, and its text may name several with commas between. */
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

/** What a flag or a variable means, in the shape of the file; its text where it means nothing. */
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

/** Which entry of a list is wrong, by its place: no value is repeated. */
function entryOf(schema: TSchema, value: unknown): string {
  if (schema['type'] !== 'array' || !Array.isArray(value)) return ''
  const place = /^\/(\d+)/.exec(Value.Errors(schema, value).First()?.path ?? '')?.[1]
  return place === undefined ? '' : `; entry ${Number(place) + 1} is none`
}

/**
 * How a choice is named to the operator who made it: by its line in the file, else by flag and
 * variable.
 */
type NameOf = (name: keyof Values) => string

const nameIn =
  (texts: SettingTexts, { values, placeOf }: FileMembers): NameOf =>
  name => {
    const snake = snakeOf(name)
    const isOfFile = texts[name] === undefined && Object.hasOwn(values, snake)
    const { flag, variable } = optionOf(name, schemas[name] as TSchema)
    return isOfFile ? `${placeOf(snake)}: ${snake}` : `${flag} or ${variable}`
  }

/** What is nearer to the command counts: a port by flag stands before a socket of the file. */
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

/** @throws ApiError for one without the other, and for what no listener would use */
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
 * What a file says of the vault and its key, by camelCase name.
 * @throws ApiError as `decodeConfig`
 */
export function vaultChoicesOf(file: ConfigFile): VaultChoices {
  const members = membersOf(file)
  const said = Object.entries(vaultSchema.properties)
    .map(([name, schema]) => [name, decodeSetting(name, schema, undefined, members)] as const)
    .filter(([, value]) => value !== undefined)
  return Object.fromEntries(said)
}

/** A setting as it counts. */
export interface CountingSetting {
  /** As in the file. */
  readonly name: string
  readonly value: unknown
  /** Of a text, `text`; of the file, as `/etc/coffer.json:3`; else `default`. */
  readonly from: string
}

/** Where something that the file may say stands in it; `undefined` where it does not. */
export function placeIn(file: ConfigFile | undefined, name: string): string | undefined {
  const { values, placeOf } = membersOf(file)
  return Object.hasOwn(values, snakeOf(name)) ? placeOf(snakeOf(name)) : undefined
}

/** Every setting, whether somebody has said it or not. @throws ApiError as `decodeConfig` */
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
 * @throws ApiError `invalid_request` with one line that names what is wrong, and no value; of the
 *   file its line, too
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
  const { backupTo, backupEvery, backupKeep, erasureLog, ...more } = rest
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
