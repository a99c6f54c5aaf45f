/**
 * The token types and what each of them stands for, as data.
 *
 * Adding a type is adding a row. Source: the table of contract section 5.
 * @module
 */
import {
  normaliseBank,
  normaliseUsBankAccountNumber,
  normaliseUsBankRoutingNumber,
} from './bank.ts'
import { normaliseCard, normaliseCardNumber } from './card.ts'
import type { DigitsPlace } from './hidden-digits.ts'
import type { Json } from '../json/json.ts'
import { normaliseEmployerIdNumber, normaliseSocialSecurityNumber } from './national-ids.ts'

export type TokenType = {
  readonly name: string
  /**
   * Checks the data and brings it into its stored form.
   * @param at  path of the data, under which faults are reported
   * @throws ApiError `invalid_request` with all faults
   */
  readonly normalise: (data: Json, at: string) => Json
  readonly defaultContainer: string
  readonly defaultFingerprintExpression: string
  /** Undefined: no mask, so the mask transform redacts. */
  readonly defaultMask: Json | undefined
  readonly defaultSearchIndexes: readonly string[]
  /** The number that no id expression may give away (contract section 7). */
  readonly protectedNumber?: DigitsPlace
  /** The code that no id expression may use at all. */
  readonly protectedCode?: DigitsPlace
}

const lastFourMask = '{{ data | reveal_last: 4 }}'

const nationalIdDefaults = {
  defaultContainer: '/pii/high/',
  defaultFingerprintExpression: "{{ data | remove: '-' }}",
  defaultMask: lastFourMask,
  defaultSearchIndexes: ['{{ data }}', "{{ data | remove: '-' }}", '{{ data | last4 }}'],
  protectedNumber: 'whole' as const,
}

const bareNumberDefaults = {
  defaultFingerprintExpression: '{{ data }}',
  defaultMask: lastFourMask,
  defaultSearchIndexes: [],
}

const tokenTypes: readonly TokenType[] = [
  {
    name: 'token',
    normalise: data => data,
    defaultContainer: '/general/high/',
    defaultFingerprintExpression: '{{ data | stringify }}',
    defaultMask: undefined,
    defaultSearchIndexes: [],
  },
  {
    name: 'card',
    normalise: normaliseCard,
    defaultContainer: '/pci/high/',
    defaultFingerprintExpression: '{{ data.number }}',
    defaultMask: new Map([
      ['number', '{{ data.number | reveal_last: 4 }}'],
      ['expiration_month', '{{ data.expiration_month }}'],
      ['expiration_year', '{{ data.expiration_year }}'],
    ]),
    defaultSearchIndexes: [],
    protectedNumber: { member: 'number' },
    protectedCode: { member: 'cvc' },
  },
  {
    name: 'bank',
    normalise: normaliseBank,
    defaultContainer: '/bank/high/',
    defaultFingerprintExpression: '{{ data.account_number }}|{{ data.routing_number }}',
    defaultMask: new Map([
      ['routing_number', '{{ data.routing_number }}'],
      ['account_number', '{{ data.account_number | reveal_last: 4 }}'],
    ]),
    defaultSearchIndexes: [],
    protectedNumber: { member: 'account_number' },
  },
  {
    ...bareNumberDefaults,
    name: 'card_number',
    normalise: normaliseCardNumber,
    defaultContainer: '/pci/high/',
    protectedNumber: 'whole',
  },
  {
    ...bareNumberDefaults,
    name: 'us_bank_account_number',
    normalise: normaliseUsBankAccountNumber,
    defaultContainer: '/bank/high/',
    protectedNumber: 'whole',
  },
  {
    ...bareNumberDefaults,
    name: 'us_bank_routing_number',
    normalise: normaliseUsBankRoutingNumber,
    defaultContainer: '/bank/low/',
  },
  {
    ...nationalIdDefaults,
    name: 'social_security_number',
    normalise: normaliseSocialSecurityNumber,
  },
  { ...nationalIdDefaults, name: 'employer_id_number', normalise: normaliseEmployerIdNumber },
]

/** In the order of the contract's table. */
export const tokenTypeNames: readonly string[] = tokenTypes.map(({ name }) => name)

const typesByName: ReadonlyMap<string, TokenType> = new Map(
  tokenTypes.map(type => [type.name, type]),
)

/** @returns the type of exactly this name, case-sensitive; `undefined` where there is none */
export const tokenTypeOf = (name: string): TokenType | undefined => typesByName.get(name)
