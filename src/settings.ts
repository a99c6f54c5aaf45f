/**
 * What an operator may decide, beside where the vault is and where it listens.
 *
 * Frozen when the process starts; `config.ts` decodes it, tests hand in their own. Every default
 * is the contract's. A new setting needs a person who asked for it.
 * @module
 */
import { bodyBytesMax } from './limits.ts'

export interface Settings {
  /** Lower-case names that carry the API key beside `svc-api-key` (contract section 1). */
  readonly keyHeaders: readonly string[]
  /** Starts with `/` and does not end with one, or is empty: all addresses are below it. */
  readonly basePath: string
  /** Origins that browsers may call from; `*` is any (contract section 1). */
  readonly corsOrigins: readonly string[]
  readonly bodyBytesMax: number
  /** Requests of one credential in a second; `undefined` is unlimited. */
  readonly requestsPerSecondMax: number | undefined
  /** Refuses card numbers in metadata and container names (contract section 7). */
  readonly cardNumberGuard: boolean
  /** Refuses masks that show a whole card number (contract section 6). */
  readonly maskGuard: boolean
  /** Changing mask, search indexes or fingerprint expression needs reveal (hardening finding 9). */
  readonly strictMasks: boolean
  /** A session gets no wider grants than its authorizer has (contract section 12). */
  readonly sessionGrantsWithinAuthorizer: boolean
}

export const defaultSettings: Settings = {
  keyHeaders: [],
  basePath: '',
  corsOrigins: ['*'],
  bodyBytesMax,
  requestsPerSecondMax: undefined,
  cardNumberGuard: true,
  maskGuard: true,
  strictMasks: false,
  sessionGrantsWithinAuthorizer: true,
}
