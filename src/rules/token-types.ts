/**
 * Token types: the requirements of each on its data, its defaults, and the checks of numbers.
 * @module
 */
import { invalid, addFault, type Faults, throwFaults } from '../lib/errors.ts'
import {
  type Json,
  isJsonObject,
  copyMembers,
  isExactNumber,
  canonicalNumberText,
} from '../lib/json/json.ts'
import {
  bankAccountDigitsMax,
  usBankAccountDigitsMin,
  cardNumberDigitsMax,
  cardNumberDigitsMin,
} from '../limits/limits.ts'
import { isDigits, zeroCode } from '../lib/bytes.ts'
import { isCardNumber } from './clear-text.ts'
import type { DigitsPlace } from './hidden-digits.ts'
import {
  checkAddress,
  checkDateOfBirth,
  checkEmail,
  checkIban,
  checkName,
  checkPhone,
} from './personal-data.ts'

/*
 * Routing numbers of banks.
 */

const abaWeights = [3, 7, 1, 3, 7, 1, 3, 7, 1] as const

/** A placeholder in blank forms; its check sum is right by chance. */
const noRoutingNumber = '0'.repeat(abaWeights.length)

/**
 * @returns true if the text is a nine-digit routing number with a valid check sum
 * Source: contract section 5, 3(d1+d4+d7) + 7(d2+d5+d8) + (d3+d6+d9) ≡ 0 mod 10.
 */
export const isAbaValid = (text: string): boolean => {
  if (!isDigits(text, abaWeights.length, abaWeights.length) || text === noRoutingNumber)
    return false
  const sum = abaWeights.reduce<number>(
    (total, weight, at) => total + weight * (text.charCodeAt(at) - zeroCode),
    0,
  )
  return sum % 10 === 0
}

/*
 * Social security and employer identification numbers: nine digits, kept as they were written.
 *
 * Dashes are in their places, all or none. Source: contract section 5.
 */

const socialSecurityNumber = /^(?:[0-9]{9}|[0-9]{3}-[0-9]{2}-[0-9]{4})$/
const employerIdNumber = /^(?:[0-9]{9}|[0-9]{2}-[0-9]{7})$/

/** @throws ApiError `invalid_request` unless it is nine digits, with dashes as 3-2-4 or none */
export const checkSocialSecurityNumber = (data: Json, at: string): Json => {
  if (typeof data === 'string' && socialSecurityNumber.test(data)) return data
  throw invalid(at, 'expected a string of nine digits, with dashes as 3-2-4 or without')
}

/** @throws ApiError `invalid_request` unless it is nine digits, with a dash as 2-7 or none */
export const checkEmployerIdNumber = (data: Json, at: string): Json => {
  if (typeof data === 'string' && employerIdNumber.test(data)) return data
  throw invalid(at, 'expected a string of nine digits, with a dash as 2-7 or without')
}

/*
 * Bank data: the `bank` object and the bare numbers of US banks.
 *
 * Leading zeros are kept, so numbers are strings. Other members are kept. Source: contract section
 * 5; spec, Token data validations.
 */

/**
 * Returns the fault of a value that must be a number of so many digits; `undefined` if it is one.
 * Reveals at most its length.
 */
const digitsFault = (
  value: Json | undefined,
  digitsMin: number,
  digitsMax: number,
): string | undefined => {
  if (value === undefined || value === null) return 'is required: expected a string of digits'
  if (typeof value !== 'string') return 'expected a string: put the digits into quotes'
  if (value === '') return 'expected a string of digits, got an empty one'
  if (isDigits(value, value.length, value.length)) {
    const range = digitsMin === digitsMax ? `${digitsMin}` : `${digitsMin} to ${digitsMax}`
    const isLong = value.length >= digitsMin && value.length <= digitsMax
    return isLong ? undefined : `expected ${range} digits, got ${value.length}`
  }
  const hasSeparators = /^[\d\s./-]+$/.test(value)
  return `expected digits alone${hasSeparators ? ': leave out blanks, dashes and dots' : ''}`
}

const routingFault = (value: Json | undefined): string | undefined =>
  digitsFault(value, abaWeights.length, abaWeights.length) ??
  (isAbaValid(String(value))
    ? undefined
    : 'expected a routing number: its ABA check digit is wrong, so a digit may be mistyped')

const accountFault = (value: Json | undefined, digitsMin: number): string | undefined =>
  digitsFault(value, digitsMin, bankAccountDigitsMax)

/**
 * @param at  path of the value, `data`
 * @throws ApiError `invalid_request` with all faults
 */
export const checkBank = (data: Json, at: string): Json => {
  if (!isJsonObject(data))
    throw invalid(
      at,
      'expected a bank account as an object with `routing_number` and `account_number`',
    )
  const faults: Faults = new Map()
  const routing = routingFault(data.get('routing_number'))
  if (routing !== undefined) addFault(faults, `${at}.routing_number`, routing)
  const account = accountFault(data.get('account_number'), 1)
  if (account !== undefined) addFault(faults, `${at}.account_number`, account)
  throwFaults(faults)
  return data
}

/** @throws ApiError `invalid_request` unless it is a string of 3 to 17 digits */
export const checkUsBankAccountNumber = (data: Json, at: string): Json => {
  const fault = accountFault(data, usBankAccountDigitsMin)
  if (fault !== undefined) throw invalid(at, fault)
  return data
}

/** @throws ApiError `invalid_request` unless it is a string of nine digits that passes ABA */
export const checkUsBankRoutingNumber = (data: Json, at: string): Json => {
  const fault = routingFault(data)
  if (fault !== undefined) throw invalid(at, fault)
  return data
}

/*
 * Card data: the `card` object and the bare `card_number`.
 *
 * Other members are kept, and so is the order of members. Any number that passes the Luhn check is
 * accepted, whatever its brand; so are past years. Source: contract section 5.
 */

const monthExpected = 'expected an integer from 1 to 12'
const yearExpected = 'expected a year of four digits'
const cvcExpected = 'expected a string of three or four digits'

export const cardDigitExpected =
  'expected a card number: its check digit is wrong, so a digit may be mistyped'

/** Distinguishes mistakes without showing the number. */
const cardNumberFault = (value: Json | undefined): string | undefined =>
  digitsFault(value, cardNumberDigitsMin, cardNumberDigitsMax) ??
  (isCardNumber(String(value)) ? undefined : cardDigitExpected)

/** Digits of a text, or of a number with an integer value: `"07"`, `7` and `7.0`. */
const numeralOf = (value: Json): string => {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  return isExactNumber(value) ? canonicalNumberText(value.numberText) : ''
}

const parseMonth = (value: Json): number | undefined => {
  const numeral = numeralOf(value)
  const month = isDigits(numeral, 1, 2) ? Number(numeral) : 0
  return month >= 1 && month <= 12 ? month : undefined
}

const parseYear = (value: Json): number | undefined => {
  const numeral = numeralOf(value)
  // A year with a leading zero would not keep its four digits as an integer.
  return isDigits(numeral, 4, 4) && numeral[0] !== '0' ? Number(numeral) : undefined
}

const parseCvc = (value: Json): string | undefined => {
  const numeral = numeralOf(value)
  return isDigits(numeral, 3, 4) ? numeral : undefined
}

const optionalMembers = [
  ['expiration_month', parseMonth, monthExpected],
  ['expiration_year', parseYear, yearExpected],
  ['cvc', parseCvc, cvcExpected],
] as const

/**
 * @param at  path of the value, `data`
 * @returns the same members in the same order; month and year as integers, cvc as a string
 * @throws ApiError `invalid_request` with all faults
 * decision: null in an optional member means that it is not given, and is kept.
 */
export const normaliseCard = (data: Json, at: string): Json => {
  if (!isJsonObject(data)) throw invalid(at, 'expected a card as an object with `number`')
  const faults: Faults = new Map()
  const card = copyMembers(data)
  const number = cardNumberFault(data.get('number'))
  if (number !== undefined) addFault(faults, `${at}.number`, number)
  for (const [name, parse, expected] of optionalMembers) {
    const value = data.get(name) ?? null
    if (value === null) continue
    const parsed = parse(value)
    if (parsed === undefined) addFault(faults, `${at}.${name}`, expected)
    else card.set(name, parsed)
  }
  throwFaults(faults)
  return card
}

/** @throws ApiError `invalid_request` unless it is a Luhn-valid string of 13 to 19 digits */
export const checkCardNumber = (data: Json, at: string): Json => {
  const fault = cardNumberFault(data)
  if (fault !== undefined) throw invalid(at, fault)
  return data
}

/*
 * The token types and the properties of each, as data.
 *
 * Adding a type is adding a row. Source: the table of contract section 5.
 */

export type TokenTypeDefinition = {
  readonly name: string
  /**
   * Checks the data and converts it to its stored form.
   * @param at  path of the data, under which faults are reported
   * @param nowMs  Unix milliseconds
   * @throws ApiError `invalid_request` with all faults
   */
  readonly normalise: (data: Json, at: string, nowMs: number) => Json
  readonly defaultContainer: string
  readonly defaultFingerprintExpression: string
  /** Undefined: no mask, so the mask transform redacts. */
  readonly defaultMask: Json | undefined
  /** True if that mask shows nothing of some data that the type accepts. */
  readonly defaultMaskMayBeBlank?: true
  readonly defaultSearchIndexes: readonly string[]
  /** The number that no id expression may reveal (contract section 7). */
  readonly protectedNumber?: DigitsPlace
  /** The code that no id expression may use, and that expires by itself (contract section 5). */
  readonly protectedCode?: Exclude<DigitsPlace, 'whole'>
}

/** Never empty, and fails only on data that is too long for it. */
export const wholeDataExpression = '{{ data | stringify }}'

const lastFourMask = '{{ data | reveal_last: 4 }}'

const nationalIdDefaults = {
  defaultContainer: '/pii/high/',
  defaultFingerprintExpression: "{{ data | remove: '-' }}",
  defaultMask: lastFourMask,
  defaultSearchIndexes: ['{{ data }}', "{{ data | remove: '-' }}", '{{ data | last4 }}'],
  protectedNumber: 'whole' as const,
}

const personalDefaults = {
  defaultContainer: '/pii/high/',
  defaultFingerprintExpression: '{{ data }}',
  defaultSearchIndexes: [],
}

const bareNumberDefaults = {
  defaultFingerprintExpression: '{{ data }}',
  defaultMask: lastFourMask,
  defaultSearchIndexes: [],
}

const tokenTypes: readonly TokenTypeDefinition[] = [
  {
    name: 'token',
    normalise: data => data,
    defaultContainer: '/general/high/',
    defaultFingerprintExpression: wholeDataExpression,
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
    normalise: checkBank,
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
    normalise: checkCardNumber,
    defaultContainer: '/pci/high/',
    protectedNumber: 'whole',
  },
  {
    ...bareNumberDefaults,
    name: 'us_bank_account_number',
    normalise: checkUsBankAccountNumber,
    defaultContainer: '/bank/high/',
    protectedNumber: 'whole',
  },
  {
    ...bareNumberDefaults,
    name: 'us_bank_routing_number',
    normalise: checkUsBankRoutingNumber,
    defaultContainer: '/bank/low/',
  },
  {
    ...nationalIdDefaults,
    name: 'social_security_number',
    normalise: checkSocialSecurityNumber,
  },
  { ...nationalIdDefaults, name: 'employer_id_number', normalise: checkEmployerIdNumber },
  {
    ...personalDefaults,
    name: 'email',
    normalise: checkEmail,
    defaultFingerprintExpression: '{{ data | downcase }}',
    defaultMask: "{{ data | slice: 0 }}***@{{ data | split: '@' | last }}",
    defaultSearchIndexes: ['{{ data }}', "{{ data | split: '@' | last }}"],
  },
  {
    ...personalDefaults,
    name: 'phone',
    normalise: checkPhone,
    defaultMask: '{{ data | phone_mask }}',
    defaultSearchIndexes: ['{{ data }}', '{{ data | last4 }}'],
    protectedNumber: 'whole',
  },
  {
    ...personalDefaults,
    name: 'iban',
    normalise: checkIban,
    defaultFingerprintExpression: "{{ data | remove: ' ' | upcase }}",
    defaultMask: "{{ data | remove: ' ' | reveal: 2, 4 }}",
    defaultSearchIndexes: ["{{ data | remove: ' ' }}", "{{ data | remove: ' ' | last4 }}"],
    protectedNumber: 'whole',
  },
  {
    ...personalDefaults,
    name: 'name',
    normalise: checkName,
    defaultFingerprintExpression: wholeDataExpression,
    defaultMask: '{{ data | initials }}',
  },
  {
    ...personalDefaults,
    name: 'address',
    normalise: checkAddress,
    defaultFingerprintExpression: wholeDataExpression,
    defaultMask: new Map([['country', '{{ data.country }}']]),
    defaultMaskMayBeBlank: true,
  },
  {
    ...personalDefaults,
    name: 'date_of_birth',
    normalise: checkDateOfBirth,
    defaultMask: '{{ data | slice: 0, 4 }}',
  },
]

/** In the order of the contract's table. */
export const tokenTypeNames: readonly string[] = tokenTypes.map(({ name }) => name)

const typesByName: ReadonlyMap<string, TokenTypeDefinition> = new Map(
  tokenTypes.map(type => [type.name, type]),
)

/** @returns the type of exactly this name, case-sensitive; `undefined` if there is none */
export const tokenTypeOf = (name: string): TokenTypeDefinition | undefined => typesByName.get(name)
