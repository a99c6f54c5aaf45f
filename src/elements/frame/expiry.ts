/**
 * Expiry of a card: `MM / YY`, where the year may have four digits.
 * @module
 */
import { digitsOf, withAsciiDigits } from './digits.ts'
import type { DigitFormat } from './editing.ts'

/** A month of one digit with something behind it, as `1/30`. */
const shortMonth = /^\s*([0-9])\s*[/.\- ]/

/** Day, month and year: more digits are a number that was pasted into the wrong field. */
const dateDigitsMax = 8

/** Beginning of a year of four digits, by which it is recognized. */
const century = '20'

/** A month of one digit gets a zero: no other month begins with 2 to 9. */
function digits(text: string, isDeleting: boolean): string {
  const typed = withAsciiDigits(text)
  const written = digitsOf(typed)
  // Not cut to a date: a mask would show these digits.
  if (written.length > dateDigitsMax) return ''
  const isShort = !isDeleting && (shortMonth.test(typed) || /^[2-9]/.test(written))
  const all = isShort ? `0${written}` : written
  return all.slice(0, all.slice(2, 4) === century ? 6 : 4)
}

function write(all: string, isDeleting: boolean): string {
  const year = all.slice(2)
  if (all.length < 2 || (year === '' && isDeleting)) return all
  return `${all.slice(0, 2)} / ${year}`
}

export const expiryWriting: DigitFormat = { digits, write }

export interface Expiry {
  readonly month: number
  readonly year: number
}

/** @returns `undefined` unless it is complete */
export function expiryOf(all: string): Expiry | undefined {
  if (all.length !== 4 && all.length !== 6) return undefined
  const year = all.slice(2)
  return { month: Number(all.slice(0, 2)), year: Number(year.length === 2 ? century + year : year) }
}

/** A card is valid to the end of its month. */
export const isPast = ({ month, year }: Expiry, today: Expiry): boolean =>
  year < today.year || (year === today.year && month < today.month)
