/**
 * Keeps a caller's text out of a log if it could be a card number or a key.
 *
 * Wider than the guard of metadata (`clear-text.ts`): hiding a harmless text only costs a line its
 * trace id, while a shown secret stays in the log. Digits with letters in between do not count,
 * otherwise some UUIDs would be hidden by chance.
 * @module
 */
import { cardNumberDigitsMax, cardNumberDigitsMin } from '../limits/limits.ts'
import { base58Pattern, countDigits } from '../lib/bytes.ts'
import { containsCardNumber, isCardNumber } from './clear-text.ts'

/** Prefix of all keys (contract section 13). */
const keyPrefix = /key_/i
/** The part after the prefix, on its own: nonces look like it, too. */
const bareKey = new RegExp(`(?<![0-9A-Za-z])${base58Pattern}(?![0-9A-Za-z])`)
const encodedByte = /%[0-9A-Fa-f]{2}/g
/** Digits separated by anything but letters and digits, such as `4242.4242.4242.4242`. */
const digitGroups = /[0-9]+(?:[^0-9A-Za-z]+[0-9]+)+/g

/** True if some consecutive groups form a card number. */
function isCardInGroups(text: string): boolean {
  const groups = text.split(/[^0-9]+/)
  return groups.some((_, first) => {
    let digits = ''
    for (const group of groups.slice(first)) {
      digits += group
      if (digits.length > cardNumberDigitsMax) return false
      if (isCardNumber(digits)) return true
    }
    return false
  })
}

const holdsCardNumber = (text: string): boolean =>
  countDigits(text) >= cardNumberDigitsMin &&
  (containsCardNumber(text) || (text.match(digitGroups) ?? []).some(isCardInGroups))

const decoded = (text: string): string =>
  text.replace(encodedByte, code => String.fromCharCode(Number.parseInt(code.slice(1), 16)))

/** @param text of a bounded length @returns the text, or `hidden` instead of it */
export function loggable(text: string): string {
  const plain = decoded(text)
  return keyPrefix.test(plain) || bareKey.test(plain) || holdsCardNumber(plain) ? 'hidden' : text
}
