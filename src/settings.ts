/**
 * What an operator may decide, beside where the vault is: one schema, from which the type, the
 * defaults, the flags, the variables and the members of the file come.
 *
 * Frozen when the process starts; `config.ts` decodes it, tests hand in their own. Every default
 * is the contract's. A new setting needs a person who asked for it.
 * Source: docs/decisions.md, "Settings".
 * @module
 */
import { Type, type SchemaOptions, type Static } from '@sinclair/typebox'
import {
  bodiesBytesMax,
  bodiesBytesSettingMax,
  bodyBytesMax,
  bodyBytesSettingMax,
  bodyBytesSettingMin,
  chosenIdsPerMinuteMax,
  codeLifetimeDefault,
  corsOriginsMax,
  createGuessesPerMinuteMax,
  credentialBodiesBytesMax,
  guessesPerMinuteSettingMax,
  headerPrefixesMax,
  keyHeadersMax,
  lookupGuessesPerMinuteMax,
  requestsPerSecondSettingMax,
  searchGuessesPerMinuteMax,
  settingCharsMax,
  trustedProxiesMax,
  workersMax,
  foldRowsDefault,
  idleSecondsMax,
  foldRowsSettingMax,
  foldRowsSettingMin,
} from './limits.ts'
import {
  backupEveryDefault,
  backupKeepDefault,
  backupKeepMax,
  keepAliveSecondsDefault,
  keepAliveSecondsMax,
  drainSecondsSettingMax,
  logSampleMax,
} from './operation-limits.ts'

import { basePath, durationMs, neverEnds } from './setting-formats.ts'

/** Beside what JSON Schema knows: what is told to whoever gives something else. */
interface Told extends SchemaOptions {
  readonly description: string
  readonly expected: string
}

const integer = (minimum: number, maximum: number, fallback: number, description: string) =>
  Type.Integer({
    minimum,
    maximum,
    default: fallback,
    description,
    expected: `an integer from ${minimum} to ${maximum}`,
  })

const optionalInteger = (minimum: number, maximum: number, description: string) =>
  Type.Unsafe<number | undefined>(
    Type.Integer({
      minimum,
      maximum,
      description,
      expected: `an integer from ${minimum} to ${maximum}`,
    }),
  )

const guesses = (fallback: number, description: string) =>
  integer(0, guessesPerMinuteSettingMax, fallback, description)

const flag = (fallback: boolean, description: string) =>
  Type.Boolean({ default: fallback, description, expected: 'true or false' })

const choice = <const T extends readonly string[]>(
  values: T,
  fallback: T[number],
  description: string,
) =>
  Type.Unsafe<T[number]>(
    Type.Union(
      values.map(value => Type.Literal(value)),
      { default: fallback, description, expected: `one of ${values.join(', ')}` },
    ),
  )

const text = (told: Told) => Type.String({ minLength: 1, maxLength: settingCharsMax, ...told })

/** One of IPv6 may stand in brackets, as in a URL. */
const host = (description: string) =>
  Type.Transform(
    text({ default: '127.0.0.1', description, expected: 'a host name or an IP address' }),
  )
    .Decode(name => name.replace(/^\[(.+)\]$/, '$1'))
    .Encode(name => name)

const path = (description: string) =>
  Type.Unsafe<string | undefined>(text({ description, expected: 'a path' }))

/** A text of that format, of which case does not matter. */
const lowerCase = (format: string) =>
  Type.Transform(Type.String({ format, maxLength: settingCharsMax }))
    .Decode(name => name.toLowerCase())
    .Encode(name => name)

const list = (item: ReturnType<typeof lowerCase> | ReturnType<typeof Type.String>, told: Told) =>
  Type.Unsafe<readonly string[]>(Type.Array(item, told))

/** Where the vault listens, and how many processes do. */
export const addressSchema = Type.Object({
  host: host('the address to listen on'),
  port: integer(0, 65_535, 3_333, 'the port to listen on, 0 for any free one'),
  keepAliveSeconds: integer(
    idleSecondsMax,
    keepAliveSecondsMax,
    keepAliveSecondsDefault,
    'how long a connection to a port waits for its next request: longer than a proxy keeps it',
  ),
  socket: path('a Unix socket to listen on instead'),
  socketMode: Type.Unsafe<string | undefined>(
    Type.String({
      pattern: '^0?6[06][06]$',
      description: 'who may speak to that socket (default: 600, its owner alone)',
      expected: 'one of 600, 660 and 666',
    }),
  ),
  socketGroup: Type.Unsafe<string | undefined>(
    Type.String({
      pattern: '^(?:[a-z_][a-z0-9_-]{0,31}|[0-9]{1,9})$',
      description: 'the group of that socket, by name or number, who may by 660',
      expected: 'the name or the number of a group',
    }),
  ),
  tlsCert: path('a file with the TLS certificate and those above it (PEM): HTTPS is served'),
  tlsKey: path('a file with the key of that certificate (PEM), for its owner only'),
  tlsClientCa: path('a file with certificates (PEM); callers must have one that these signed'),
  checkPath: Type.Unsafe<string | undefined>(
    Type.String({
      pattern: '^/[A-Za-z0-9._~-]{1,60}$',
      description: 'where its own port says ok or not ready, such as /healthz, for load balancers',
      expected: 'a path such as /healthz, of letters, digits and . _ ~ -',
    }),
  ),
  opsHost: host('the address of the listener for health and metrics'),
  opsPort: optionalInteger(
    0,
    65_535,
    'the port of that listener, 0 for any free one; none where it is not set',
  ),
  drainSeconds: integer(
    0,
    drainSecondsSettingMax,
    0,
    'seconds in which a server that was told to end serves on, and says so at /readyz',
  ),
  workers: integer(
    1,
    workersMax,
    1,
    'processes that serve together, on Linux; limits of a credential count in each',
  ),
})

/** What the file may say of the vault and of its key, in place of options of the same names. */
export const vaultSchema = Type.Object({
  data: path('the data folder'),
  masterKeyFile: path('where the master key is'),
  masterKeyCredential: path('the credential of the unit that the master key is'),
  store: Type.Unsafe<string | undefined>(
    text({
      // RFC 3986 section 3.2.1; a file of settings is no place for a secret.
      pattern: '^postgres(?:ql)?://(?![^/]*:[^/]*@)(?!.*[?&](?:ssl)?password=)',
      description: 'the PostgreSQL that holds the vault',
      expected: 'an address such as postgres://user@host/name; see store_password_file',
    }),
  ),
  storePasswordFile: path('where the password of its user is'),
})

/** Backups that a serving process makes of itself, and what a restore needs beside one. */
export const backupSchema = Type.Object({
  backupTo: Type.Unsafe<string | undefined>(
    Type.String({
      format: 'backup place',
      description: 'where a server puts backups of itself: a folder, or s3://bucket/prefix',
      expected: 'a folder, or an address such as s3://bucket/prefix',
    }),
  ),
  backupEvery: Type.Unsafe<string | undefined>(
    Type.String({
      format: 'backup interval',
      description: `how often, such as 30m, 6h or 7d (default: ${backupEveryDefault})`,
      expected: 'a number with m, h or d behind it, from 1m to 14d',
    }),
  ),
  backupKeep: optionalInteger(
    1,
    backupKeepMax,
    `how many of them stay (default: ${backupKeepDefault})`,
  ),
  erasureLog: path('a file that lists deleted tokens, for coffer restore --erase'),
})

/** What a serving process tells on stderr, and in which form. */
export const logSchema = Type.Object({
  logLevel: choice(
    ['info', 'warning', 'error'],
    'info',
    'from which level on events are logged; requests have their own choice',
  ),
  logFormat: choice(
    ['auto', 'json', 'text'],
    'auto',
    'how lines are logged; auto is text on a terminal, JSON elsewhere',
  ),
  logPriority: choice(
    ['auto', 'on', 'off'],
    'auto',
    'whether lines begin with a priority such as <4>; auto is where stderr is the journal',
  ),
  logRequests: choice(
    ['off', 'errors', 'all'],
    'off',
    'which requests are logged, without what they carry; errors are answers from 400 on',
  ),
  logSample: integer(1, logSampleMax, 1, 'of answers below 400, one in so many is logged'),
})

export const settingsSchema = Type.Object({
  /** Beside `svc-api-key` (contract section 1). */
  keyHeaders: list(lowerCase('header name'), {
    maxItems: keyHeadersMax,
    default: [],
    description: 'more names of the header that carries the API key, comma-separated',
    expected: `at most ${keyHeadersMax} header names, none of them svc-*`,
  }),
  /** Under each, headers are read as under `svc` (contract section 1). */
  headerPrefix: list(lowerCase('header prefix'), {
    maxItems: headerPrefixesMax,
    default: [],
    description: 'a further prefix of header names, such as BT for BT-API-KEY',
    expected: `at most ${headerPrefixesMax} prefixes of header names, none of them svc`,
  }),
  /** Starts with `/` and does not end with one, or is empty. */
  basePath: Type.Transform(
    Type.String({
      pattern: basePath,
      maxLength: settingCharsMax,
      default: '',
      description: 'what all addresses are below',
      expected: 'a path such as /vault, of letters, digits and . _ ~ -',
    }),
  )
    .Decode(path => path.replace(/\/$/, ''))
    .Encode(path => path),
  /** `*` is any (contract section 1). */
  corsOrigins: list(Type.String({ format: 'origin or *', maxLength: settingCharsMax }), {
    maxItems: corsOriginsMax,
    default: ['*'],
    description: 'origins whose pages may call and hold the card fields; * is any',
    expected: `at most ${corsOriginsMax} origins such as https://shop.example, or *`,
  }),
  bodyBytesMax: integer(
    bodyBytesSettingMin,
    bodyBytesSettingMax,
    bodyBytesMax,
    'the longest body of a request, in bytes',
  ),
  /** One of the longest always fits, here and below. */
  bodiesBytesMax: integer(
    bodyBytesSettingMin,
    bodiesBytesSettingMax,
    bodiesBytesMax,
    'bytes of all bodies under way in a process, at least one body of the longest',
  ),
  credentialBodiesBytesMax: integer(
    bodyBytesSettingMin,
    bodiesBytesSettingMax,
    credentialBodiesBytesMax,
    'bytes of the bodies of one credential under way, at least one of the longest',
  ),
  requestsPerSecondMax: optionalInteger(
    1,
    requestsPerSecondSettingMax,
    'requests of one credential in a second; any number where it is not set',
  ),
  requestsPerSecondPerAddress: optionalInteger(
    1,
    requestsPerSecondSettingMax,
    'requests of one address in a second; any number where it is not set',
  ),
  trustedProxies: list(Type.String({ format: 'address or network', maxLength: settingCharsMax }), {
    maxItems: trustedProxiesMax,
    default: [],
    description: 'addresses or networks of proxies whose X-Forwarded-For is believed',
    expected: `at most ${trustedProxiesMax} addresses or networks such as 10.0.0.0/8`,
  }),
  searchGuessesPerMinuteMax: guesses(
    searchGuessesPerMinuteMax,
    'searches by data in a minute of whoever does not see all of it; 0 is any number',
  ),
  createGuessesPerMinuteMax: guesses(
    createGuessesPerMinuteMax,
    'creates that deduplicate, or find their id taken, of the same; 0 is any number',
  ),
  lookupGuessesPerMinuteMax: guesses(
    lookupGuessesPerMinuteMax,
    'look-ups of ids that lead nowhere, of the same; 0 is any number',
  ),
  chosenIdsPerMinuteMax: guesses(
    chosenIdsPerMinuteMax,
    'creates with a chosen id, of the same; 0 is any number',
  ),
  foldRows: integer(
    foldRowsSettingMin,
    foldRowsSettingMax,
    foldRowsDefault,
    'new rows that are found in memory until the index leads to them; more take memory, write less',
  ),
  documentationPage: flag(true, 'serve the page of the interface, and its document, at /swagger'),
  /** Contract section 5. */
  cvcLifetime: Type.String({
    format: 'code lifetime',
    default: codeLifetimeDefault,
    description: 'how long the security code of a card is kept, such as 1h; never is for good',
    expected: 'a number with m, h or d behind it, from 1m to 7d, or never',
  }),
  /** Contract section 7. */
  cardNumberGuard: flag(true, 'refuse card numbers in metadata and container names'),
  /** Contract section 6. */
  maskGuard: flag(true, 'refuse masks that show a whole card number'),
  /** Shown, and found too (contract section 6). */
  strictMasks: flag(true, 'only who may reveal a token may widen how it is shown'),
  /** Contract section 8. */
  tenantWideDeduplication: flag(
    false,
    'deduplicate against every token of the tenant, also those out of reach',
  ),
  /** Contract section 12. */
  sessionGrantsWithinAuthorizer: flag(true, 'refuse a session more than its authorizer has'),
})

/** How long the code of a card is kept; `undefined`: as long as its token. */
export const codeLifetimeMs = ({ cvcLifetime }: Pick<Settings, 'cvcLifetime'>) =>
  cvcLifetime === neverEnds ? undefined : durationMs(cvcLifetime)

export type VaultChoices = Partial<Readonly<Static<typeof vaultSchema>>>
export type AddressSettings = Static<typeof addressSchema>
export type BackupSettings = Static<typeof backupSchema>

export interface BackupPlan {
  /** A folder, or the address of what is in a bucket. */
  readonly to: string
  readonly everyMs: number
  readonly keep: number
}

/** `undefined` where nobody asked for backups. */
export function planOf(settings: Omit<BackupSettings, 'erasureLog'>): BackupPlan | undefined {
  const { backupTo: to, backupEvery, backupKeep } = settings
  if (to === undefined) return undefined
  const everyMs = durationMs(backupEvery ?? backupEveryDefault)
  return { to, everyMs, keep: backupKeep ?? backupKeepDefault }
}
export type LogSettings = Static<typeof logSchema>
export type Settings = Readonly<Static<typeof settingsSchema>>

export const defaultLogSettings = Object.fromEntries(
  Object.entries(logSchema.properties).map(([name, schema]) => [name, schema.default]),
) as LogSettings

export const defaultSettings = Object.fromEntries(
  Object.entries(settingsSchema.properties).map(([name, schema]) => [name, schema.default]),
) as Settings

const guessBudgets = [
  'searchGuessesPerMinuteMax',
  'createGuessesPerMinuteMax',
  'lookupGuessesPerMinuteMax',
  'chosenIdsPerMinuteMax',
] as const

/**
 * The settings of each of several processes that serve one vault: budgets that count over all of
 * them are shared out, rounded up. 0 stays any number.
 */
export const shareOf = (settings: Settings, processes: number): Settings => ({
  ...settings,
  ...Object.fromEntries(guessBudgets.map(name => [name, Math.ceil(settings[name] / processes)])),
})
