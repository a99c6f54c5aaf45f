/**
 * Card brands: the prefixes of their numbers, and how each groups its digits.
 *
 * A number is complete only at the lengths of its brand: a shorter one that passes the check sum by
 * chance is part of a card number, and a mask would show the end of that part.
 * @module
 */
import { cardDigitsMax, cardDigitsMin, cvcDigitsMax, cvcDigitsMin } from '../limits.ts'
import type { Brand } from '../protocol.ts'

interface Kind {
  readonly brand: Brand
  /** Name that people read. */
  readonly name: string
  readonly beginning: RegExp
  /** Possible numbers of digits in a complete number. */
  readonly lengths: readonly number[]
  /** Shorter numbers count as incomplete; longer ones of a wrong length are invalid. */
  readonly digitsUsual: number
  readonly cvcDigits: readonly [min: number, max: number]
}

const three = [cvcDigitsMin, cvcDigitsMin] as const
const four = [cvcDigitsMax, cvcDigitsMax] as const

/** decision: visas of 13 digits are out of use, and would be complete before the others are. */
const visaLengths = [16, 19]
const from16 = [16, 17, 18, 19]
/** decision: an unknown brand may have any length that the vault takes. */
const anyLength = Array.from(
  { length: cardDigitsMax - cardDigitsMin + 1 },
  (_, more) => cardDigitsMin + more,
)

const kindOf = (
  brand: Brand,
  name: string,
  beginning: RegExp,
  lengths: readonly number[] = from16,
  cvcDigits: Kind['cvcDigits'] = three,
): Kind => {
  const digitsUsual = lengths === anyLength ? 16 : (lengths[0] ?? cardDigitsMin)
  return { brand, name, beginning, lengths, digitsUsual, cvcDigits }
}

const unknown = kindOf('unknown', '', /^/, anyLength, [cvcDigitsMin, cvcDigitsMax])

/** The first match counts. Source: the ranges of ISO/IEC 7812 that the brands publish. */
const kinds: readonly Kind[] = [
  kindOf('visa', 'Visa', /^4/, visaLengths),
  kindOf('mastercard', 'Mastercard', /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]),
  kindOf('amex', 'Amex', /^3[47]/, [15], four),
  kindOf('diners', 'Diners Club', /^3(?:0[0-5]|095|[689])/, [14, 16, 17, 18, 19]),
  kindOf('jcb', 'JCB', /^35(?:2[89]|[3-8])/),
  kindOf('discover', 'Discover', /^6(?:011|4[4-9]|5)/),
  kindOf('unionpay', 'UnionPay', /^(?:62|81)/),
  kindOf('maestro', 'Maestro', /^(?:50(?:18|20|38)|5612|5893|6304|6759|676[1-3])/, anyLength),
  unknown,
]

export const digitsMaxOf = ({ lengths }: Kind): number => Math.max(...lengths)

export const kindOfNumber = (digits: string): Kind =>
  kinds.find(({ beginning }) => beginning.test(digits)) ?? unknown

const fours = [4, 4, 4, 4, 3]

function groupsOf({ brand }: Kind, digits: string): readonly number[] {
  if (brand === 'amex') return [4, 6, 5]
  return brand === 'diners' && digits.length <= 14 ? [4, 6, 4] : fours
}

/** Returns the number with spaces between its groups, and none at its end. */
export function groupNumber(digits: string): string {
  const groups: string[] = []
  let from = 0
  for (const length of groupsOf(kindOfNumber(digits), digits)) {
    groups.push(digits.slice(from, (from += length)))
  }
  return groups.filter(group => group !== '').join(' ')
}
