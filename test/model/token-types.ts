/**
 * The table of contract section 5 as the model reads it: what is valid, and the defaults.
 * @module
 */
import { isObject, memberOf, type Json } from './json.ts'

export interface ModelType {
  /** The data as it is kept at that instant, or `undefined` when it is refused. */
  readonly keep: (data: Json, nowMs: number) => Json | undefined
  readonly container: string
  readonly fingerprint: string
  readonly mask?: Json
  readonly indexes?: readonly string[]
}

const digitsOf = (text: string): number[] => [...text].map(Number)

/** Doubles every second digit from the right, and adds the digits of the result. */
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

/** Number of days of each month from January on, but for leap years. */
const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** A day of the calendar that has begun in UTC. */
function keepDay(data: Json, nowMs: number): Json | undefined {
  if (!isText(data, /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/)) return undefined
  const [year = 0, month = 0, day = 0] = data.split('-').map(Number)
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = (monthDays[month - 1] ?? 0) + (isLeap && month === 2 ? 1 : 0)
  const isThere = day >= 1 && day <= days && Date.UTC(year, month - 1, day) <= nowMs
  return isThere ? data : undefined
}

/** IBAN lengths of the samples' countries. Source: the IBAN registry of SWIFT. */
const ibanLengths: Readonly<Record<string, number>> = { DE: 22, GB: 22, NO: 15 }

/** ISO 13616: the first four characters go to the end, letters count from 10, mod 97 is 1. */
function isIban(text: string): boolean {
  const whole = text.replaceAll(' ', '').toUpperCase()
  if (!/^[A-Z]{2}[0-9]{2}[A-Z0-9]+$/.test(whole)) return false
  const moved = whole.slice(4) + whole.slice(0, 4)
  const digits = moved.replaceAll(/[A-Z]/g, letter => String(parseInt(letter, 36)))
  return whole.length === ibanLengths[whole.slice(0, 2)] && BigInt(digits) % 97n === 1n
}

/** Shape of the samples' addresses; the whole of RFC 5321 is not asked of a model. */
const emailShape = /^[a-z0-9+.]+@(?:[a-z0-9]+\.)+[a-z]{2,}$/i

/** Numbers of the countries of the samples, with as many digits as those have. */
const phoneShape = /^\+(?:1[0-9]{10}|49[0-9]{7,11}|354[0-9]{7})$/

const isWords = (value: Json): boolean => isText(value, /\S/)

/** Keeps a text, or an object of texts and nulls with at least one text. */
function keepWords(data: Json): Json | undefined {
  const words = isObject(data) ? Object.values(data).filter(value => value !== null) : [data]
  return words.length > 0 && words.every(isWords) ? data : undefined
}

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
  email: {
    keep: keepText(emailShape),
    container: '/pii/high/',
    fingerprint: '{{ data | downcase }}',
    mask: "{{ data | slice: 0 }}***@{{ data | split: '@' | last }}",
    indexes: ['{{ data }}', "{{ data | split: '@' | last }}"],
  },
  phone: {
    keep: keepText(phoneShape),
    container: '/pii/high/',
    fingerprint: '{{ data }}',
    mask: '{{ data | phone_mask }}',
    indexes: ['{{ data }}', '{{ data | last4 }}'],
  },
  iban: {
    keep: keepText(/^[A-Za-z0-9 ]+$/, isIban),
    container: '/pii/high/',
    fingerprint: "{{ data | remove: ' ' | upcase }}",
    mask: "{{ data | remove: ' ' | reveal: 2, 4 }}",
    indexes: ["{{ data | remove: ' ' }}", "{{ data | remove: ' ' | last4 }}"],
  },
  name: {
    keep: keepWords,
    container: '/pii/high/',
    fingerprint: '{{ data | stringify }}',
    mask: '{{ data | initials }}',
  },
  address: {
    keep: keepWords,
    container: '/pii/high/',
    fingerprint: '{{ data | stringify }}',
    mask: { country: '{{ data.country }}' },
  },
  date_of_birth: {
    keep: keepDay,
    container: '/pii/high/',
    fingerprint: '{{ data }}',
    mask: '{{ data | slice: 0, 4 }}',
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

const numberTypes: readonly string[] = [
  'us_bank_account_number',
  'social_security_number',
  'employer_id_number',
  'phone',
  'iban',
]

/** Returns the digits that no id made of the data may hold (contract section 7). */
export function protectedDigits(type: string, data: Json): string | undefined {
  const account = type === 'bank' ? memberOf(data, 'account_number') : undefined
  const number = numberTypes.includes(type) ? data : account
  const text = guardedNumber(type, data) ?? (typeof number === 'string' ? number : undefined)
  return text?.replaceAll(/[^0-9]/g, '')
}
