/**
 * Numbers as the vault holds them, in arithmetic and in comparisons.
 *
 * Invariant: arithmetic never silently rounds a caller's number; a number that no double holds is
 * refused instead. Source: contract section 5 (numbers), section 1 (byte-faithful).
 * @module
 */
import { type ExactNumber, canonicalNumberText } from '../../lib/json/json.ts'

export type JsonNumber = number | ExactNumber

/** Returns the text of a number as it was received. */
export const numberTextOf = (value: JsonNumber): string =>
  typeof value === 'number' ? String(value) : value.numberText

/** Returns the nearest double, for ordering only. */
export const nearestDouble = (value: JsonNumber): number =>
  typeof value === 'number' ? value : Number(value.numberText)

/** The double of equal value (1.0 is 1, 2.50 is 2.5), or undefined if it would lose digits. */
export const heldDouble = (value: JsonNumber): number | undefined => {
  if (typeof value === 'number') return value
  const double = Number(value.numberText)
  const isHeld = canonicalNumberText(value.numberText) === canonicalNumberText(String(double))
  // Adding zero turns -0 into 0, the only JSON text of that double.
  return isHeld ? double + 0 : undefined
}

/** True if two numbers have the same decimal value, such as 1 and 1.0. */
export const isSameNumber = (a: JsonNumber, b: JsonNumber): boolean => {
  if (typeof a === 'number' && typeof b === 'number') return a === b
  return canonicalNumberText(numberTextOf(a)) === canonicalNumberText(numberTextOf(b))
}
