/**
 * Until when a card is valid: `MM / YY`, where the year may have four digits.
 * @module
 */
import { digitsOf, withAsciiDigits } from './digits.ts'
import type { DigitFormat } from './editing.ts'

/** One digit of a month with something behind it, as `1/30`. */
const shortMonth = /^\s*([0-9])\s*[/.\- ]/

/** Day, month and year: what is longer is a number that was pasted into the wrong field. */
const dateDigitsMax = 8

/** Years of four digits begin so: more of them than two are known by it. */
const century = '20'

/** A month of one digit gets a zero; none begins with another digit than 0 or 1. */
function digits(text: string, isDeleting: boolean): string {
  const typed = withAsciiDigits(text)
  const written = digitsOf(typed)
  // A mask shows what is taken for a date.
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

/** @returns `undefined` unless all of it is there */
export function expiryOf(all: string): Expiry | undefined {
  if (all.length !== 4 && all.length !== 6) return undefined
  const year = all.slice(2)
  return { month: Number(all.slice(0, 2)), year: Number(year.length === 2 ? century + year : year) }
}

/** A card is valid to the end of its month. */
export const isPast = ({ month, year }: Expiry, today: Expiry): boolean =>
  year < today.year || (year === today.year && month < today.month)
