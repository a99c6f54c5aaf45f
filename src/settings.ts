/**
 * What an operator may decide, beside where the vault is and where it listens.
 *
 * Frozen when the process starts; `config.ts` decodes it, tests hand in their own. Every default
 * is the contract's. A new setting needs a person who asked for it.
 * @module
 */
import {
  bodiesBytesMax,
  bodyBytesMax,
  createGuessesPerMinuteMax,
  credentialBodiesBytesMax,
  searchGuessesPerMinuteMax,
} from './limits.ts'

export interface Settings {
  /** Lower-case names that carry the API key beside `svc-api-key` (contract section 1). */
  readonly keyHeaders: readonly string[]
  /** Lower-case; under each, headers are read as under `svc` (contract section 1). */
  readonly headerPrefix: readonly string[]
  /** Starts with `/` and does not end with one, or is empty: all addresses are below it. */
  readonly basePath: string
  /** Origins that browsers may call from; `*` is any (contract section 1). */
  readonly corsOrigins: readonly string[]
  readonly bodyBytesMax: number
  /** Of all bodies under way in one process; one of the longest always fits. */
  readonly bodiesBytesMax: number
  /** Of the bodies of one credential under way; one of the longest always fits. */
  readonly credentialBodiesBytesMax: number
  /** Requests of one credential in a second; `undefined` is unlimited. */
  readonly requestsPerSecondMax: number | undefined
  /**
   * Clauses `data:` and `fingerprint:` of one credential in a minute that does not reveal all that
   * it may search; 0 is any number (contract section 14).
   */
  readonly searchGuessesPerMinuteMax: number
  /** The same for creates that deduplicate, and for chosen ids that are taken. */
  readonly createGuessesPerMinuteMax: number
  /** Refuses card numbers in metadata and container names (contract section 7). */
  readonly cardNumberGuard: boolean
  /** Refuses masks that show a whole card number (contract section 6). */
  readonly maskGuard: boolean
  /** Only whoever sees a token whole may widen how it is shown and found (contract section 6). */
  readonly strictMasks: boolean
  /** Deduplication looks at every token of the tenant, in reach or not (contract section 8). */
  readonly tenantWideDeduplication: boolean
  /** A session gets no wider grants than its authorizer has (contract section 12). */
  readonly sessionGrantsWithinAuthorizer: boolean
}

export const defaultSettings: Settings = {
  keyHeaders: [],
  headerPrefix: [],
  basePath: '',
  corsOrigins: ['*'],
  bodyBytesMax,
  bodiesBytesMax,
  credentialBodiesBytesMax,
  requestsPerSecondMax: undefined,
  searchGuessesPerMinuteMax,
  createGuessesPerMinuteMax,
  cardNumberGuard: true,
  maskGuard: true,
  strictMasks: true,
  tenantWideDeduplication: false,
  sessionGrantsWithinAuthorizer: true,
}

/**
 * The settings of each of several processes that serve one vault: budgets that count over all of
 * them are shared out, rounded up. 0 stays any number.
 */
export const shareOf = (settings: Settings, processes: number): Settings => ({
  ...settings,
  searchGuessesPerMinuteMax: Math.ceil(settings.searchGuessesPerMinuteMax / processes),
  createGuessesPerMinuteMax: Math.ceil(settings.createGuessesPerMinuteMax / processes),
})
