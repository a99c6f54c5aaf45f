/**
 * Card data: the `card` object and the bare `card_number`.
 *
 * Members that are not of a card are kept, and the order of members stays. Numbers that the Luhn
 * formula takes are taken, whatever their brand; past years too.
 * Source: contract section 5.
 * @module
 */
import { invalid } from '../errors.ts'
import { cardNumberDigitsMax, cardNumberDigitsMin } from '../limits.ts'
import { isDigits, isLuhnValid } from '../text/digits.ts'
import { addFault, type Faults, throwFaults } from './faults.ts'
import { canonicalNumberText } from '../json/number.ts'
import { copyMembers, isExactNumber, isJsonObject, type Json } from '../json/json.ts'

const numberExpected =
  `expected a string of ${cardNumberDigitsMin} to ${cardNumberDigitsMax} digits ` +
  'without separators that passes the Luhn check'
const monthExpected = 'expected an integer from 1 to 12'
const yearExpected = 'expected a year of four digits'
const cvcExpected = 'expected a string of three or four digits'

const isCardNumber = (value: Json | undefined): value is string =>
  typeof value === 'string' &&
  isDigits(value, cardNumberDigitsMin, cardNumberDigitsMax) &&
  isLuhnValid(value)

/** The digits of a text or of a number of integer value: `"07"`, `7` and `7.0`. */
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
  if (!isJsonObject(data)) throw invalid(at, 'expected a card object')
  const faults: Faults = new Map()
  const card = copyMembers(data)
  if (!isCardNumber(data.get('number'))) addFault(faults, `${at}.number`, numberExpected)
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
export const normaliseCardNumber = (data: Json, at: string): Json => {
  if (!isCardNumber(data)) throw invalid(at, numberExpected)
  return data
}
