/**
 * Keeps a caller's text out of a log if it could be a card number or a key.
 *
 * Wider than the guard of metadata (`clear-text.ts`): hiding a harmless text only costs a line its
 * trace id, while a shown secret stays in the log. Digits with letters in between do not count, nor
 * do groups of a UUID that no card number fills: otherwise one of 350 would be hidden by chance.
 * @module
 */
import { digitForms } from '../lib/ascii-digits.ts'
import { cardNumberDigitsMax, cardNumberDigitsMin } from '../limits/limits.ts'
import { base58Pattern, countDigits } from '../lib/bytes.ts'
import { containsCardNumber, isCardNumber, isSchemeNumber } from './clear-text.ts'

/** Prefix of all keys (contract section 13). */
const keyPrefix = /key_/i
/** The part after the prefix, on its own: nonces look like it, too. */
const bareKey = new RegExp(`(?<![0-9A-Za-z])${base58Pattern}(?![0-9A-Za-z])`)
const encodedBytes = /(?:%[0-9A-Fa-f]{2})+/g
/** Digits separated by anything but letters and digits, such as `4242.4242.4242.4242`. */
const digitGroups = /[0-9]+(?:[^0-9A-Za-z]+[0-9]+)+/g

/**
 * A UUID of RFC 9562 that has a letter: a number that is merely written in the groups of one has
 * none, and mostly another version or variant.
 */
const uuid = new RegExp(
  '(?<![0-9a-z])(?=[0-9-]{0,35}[a-f])' +
    '[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?![0-9a-z])',
  'gi',
)
const uuidHalfDigits = 16
/** Digits between letters. No scheme has issued numbers of 13 digits for decades. */
const longRun = /[0-9]{14,}/g

/**
 * True if someone may have put a card number there: it fills half of the UUID, or all the digits
 * between two letters. Chance does so in one of some 5,000.
 */
function isNumberInUuid(found: string): boolean {
  const digits = found.replaceAll('-', '')
  const halves = [digits.slice(0, uuidHalfDigits), digits.slice(uuidHalfDigits)]
  return [...halves, ...(digits.match(longRun) ?? [])].some(isSchemeNumber)
}

const withoutUuids = (text: string): string =>
  text.replaceAll(uuid, found => (isNumberInUuid(found) ? found : ' x '))

/** True if some consecutive groups form a card number. */
function isCardInGroups(text: string): boolean {
  const groups = text.split(/[^0-9]+/)
  return groups.some((_, first) => {
    let digits = ''
    for (let next = first; digits.length <= cardNumberDigitsMax; next += 1) {
      const group = groups[next]
      if (group === undefined) return false
      digits += group
      if (isCardNumber(digits)) return true
    }
    return false
  })
}

const isCardNumberIn = (text: string): boolean =>
  containsCardNumber(text) || (text.match(digitGroups) ?? []).some(isCardInGroups)

const holdsCardNumber = (text: string): boolean =>
  countDigits(text) >= cardNumberDigitsMin && isCardNumberIn(withoutUuids(text))

/** Bytes that are no UTF-8 become a character that separates digits. */
const decoded = (text: string): string =>
  text.replace(encodedBytes, codes => Buffer.from(codes.replaceAll('%', ''), 'hex').toString())

const holdsSecret = (text: string): boolean =>
  keyPrefix.test(text) || bareKey.test(text) || holdsCardNumber(text)

/** @param text of a bounded length @returns the text, or `hidden` instead of it */
export const loggable = (text: string): string =>
  digitForms(decoded(text)).some(holdsSecret) ? 'hidden' : text
