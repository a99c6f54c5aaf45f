/**
 * Settings from the texts of an operator: flags, then environment, then file, then default.
 *
 * Pure: the texts and the file are handed in. A name that is not known and a value that cannot be
 * are refused, and no value is repeated. Source: docs/decisions.md, "Settings".
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { isJsonObject, toPlain, type Json, type JsonObject } from './json/json.ts'
import { decodeUtf8, parseJson } from './json/parse.ts'
import { ApiError, expectedBy } from './errors.ts'
import {
  addressSchema,
  backupSchema,
  logSchema,
  planOf,
  settingsSchema,
  type AddressSettings,
  type BackupPlan,
  type BackupSettings,
  type LogSettings,
  type Settings,
} from './settings.ts'

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
export type Texts = { readonly [K in keyof Values]?: string }

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

/** A name is shown only where it cannot be a key or a value that went astray. */
export const showName = (name: string): string =>
  /^[A-Za-z_]{1,60}$/.test(name) ? name : 'a name that is not shown'

function parseFile(bytes: Uint8Array): Json {
  try {
    return parseJson(decodeUtf8(bytes))
  } catch (error) {
    throw error instanceof ApiError ? refuse(`config file: ${expectedBy(error)}`) : error
  }
}

function readFile(bytes: Uint8Array | undefined): Readonly<Record<string, unknown>> {
  if (bytes === undefined) return {}
  const json = parseFile(bytes)
  if (!isJsonObject(json)) throw refuse('config file: expected a JSON object')
  assertKnownMembers(json)
  return toPlain(json) as Record<string, unknown>
}

function assertKnownMembers(json: JsonObject): void {
  const known = new Set(Object.keys(schemas).map(snakeOf))
  for (const name of json.keys()) {
    if (!known.has(name)) throw refuse(`config file: ${showName(name)} is no setting`)
  }
}

function decodeSetting(
  name: string,
  schema: TSchema,
  given: string | undefined,
  file: Readonly<Record<string, unknown>>,
): unknown {
  const snake = snakeOf(name)
  const value = given === undefined ? file[snake] : meaningOf(given, schema['type'])
  if (value === undefined || Value.Check(schema, value)) {
    const decoded: unknown = value === undefined ? schema.default : Value.Decode(schema, value)
    return Array.isArray(decoded) ? Object.freeze([...new Set(decoded)]) : decoded
  }
  const { flag, variable } = optionOf(name, schema)
  const where = given === undefined ? `config file: ${snake}` : `${flag} or ${variable}`
  throw refuse(`${where}: expected ${schema['expected']}${entryOf(schema, value)}`)
}

/** Which entry of a list is wrong, by its place: no value is repeated. */
function entryOf(schema: TSchema, value: unknown): string {
  if (schema['type'] !== 'array' || !Array.isArray(value)) return ''
  const place = /^\/(\d+)/.exec(Value.Errors(schema, value).First()?.path ?? '')?.[1]
  return place === undefined ? '' : `; entry ${Number(place) + 1} is none`
}

/** What is nearer to the command counts: a port by flag stands before a socket of the file. */
function addressOf(values: Values, texts: Texts): Address {
  const { socket, socketMode, socketGroup, host, port, keepAliveSeconds } = values
  const isOverruled = texts.socket === undefined && (texts.host ?? texts.port) !== undefined
  if (socket !== undefined && !isOverruled) {
    const mode = socketMode === undefined ? {} : { mode: Number.parseInt(socketMode, 8) }
    const group = socketGroup === undefined ? {} : { group: socketGroup }
    return { socket, ...mode, ...group }
  }
  if ((socketMode ?? socketGroup) === undefined) return { host, port, keepAliveSeconds }
  throw refuse('--socket-mode and --socket-group: expected with a --socket to listen on')
}

/** @throws ApiError for one without the other, and for what no listener would use */
function tlsOf({ tlsCert: cert, tlsKey: key, tlsClientCa: clientCa }: Values, address: Address) {
  if (cert === undefined && key === undefined && clientCa === undefined) return {}
  if (cert === undefined || key === undefined) {
    throw refuse('--tls-cert and --tls-key: expected both of them, or no setting of TLS')
  }
  if ('socket' in address) throw refuse('--tls-cert: expected no --socket, which has no TLS')
  return { tls: clientCa === undefined ? { cert, key } : { cert, key, clientCa } }
}

/**
 * @param file the bytes of a JSON object with snake_case members, where there is one
 * @throws ApiError `invalid_request` with one line that names what is wrong, and no value
 */
export function decodeConfig(texts: Texts, file?: Uint8Array): Config {
  const members = readFile(file)
  const decoded = Object.entries(schemas).map(([name, schema]) => [
    name,
    decodeSetting(name, schema, texts[name as keyof Values], members),
  ])
  const values = Object.fromEntries(decoded) as Values
  const { host: _host, port: _port, keepAliveSeconds: _keep, ...listened } = values
  const { opsHost, opsPort, checkPath, ...others } = listened
  const { socket: _socket, socketMode: _mode, socketGroup: _group, ...beside } = others
  const { tlsCert: _cert, tlsKey: _key, tlsClientCa: _clientCa, workers, ...rest } = beside
  const { backupTo, backupEvery, backupKeep, erasureLog, ...more } = rest
  const { logLevel, logFormat, logRequests, logSample, ...settings } = more
  const plan = planOf({ backupTo, backupEvery, backupKeep })
  const address = addressOf(values, texts)
  if ('socket' in address && workers > 1) {
    const { flag, variable } = optionOf('workers', addressSchema.properties.workers)
    throw refuse(`${flag} or ${variable}: expected 1 with a socket, which workers cannot share`)
  }
  if (plan === undefined && (backupEvery ?? backupKeep) !== undefined) {
    const { flag, variable } = optionOf('backupTo', backupSchema.properties.backupTo)
    throw refuse(`${flag} or ${variable}: expected with --backup-every and --backup-keep`)
  }
  const copies = {
    ...(plan === undefined ? {} : { backups: plan }),
    ...(erasureLog === undefined ? {} : { erasureLog }),
  }
  const ops = opsPort === undefined ? {} : { ops: { host: opsHost, port: opsPort } }
  const check = checkPath === undefined ? {} : { checkPath }
  const tls = tlsOf(values, address)
  const logs = { logLevel, logFormat, logRequests, logSample }
  return {
    address,
    workers,
    ...tls,
    ...check,
    ...ops,
    ...copies,
    logs,
    settings: Object.freeze(settings),
  }
}
