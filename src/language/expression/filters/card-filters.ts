/**
 * Filters for cards: `card_mask`, `card_bin`, `card_exp`.
 *
 * Digits are ASCII digits; everything else in a card number is a separator. The BIN has 8 digits
 * for numbers of 16 digits or more, else 6. Source: contract section 6.
 * @module
 */
import { present } from '../../../lib/errors.ts'
import { countDigits, digitsIn, isDigitCode } from '../../../lib/bytes.ts'
import type { Json } from '../../../lib/json/json.ts'
import { pick, failed, spend, type Run, jsonOf, scalarTextOf } from '../run.ts'
import {
  characterRule,
  checkedTextRule,
  choiceRule,
  flagAt,
  flagRule,
  textAt,
  type FilterDefinition,
} from './definition.ts'
import { hide, hideMiddle, maskCharacter, overText } from './mask-filters.ts'

export const lastDigits = 4

/** Longer text, even with separators, is not a card number. */
const cardCharsMax = 64

/** Returns the number of BIN digits of a card number with that many digits. */
export const binDigitsOf = (digits: number): number => (digits >= 16 ? 8 : 6)

/** Returns the index after the first `count` digits. The text has that many. */
export const indexAfterDigits = (text: string, count: number): number => {
  let index = 0
  for (let left = count; left > 0; index += 1) {
    if (isDigitCode(text.charCodeAt(index))) left -= 1
  }
  return index
}

/** Returns the index of the last `count` digits. The text has that many. */
export const indexBeforeLastDigits = (text: string, count: number): number => {
  let index = text.length
  for (let left = count; left > 0;) {
    index -= 1
    if (isDigitCode(text.charCodeAt(index))) left -= 1
  }
  return index
}

/** decision: a preserved digit would show part of the number in the middle, so it is refused. */
const separatorsRule = checkedTextRule(text =>
  countDigits(text) > 0 ? 'expected characters that are not digits' : undefined,
)

export const cardMask: FilterDefinition = {
  required: [],
  optional: [flagRule, flagRule, characterRule, separatorsRule],
  bind: operands => {
    const showsBin = flagAt(operands, 0)
    const showsLast = flagAt(operands, 1)
    const mask = textAt(operands, 2, maskCharacter)
    const preserved = [...new Set(textAt(operands, 3, ''))]
    return overText((text, run) => {
      // Only card numbers are worth counting; other text shows nothing.
      const digits = text.length > cardCharsMax ? 0 : countDigits(text)
      const first = showsBin ? binDigitsOf(digits) : 0
      const last = showsLast ? lastDigits : 0
      if (first + last >= digits) return hide(run, text, 0, text.length, mask, [])
      const start = indexAfterDigits(text, first)
      return hideMiddle(run, text, start, indexBeforeLastDigits(text, last), mask, preserved)
    })
  },
}

/**
 * Returns only the digits of the BIN. decision: separators are never part of it, so the argument,
 * which names the separator in other implementations, has no effect.
 */
export const cardBin: FilterDefinition = {
  required: [],
  optional: [separatorsRule],
  bind: () =>
    overText((text, run) => {
      const digits = text.length > cardCharsMax ? 0 : countDigits(text)
      const bin = binDigitsOf(digits)
      // decision: a text no longer than a BIN is not a card number, and its BIN would be all of it.
      if (digits <= bin) throw failed(run, 'expected a card number, which is longer than its BIN')
      return digitsIn(text.slice(0, indexAfterDigits(text, bin)))
    }),
}

const expiryFormats: ReadonlyMap<string, (month: string, year: string) => string> = new Map([
  ['MM', month => month],
  ['MMYY', (month, year) => month + year.slice(2)],
  ['YYYY', (_month, year) => year],
  ['YYYY-MM', (month, year) => `${year}-${month}`],
  ['YYYY/MM', (month, year) => `${year}/${month}`],
  ['MM/YY', (month, year) => `${month}/${year.slice(2)}`],
  ['MM/YYYY', (month, year) => `${month}/${year}`],
  ['MM_YYYY', (month, year) => `${month}_${year}`],
  ['MM-YYYY', (month, year) => `${month}-${year}`],
])

/** Returns a member of the card as an integer from `least` to `most`, padded with zeros. */
const expiryPart = (card: Json, name: string, least: number, most: number, run: Run): string => {
  const text = scalarTextOf(pick(card, name, run)) ?? ''
  spend(run, text.length)
  const part = Number(text)
  if (!Number.isInteger(part) || part < least || part > most) {
    throw failed(run, `expected a card object with ${name}`)
  }
  return String(part).padStart(String(most).length, '0')
}

export const cardExp: FilterDefinition = {
  required: [choiceRule([...expiryFormats.keys()])],
  bind: operands => {
    const format = present(
      expiryFormats.get(textAt(operands, 0, '')),
      'a rule lets only known formats reach this filter',
    )
    return (input, run) => {
      const card = jsonOf(input)
      if (card === null) return null
      const month = expiryPart(card, 'expiration_month', 1, 12, run)
      return format(month, expiryPart(card, 'expiration_year', 1000, 9999, run))
    }
  },
}
