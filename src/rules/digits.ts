/**
 * Runs of ASCII digits and the check sums over them.
 *
 * Digits of other scripts are never digits here. Source: contract section 5.
 * @module
 */
import { cardNumberDigitsMax, cardNumberDigitsMin } from '../limits.ts'

const zero = 0x30
const nine = 0x39

export const isDigitCode = (code: number): boolean => code >= zero && code <= nine

/** The digits of a text, in order. */
export const digitsIn = (text: string): string => text.replaceAll(/[^0-9]/g, '')

export const countDigits = (text: string): number => {
  let count = 0
  for (let index = 0; index < text.length; index += 1) {
    if (isDigitCode(text.charCodeAt(index))) count += 1
  }
  return count
}

/** @returns whether the text is `min` to `max` ASCII digits and nothing else */
export const isDigits = (text: string, min: number, max: number): boolean => {
  if (text.length < min || text.length > max) return false
  for (let at = 0; at < text.length; at += 1) {
    if (!isDigitCode(text.charCodeAt(at))) return false
  }
  return true
}

/**
 * @param digits  ASCII digits only, any length
 * Source: ISO/IEC 7812-1 annex B.
 */
export const isLuhnValid = (digits: string): boolean => {
  let sum = 0
  let isDoubled = false
  for (let at = digits.length - 1; at >= 0; at -= 1) {
    const digit = digits.charCodeAt(at) - zero
    // Nine off is the sum of the two digits of a doubled one.
    sum += isDoubled ? digit * 2 - (digit > 4 ? 9 : 0) : digit
    isDoubled = !isDoubled
  }
  return sum % 10 === 0
}

export const isCardNumber = (digits: string): boolean =>
  isDigits(digits, cardNumberDigitsMin, cardNumberDigitsMax) && isLuhnValid(digits)

const abaWeights = [3, 7, 1, 3, 7, 1, 3, 7, 1] as const

/**
 * @returns whether the text is a nine-digit routing number whose check sum holds
 * Source: contract section 5, 3(d1+d4+d7) + 7(d2+d5+d8) + (d3+d6+d9) ≡ 0 mod 10.
 */
export const isAbaValid = (text: string): boolean => {
  if (!isDigits(text, abaWeights.length, abaWeights.length)) return false
  const sum = abaWeights.reduce<number>(
    (total, weight, at) => total + weight * (text.charCodeAt(at) - zero),
    0,
  )
  return sum % 10 === 0
}
