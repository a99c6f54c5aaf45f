/**
 * What an operator decides, decoded once: flags, then environment, then file, then default.
 *
 * Pure: the texts and the file are handed in. A name that is not known and a value that cannot be
 * are refused, and no value is repeated. A setting without a choice here does not compile.
 * Source: docs/decisions.md, "Settings".
 * @module
 */
import { isJsonObject, type Json, type JsonObject, toPlain } from './json/json.ts'
import { decodeUtf8, parseJson } from './json/parse.ts'
import { ApiError } from './errors.ts'
import {
  bodiesBytesSettingMax,
  bodyBytesSettingMax,
  bodyBytesSettingMin,
  corsOriginsMax,
  guessesPerMinuteSettingMax,
  headerPrefixesMax,
  keyHeadersMax,
  requestsPerSecondSettingMax,
  settingCharsMax,
  workersMax,
} from './limits.ts'
import { defaultSettings, type Settings } from './settings.ts'

export interface TcpAddress {
  readonly host: string
  readonly port: number
}

export type Address = { readonly socket: string } | TcpAddress

export interface Config {
  readonly address: Address
  /** Processes that serve; 1 where the address is a socket, which none can share. */
  readonly workers: number
  readonly settings: Settings
}

/** One thing to decide. Its camelCase name gives the flag, the variable and the file's member. */
interface Choice<T> {
  readonly describes: string
  readonly expected: string
  readonly fallback: T
  /** What a flag or a variable means, in the shape that the file has. */
  readonly fromText: (text: string) => unknown
  /** `undefined` for what cannot be. */
  readonly decode: (value: unknown) => T | undefined
}

const anyText = (text: string): unknown => text
const integerOf = (text: string): unknown => (/^\d{1,10}$/.test(text) ? Number(text) : undefined)
const booleanOf = (text: string): unknown =>
  text === 'true' ? true : text === 'false' ? false : undefined
const listOf = (text: string): unknown =>
  text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= settingCharsMax

const integer = (min: number, max: number) => ({
  expected: `an integer from ${min} to ${max}`,
  fromText: integerOf,
  decode: (value: unknown) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? Number(value)
      : undefined,
})

const boolean = {
  expected: 'true or false',
  fromText: booleanOf,
  decode: (value: unknown) => (typeof value === 'boolean' ? value : undefined),
}

const text = (what: string) => ({
  expected: what,
  fromText: anyText,
  decode: (value: unknown) => (isText(value) ? value : undefined),
})

/** @param itemOf gives `undefined` for an item that cannot be */
const list = (what: string, max: number, itemOf: (item: unknown) => string | undefined) => ({
  expected: `at most ${max} ${what}`,
  fromText: listOf,
  decode(value: unknown): readonly string[] | undefined {
    if (!Array.isArray(value) || value.length > max) return undefined
    const items = value.map(itemOf)
    return items.every(item => item !== undefined) ? [...new Set(items)] : undefined
  },
})

/** Beginnings and whole names of what has a meaning already, or is set by the browser itself. */
const takenPrefixes = ['svc-', 'sec-', 'proxy-', 'access-control-', 'content-', 'accept', 'cookie']
const takenNames: ReadonlySet<string> = new Set([
  'connection',
  'date',
  'expect',
  'host',
  'keep-alive',
  'origin',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
])

function headerNameOf(value: unknown): string | undefined {
  const name = isText(value) ? value.toLowerCase() : ''
  const isTaken = takenNames.has(name) || takenPrefixes.some(prefix => name.startsWith(prefix))
  return /^[a-z][a-z0-9-]{0,63}$/.test(name) && !isTaken ? name : undefined
}

function headerPrefixOf(value: unknown): string | undefined {
  const prefix = isText(value) ? value.toLowerCase() : ''
  const isPrefix = !prefix.endsWith('-') && headerNameOf(`${prefix}-api-key`) !== undefined
  return isPrefix && headerNameOf(prefix) !== undefined ? prefix : undefined
}

/** An origin as browsers send it (RFC 6454 section 6.2), or `*`. */
function originOf(value: unknown): string | undefined {
  if (value === '*') return '*'
  return isText(value) && URL.canParse(value) && new URL(value).origin === value ? value : undefined
}

/** No segment is empty or begins with a dot: none can be removed on the way. */
function basePathOf(value: unknown): string | undefined {
  const path = typeof value === 'string' ? value.replace(/\/$/, '') : undefined
  if (path === undefined || path.length > settingCharsMax) return undefined
  return /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/.test(path) ? path : undefined
}

/** Where the vault listens, and how many processes do. */
const addressChoices = {
  host: {
    describes: 'the address to listen on',
    fallback: '127.0.0.1',
    ...text('a host name or an IP address'),
  },
  port: {
    describes: 'the port to listen on, 0 for any free one',
    fallback: 3_333,
    ...integer(0, 65_535),
  },
  socket: {
    describes: 'a Unix socket to listen on instead',
    fallback: undefined,
    ...text('a path'),
  },
  workers: {
    describes: 'processes that serve together, on Linux; limits of a credential count in each',
    fallback: 1,
    ...integer(1, workersMax),
  },
} satisfies Record<string, Choice<string | number | undefined>>

const settingChoices: { readonly [K in keyof Settings]: Choice<Settings[K]> } = {
  keyHeaders: {
    describes: 'more names of the header that carries the API key, comma-separated',
    fallback: defaultSettings.keyHeaders,
    ...list('header names, none of them svc-*', keyHeadersMax, headerNameOf),
  },
  headerPrefix: {
    describes: 'a further prefix of header names, such as BT for BT-API-KEY',
    fallback: defaultSettings.headerPrefix,
    ...list('prefixes of header names, none of them svc', headerPrefixesMax, headerPrefixOf),
  },
  basePath: {
    describes: 'what all addresses are below',
    expected: 'a path such as /vault, of letters, digits and . _ ~ -',
    fallback: defaultSettings.basePath,
    fromText: anyText,
    decode: basePathOf,
  },
  corsOrigins: {
    describes: 'origins that browsers may call from, comma-separated; * is any',
    fallback: defaultSettings.corsOrigins,
    ...list('origins such as https://shop.example, or *', corsOriginsMax, originOf),
  },
  bodyBytesMax: {
    describes: 'the longest body of a request, in bytes',
    fallback: defaultSettings.bodyBytesMax,
    ...integer(bodyBytesSettingMin, bodyBytesSettingMax),
  },
  bodiesBytesMax: {
    describes: 'bytes of all bodies under way in a process, at least one body of the longest',
    fallback: defaultSettings.bodiesBytesMax,
    ...integer(bodyBytesSettingMin, bodiesBytesSettingMax),
  },
  credentialBodiesBytesMax: {
    describes: 'bytes of the bodies of one credential under way, at least one of the longest',
    fallback: defaultSettings.credentialBodiesBytesMax,
    ...integer(bodyBytesSettingMin, bodiesBytesSettingMax),
  },
  requestsPerSecondMax: {
    describes: 'requests of one credential in a second; any number where it is not set',
    fallback: defaultSettings.requestsPerSecondMax,
    ...integer(1, requestsPerSecondSettingMax),
  },
  searchGuessesPerMinuteMax: {
    describes: 'searches by data in a minute of whoever does not see all of it; 0 is any number',
    fallback: defaultSettings.searchGuessesPerMinuteMax,
    ...integer(0, guessesPerMinuteSettingMax),
  },
  createGuessesPerMinuteMax: {
    describes: 'creates that deduplicate, or find their id taken, of the same; 0 is any number',
    fallback: defaultSettings.createGuessesPerMinuteMax,
    ...integer(0, guessesPerMinuteSettingMax),
  },
  cardNumberGuard: {
    describes: 'refuse card numbers in metadata and container names',
    fallback: defaultSettings.cardNumberGuard,
    ...boolean,
  },
  maskGuard: {
    describes: 'refuse masks that show a whole card number',
    fallback: defaultSettings.maskGuard,
    ...boolean,
  },
  strictMasks: {
    describes: 'only who may reveal a token may widen how it is shown',
    fallback: defaultSettings.strictMasks,
    ...boolean,
  },
  tenantWideDeduplication: {
    describes: 'deduplicate against every token of the tenant, also those out of reach',
    fallback: defaultSettings.tenantWideDeduplication,
    ...boolean,
  },
  sessionGrantsWithinAuthorizer: {
    describes: 'refuse a session more than its authorizer has',
    fallback: defaultSettings.sessionGrantsWithinAuthorizer,
    ...boolean,
  },
}

const choices = { ...addressChoices, ...settingChoices }
type Name = keyof typeof choices

/** What flags and variables say, by camelCase name; a flag stands before its variable. */
export type Texts = { readonly [K in Name]?: string }

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

const optionOf = (name: string, { describes, fallback }: Choice<unknown>): OptionText => {
  const snake = snakeOf(name)
  const shown = Array.isArray(fallback) ? fallback.join(',') : String(fallback ?? '')
  return {
    flag: `--${snake.replaceAll('_', '-')}`,
    variable: `COFFER_${snake.toUpperCase()}`,
    describes: shown === '' ? describes : `${describes} (default: ${shown})`,
    isRepeatable: Array.isArray(fallback),
  }
}

const optionsOf = (some: Readonly<Record<string, Choice<unknown>>>): readonly OptionText[] =>
  Object.entries(some).map(([name, choice]) => optionOf(name, choice))

export const addressOptions: readonly OptionText[] = optionsOf(addressChoices)
export const settingOptions: readonly OptionText[] = optionsOf(settingChoices)

const refuse = (message: string): ApiError => new ApiError('invalid_request', message)

/** A name is shown only where it cannot be a key or a value that went astray. */
export const showName = (name: string): string =>
  /^[A-Za-z_]{1,60}$/.test(name) ? name : 'a name that is not shown'

function parseFile(bytes: Uint8Array): Json {
  try {
    return parseJson(decodeUtf8(bytes))
  } catch (error) {
    throw error instanceof ApiError ? refuse(`config file: ${error.message}`) : error
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
  const known = new Set(Object.keys(choices).map(snakeOf))
  for (const name of json.keys()) {
    if (!known.has(name)) throw refuse(`config file: ${showName(name)} is no setting`)
  }
}

function decodeChoice<T>(
  name: string,
  choice: Choice<T>,
  given: string | undefined,
  file: Readonly<Record<string, unknown>>,
): T {
  const snake = snakeOf(name)
  if (given === undefined && file[snake] === undefined) return choice.fallback
  const decoded = choice.decode(given === undefined ? file[snake] : choice.fromText(given))
  if (decoded !== undefined) return decoded
  const { flag, variable } = optionOf(name, choice)
  const where = given === undefined ? `config file: ${snake}` : `${flag} or ${variable}`
  throw refuse(`${where}: expected ${choice.expected}`)
}

type Values = { readonly [K in Name]: (typeof choices)[K] extends Choice<infer T> ? T : never }

/** What is nearer to the command counts: a port by flag stands before a socket of the file. */
function addressOf(values: Values, texts: Texts): Address {
  const { socket, host, port } = values
  const isOverruled = texts.socket === undefined && (texts.host ?? texts.port) !== undefined
  return socket === undefined || isOverruled ? { host, port } : { socket }
}

function freezeSettings(values: Values): Settings {
  const { host: _host, port: _port, socket: _socket, workers: _workers, ...settings } = values
  return Object.freeze({
    ...settings,
    keyHeaders: Object.freeze(settings.keyHeaders),
    headerPrefix: Object.freeze(settings.headerPrefix),
    corsOrigins: Object.freeze(settings.corsOrigins),
  })
}

/**
 * @param file the bytes of a JSON object with snake_case members, where there is one
 * @throws ApiError `invalid_request` with one line that names what is wrong, and no value
 */
export function decodeConfig(texts: Texts, file?: Uint8Array): Config {
  const members = readFile(file)
  const decoded = Object.entries(choices).map(([name, choice]) => [
    name,
    decodeChoice<unknown>(name, choice, texts[name as Name], members),
  ])
  const values = Object.fromEntries(decoded) as Values
  const { workers } = values
  const address = addressOf(values, texts)
  if ('socket' in address && workers > 1) {
    const { flag, variable } = optionOf('workers', choices.workers)
    throw refuse(`${flag} or ${variable}: expected 1 with a socket, which workers cannot share`)
  }
  return { address, workers, settings: freezeSettings(values) }
}
