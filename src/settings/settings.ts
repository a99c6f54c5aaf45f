/**
 * Settings that callers notice: one schema, from which the type, the defaults, the flags, the
 * variables and the members of the file come. Settings of the serving processes are in
 * `serving-settings.ts`.
 *
 * Frozen when the process starts; `config.ts` decodes it, tests hand in their own. Every default is
 * the contract's. A new setting needs a person who asked for it. Source: docs/decisions.md,
 * "Settings".
 * @module
 */
import { Type, type Static } from '@sinclair/typebox'
import {
  bodiesBytesMax,
  bodyBytesMax,
  chosenIdsPerMinuteMax,
  createGuessesPerMinuteMax,
  credentialBodiesBytesMax,
  lookupGuessesPerMinuteMax,
  searchGuessesPerMinuteMax,
} from '../limits/limits.ts'
import {
  auditBytesSettingMax,
  auditBytesSettingMin,
  auditDaysDefault,
  auditDaysSettingMax,
  auditWitnessesMax,
  bodiesBytesSettingMax,
  bodyBytesSettingMax,
  bodyBytesSettingMin,
  codeLifetimeDefault,
  corsOriginsMax,
  egressAllowMax,
  foldRowsDefault,
  foldRowsSettingMax,
  foldRowsSettingMin,
  headerPrefixesMax,
  keyHeadersMax,
  newRevealsSettingMax,
  requestsPerSecondSettingMax,
  settingCharsMax,
  trustedProxiesMax,
} from '../limits/setting-limits.ts'
import { basePath, durationMs, neverEnds } from './setting-formats.ts'
import {
  choice,
  flag,
  guesses,
  integer,
  list,
  lowerCase,
  optionalInteger,
} from './setting-kinds.ts'

export const settingsSchema = Type.Object({
  /** In addition to `svc-api-key` (contract section 1). */
  keyHeaders: list(lowerCase('header name'), {
    maxItems: keyHeadersMax,
    default: [],
    description: 'more names of the header that carries the API key, comma-separated',
    expected: `at most ${keyHeadersMax} header names, none of them svc-*`,
  }),
  /** Headers are read under each prefix as under `svc` (contract section 1). */
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
  /** `*` allows any origin (contract section 1). */
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
  /** One body of the largest size always fits, here and below. */
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
    'requests of one credential in a second, in each process; any number where it is not set',
  ),
  requestsPerSecondPerAddress: optionalInteger(
    1,
    requestsPerSecondSettingMax,
    'requests of one address in a second, in each process; any number where it is not set',
  ),
  trustedProxies: list(Type.String({ format: 'address or network', maxLength: settingCharsMax }), {
    maxItems: trustedProxiesMax,
    default: [],
    description: 'addresses or networks of proxies whose X-Forwarded-For is believed',
    expected: `at most ${trustedProxiesMax} addresses or networks such as 10.0.0.0/8`,
  }),
  egressAllow: list(
    Type.String({ format: 'plain address or network', maxLength: settingCharsMax }),
    {
      maxItems: egressAllowMax,
      default: [],
      description: 'addresses or networks beside public ones to which webhooks may lead',
      expected: `at most ${egressAllowMax} addresses or networks such as 10.1.2.0/24`,
    },
  ),
  searchGuessesPerMinuteMax: guesses(
    searchGuessesPerMinuteMax,
    'searches by data in a minute of a caller who does not see all of it; 0 is any number',
  ),
  createGuessesPerMinuteMax: guesses(
    createGuessesPerMinuteMax,
    'creates that deduplicate, or find their id taken, of the same, and other bodies under one ' +
      'idempotency key; 0 is any number',
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
  auditReads: choice(
    ['durable', 'reveals', 'buffered'],
    'reveals',
    'which reads wait until their entry in the audit log is on disk: all, those that reveal, none',
  ),
  auditDays: integer(
    1,
    auditDaysSettingMax,
    auditDaysDefault,
    'days for which entries of the audit log are kept',
  ),
  auditBytesMax: optionalInteger(
    auditBytesSettingMin,
    auditBytesSettingMax,
    'bytes of the audit log from which the oldest entries go before their days are over',
  ),
  auditWitnesses: list(Type.String({ format: 'witness', maxLength: settingCharsMax }), {
    maxItems: auditWitnessesMax,
    default: [],
    description: 'witnesses that cosign the audit log: the key of each, an @ and its address',
    expected: `at most ${auditWitnessesMax} of the form <verifier key>@https://witness.example.com`,
  }),
  documentationPage: flag(true, 'serve the page of the interface, and its document, at /swagger'),
  consolePage: flag(true, 'serve the console, a page for people with a key, at /console'),
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
  newRevealsMax: optionalInteger(
    0,
    newRevealsSettingMax,
    'tokens that one change of an application may newly reveal unless it is confirmed',
  ),
  /** Covers showing and finding (contract section 6). */
  strictMasks: flag(true, 'only who may reveal a token may widen how it is shown'),
  /** Contract section 8. */
  tenantWideDeduplication: flag(
    false,
    'deduplicate against every token of the tenant, also those out of reach',
  ),
  /** Contract section 12. */
  sessionGrantsWithinAuthorizer: flag(true, 'refuse a session more than its authorizer has'),
})

/** Milliseconds for which a card's code is kept; `undefined`: as long as its token. */
export const codeLifetimeMs = ({ cvcLifetime }: Pick<Settings, 'cvcLifetime'>) =>
  cvcLifetime === neverEnds ? undefined : durationMs(cvcLifetime)

export type Settings = Readonly<Static<typeof settingsSchema>>

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
 * Returns the settings of each of several processes that serve one vault: budgets for all of them
 * are divided, rounded up. 0 still means no limit.
 */
export const shareOf = (settings: Settings, processes: number): Settings => ({
  ...settings,
  ...Object.fromEntries(guessBudgets.map(name => [name, Math.ceil(settings[name] / processes)])),
})
