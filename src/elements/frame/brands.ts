/**
 * Brands of cards by how their numbers begin, and how each writes its number.
 *
 * A brand is for the eye and for the length of the code: which numbers are taken is the vault's
 * rule, whatever their brand.
 * @module
 */
import { cardDigitsMax, cvcDigitsMax, cvcDigitsMin } from '../limits.ts'
import type { Brand } from '../protocol.ts'

interface Kind {
  readonly brand: Brand
  /** As it is told to people. */
  readonly name: string
  readonly beginning: RegExp
  readonly digitsMax: number
  /** A whole number has so many digits; shorter ones are not done yet. */
  readonly digitsUsual: number
  readonly cvcDigits: readonly [min: number, max: number]
}

const three = [cvcDigitsMin, cvcDigitsMin] as const
const four = [cvcDigitsMax, cvcDigitsMax] as const

const kindOf = (
  brand: Brand,
  name: string,
  beginning: RegExp,
  [digitsUsual, digitsMax]: readonly [number, number] = [16, cardDigitsMax],
  cvcDigits: Kind['cvcDigits'] = three,
): Kind => ({ brand, name, beginning, digitsUsual, digitsMax, cvcDigits })

const unknown = kindOf('unknown', '', /^/, [16, cardDigitsMax], [cvcDigitsMin, cvcDigitsMax])

/** The first that fits. Source: the ranges of ISO/IEC 7812 that the brands publish. */
const kinds: readonly Kind[] = [
  kindOf('visa', 'Visa', /^4/),
  kindOf('mastercard', 'Mastercard', /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16, 16]),
  kindOf('amex', 'Amex', /^3[47]/, [15, 15], four),
  kindOf('diners', 'Diners Club', /^3(?:0[0-5]|095|[689])/, [14, cardDigitsMax]),
  kindOf('jcb', 'JCB', /^35(?:2[89]|[3-8])/),
  kindOf('discover', 'Discover', /^6(?:011|4[4-9]|5)/),
  kindOf('unionpay', 'UnionPay', /^(?:62|81)/),
  kindOf('maestro', 'Maestro', /^(?:50(?:18|20|38)|5612|5893|6304|6759|676[1-3])/),
  unknown,
]

export const kindOfNumber = (digits: string): Kind =>
  kinds.find(({ beginning }) => beginning.test(digits)) ?? unknown

const fours = [4, 4, 4, 4, 3]

function groupsOf({ brand }: Kind, digits: string): readonly number[] {
  if (brand === 'amex') return [4, 6, 5]
  return brand === 'diners' && digits.length <= 14 ? [4, 6, 4] : fours
}

/** A number with spaces between its groups, and none at its end. */
export function groupNumber(digits: string): string {
  const groups: string[] = []
  let from = 0
  for (const length of groupsOf(kindOfNumber(digits), digits)) {
    groups.push(digits.slice(from, (from += length)))
  }
  return groups.filter(group => group !== '').join(' ')
}
