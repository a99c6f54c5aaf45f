/**
 * The table of contract section 5 as the model reads it: what is valid, and the defaults.
 * @module
 */
import { isObject, memberOf, type Json } from './json.ts'

export interface ModelType {
  /** The data as it is kept, or `undefined` when it is refused. */
  readonly keep: (data: Json) => Json | undefined
  readonly container: string
  readonly fingerprint: string
  readonly mask?: Json
  readonly indexes?: readonly string[]
}

const digitsOf = (text: string): number[] => [...text].map(Number)

/** From the right, every second digit is doubled and its digits are added. */
const isLuhn = (text: string): boolean =>
  digitsOf(text)
    .reverse()
    .map((digit, index) => (index % 2 === 0 ? digit : digit * 2 > 9 ? digit * 2 - 9 : digit * 2))
    .reduce((sum, digit) => sum + digit, 0) %
    10 ===
  0

const isAba = (text: string): boolean =>
  /^[0-9]{9}$/.test(text) &&
  digitsOf(text).reduce((sum, digit, index) => sum + digit * ([3, 7, 1][index % 3] ?? 0), 0) %
    10 ===
    0

const isText = (value: Json | undefined, pattern: RegExp): value is string =>
  typeof value === 'string' && pattern.test(value)

const isCardNumber = (value: Json | undefined): boolean =>
  isText(value, /^[0-9]{13,19}$/) && isLuhn(value)

const asInteger = (value: Json, min: number, max: number): number | undefined => {
  const number = isText(value, /^[0-9]+$/) ? Number(value) : value
  return typeof number === 'number' && number >= min && number <= max ? number : undefined
}

const asCvc = (value: Json): string | undefined => {
  const text = typeof value === 'number' ? String(value) : value
  return isText(text, /^[0-9]{3,4}$/) ? text : undefined
}

/** Other names for members of a card (contract section 5); those that the samples have. */
const misnamed = ['nummber', 'exp_month', 'cvv']

/** Months and years become integers, the cvc a string, other members stay. */
function keepCard(data: Json): Json | undefined {
  if (!isObject(data) || !isCardNumber(memberOf(data, 'number'))) return undefined
  if (misnamed.some(name => memberOf(data, name) !== undefined)) return undefined
  const kept = new Map(Object.entries(data))
  const readers = [
    ['expiration_month', (value: Json) => asInteger(value, 1, 12)],
    ['expiration_year', (value: Json) => asInteger(value, 1000, 9999)],
    ['cvc', asCvc],
  ] as const
  for (const [name, read] of readers) {
    const given = kept.get(name)
    if (given === undefined) continue
    const value = read(given)
    if (value === undefined) return undefined
    kept.set(name, value)
  }
  return Object.fromEntries(kept)
}

const keepBank = (data: Json): Json | undefined =>
  isText(memberOf(data, 'account_number'), /^[0-9]{1,17}$/) &&
  isAba(String(memberOf(data, 'routing_number')))
    ? data
    : undefined

const keepText =
  (pattern: RegExp, check: (text: string) => boolean = () => true) =>
  (data: Json): Json | undefined =>
    isText(data, pattern) && check(data) ? data : undefined

const lastFour = '{{ data | reveal_last: 4 }}'

const nationalId = {
  container: '/pii/high/',
  fingerprint: "{{ data | remove: '-' }}",
  mask: lastFour,
  indexes: ['{{ data }}', "{{ data | remove: '-' }}", '{{ data | last4 }}'],
}

export const modelTypes: Readonly<Record<string, ModelType>> = {
  token: {
    keep: data => data,
    container: '/general/high/',
    fingerprint: '{{ data | stringify }}',
  },
  card: {
    keep: keepCard,
    container: '/pci/high/',
    fingerprint: '{{ data.number }}',
    mask: {
      number: '{{ data.number | reveal_last: 4 }}',
      expiration_month: '{{ data.expiration_month }}',
      expiration_year: '{{ data.expiration_year }}',
    },
  },
  bank: {
    keep: keepBank,
    container: '/bank/high/',
    fingerprint: '{{ data.account_number }}|{{ data.routing_number }}',
    mask: {
      routing_number: '{{ data.routing_number }}',
      account_number: '{{ data.account_number | reveal_last: 4 }}',
    },
  },
  card_number: {
    keep: keepText(/^[0-9]{13,19}$/, isLuhn),
    container: '/pci/high/',
    fingerprint: '{{ data }}',
    mask: lastFour,
  },
  us_bank_account_number: {
    keep: keepText(/^[0-9]{3,17}$/),
    container: '/bank/high/',
    fingerprint: '{{ data }}',
    mask: lastFour,
  },
  us_bank_routing_number: {
    keep: keepText(/^[0-9]{9}$/, isAba),
    container: '/bank/low/',
    fingerprint: '{{ data }}',
    mask: lastFour,
  },
  social_security_number: {
    keep: keepText(/^(?:[0-9]{9}|[0-9]{3}-[0-9]{2}-[0-9]{4})$/),
    ...nationalId,
  },
  employer_id_number: {
    keep: keepText(/^(?:[0-9]{9}|[0-9]{2}-[0-9]{7})$/),
    ...nationalId,
  },
}

export const modelTypeOf = (name: Json | undefined): ModelType | undefined =>
  typeof name === 'string' && Object.hasOwn(modelTypes, name) ? modelTypes[name] : undefined

const cardTypes: readonly string[] = ['card', 'card_number']

/** The whole number of a card, which no mask of it may show (contract section 6). */
export const guardedNumber = (type: string, data: Json): string | undefined => {
  if (!cardTypes.includes(type)) return undefined
  return String(isObject(data) ? memberOf(data, 'number') : data)
}

const accountTypes: readonly string[] = [
  'us_bank_account_number',
  'social_security_number',
  'employer_id_number',
]

/** The digits that no id may hold which is made of the data (contract section 7). */
export function protectedDigits(type: string, data: Json): string | undefined {
  const number = accountTypes.includes(type) ? data : memberOf(data, 'account_number')
  const text = guardedNumber(type, data) ?? (typeof number === 'string' ? number : undefined)
  return modelTypes[type] === modelTypes['token'] ? undefined : text?.replaceAll('-', '')
}
