/**
 * What of a caller's text may stand in a log: none that could be a card number or a key.
 *
 * Wider than the guard of metadata (`clear-text.ts`): a text that is hidden without need costs a
 * line its trace id, and one that is shown stays in the log. What letters stand between is no
 * number, else one of some UUIDs would be hidden by chance.
 * @module
 */
import { cardNumberDigitsMax, cardNumberDigitsMin } from '../limits/limits.ts'
import { base58Pattern, countDigits } from '../lib/bytes.ts'
import { containsCardNumber, isCardNumber } from './clear-text.ts'

/** As all keys begin (contract section 13). */
const keyPrefix = /key_/i
/** What follows that prefix, by itself: nonces look so, too. */
const bareKey = new RegExp(`(?<![0-9A-Za-z])${base58Pattern}(?![0-9A-Za-z])`)
const encodedByte = /%[0-9A-Fa-f]{2}/g
/** Digits with anything but letters and digits between, such as `4242.4242.4242.4242`. */
const digitGroups = /[0-9]+(?:[^0-9A-Za-z]+[0-9]+)+/g

/** Whether a number that begins and ends with a group is one of a card. */
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

/** @param text of a bounded length @returns the text, or `hidden` in its place */
export function loggable(text: string): string {
  const plain = decoded(text)
  return keyPrefix.test(plain) || bareKey.test(plain) || holdsCardNumber(plain) ? 'hidden' : text
}
