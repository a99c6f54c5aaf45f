/**
 * Digits as they come from a keyboard, a paste or autofill, and their check sum.
 * @module
 */

/** Arabic, Persian and full-width digits; their last four bits are their value. */
const foreignDigit = /[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g

/** Replaces one character with one, so that positions stay. */
export const withAsciiDigits = (text: string): string =>
  text.replace(foreignDigit, digit => String(digit.charCodeAt(0) & 0xf))

export const digitsOf = (text: string): string => withAsciiDigits(text).replace(/[^0-9]/g, '')

/** @param digits ASCII digits only. Source: ISO/IEC 7812-1 annex B. */
export function isLuhnValid(digits: string): boolean {
  let sum = 0
  for (let fromEnd = 0; fromEnd < digits.length; fromEnd += 1) {
    const digit = Number(digits[digits.length - 1 - fromEnd])
    // A doubled digit counts the sum of its two digits, which is nine less.
    sum += fromEnd % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0)
  }
  return sum % 10 === 0
}
