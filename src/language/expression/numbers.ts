/**
 * Numbers as the vault holds them, in arithmetic and in comparisons.
 *
 * Invariant: arithmetic never rounds a number of the caller in silence; a number that no double
 * holds is refused instead. Source: contract section 5 (numbers), section 1 (byte-faithful).
 * @module
 */
import { type ExactNumber, canonicalNumberText } from '../../lib/json/json.ts'

export type JsonNumber = number | ExactNumber

/** Its text as it came. */
export const numberTextOf = (value: JsonNumber): string =>
  typeof value === 'number' ? String(value) : value.numberText

/** The nearest double, for order only. */
export const nearestDouble = (value: JsonNumber): number =>
  typeof value === 'number' ? value : Number(value.numberText)

/** The double of equal value (1.0 is 1, 2.50 is 2.5), or undefined when digits would be lost. */
export const heldDouble = (value: JsonNumber): number | undefined => {
  if (typeof value === 'number') return value
  const double = Number(value.numberText)
  const isHeld = canonicalNumberText(value.numberText) === canonicalNumberText(String(double))
  // Adding zero turns -0 into 0, which is its only JSON text of a double.
  return isHeld ? double + 0 : undefined
}

/** Whether two numbers have one decimal value: 1 and 1.0 have. */
export const isSameNumber = (a: JsonNumber, b: JsonNumber): boolean => {
  if (typeof a === 'number' && typeof b === 'number') return a === b
  return canonicalNumberText(numberTextOf(a)) === canonicalNumberText(numberTextOf(b))
}
