/**
 * Texts that are kept and found in the clear: metadata, and the guard that keeps card numbers out.
 * @module
 */
import {
  metadataKeyCharsMax,
  metadataPairsMax,
  metadataValueCharsMax,
  cardNumberDigitsMax,
  cardNumberDigitsMin,
} from '../limits/limits.ts'
import { invalid, addFault, type Faults, throwFaults } from '../lib/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../lib/json/json.ts'
import { hasCharacters } from '../lib/maps.ts'
import { orderMarks } from '../lib/combining-marks.ts'
import { digitForms } from '../lib/ascii-digits.ts'
import { countDigits, isDigits, zeroCode } from '../lib/bytes.ts'

/*
 * Metadata: pairs of texts that are declared non-sensitive and can be searched.
 *
 * Names such as `__proto__`, `.`, `a.b` and `a=b` are ordinary, `A` and `a` are two pairs; a filter
 * on either finds both, since filters compare folded texts. Source: contract section 7.
 */

const keyExpected = `expected a key of 1 to ${metadataKeyCharsMax} characters without NUL`
const valueExpected = `expected a string of at most ${metadataValueCharsMax} characters`

const isKey = (key: string): boolean =>
  hasCharacters(key, 1, metadataKeyCharsMax) && !key.includes('\0')

const isValue = (value: Json): value is string =>
  typeof value === 'string' && hasCharacters(value, 0, metadataValueCharsMax)

/**
 * decision: a plain word is named, since it helps and keys are not sensitive; any other key may be
 * a misplaced value, and is named by its position.
 */
const plainWord = /^[a-z]+(?:[_-][a-z]+)*[0-9]{0,2}$/i
const plainWordCharsMax = 40

/** @param index of the pair, from 0 */
export const metadataPlace = (at: string, key: string, index: number): string =>
  key.length <= plainWordCharsMax && plainWord.test(key) ? `${at}.${key}` : `${at}[${index}]`

const addPair = (
  pairs: Map<string, string>,
  faults: Faults,
  at: string,
  key: string,
  value: Json,
): void => {
  if (!isKey(key)) addFault(faults, at, keyExpected)
  if (isValue(value)) pairs.set(key, value)
  else addFault(faults, at, valueExpected)
}

/** Stops at the first pair too many, so that more of them make no more work. */
const assertFewPairs = (members: JsonObject, at: string): void => {
  let count = 0
  for (const member of members.values()) {
    if (member !== null) count += 1
    if (count > metadataPairsMax) throw invalid(at, `expected at most ${metadataPairsMax} pairs`)
  }
}

/**
 * @param at  path of the value, `metadata`; pairs are named as by `metadataPlace`
 * @returns the pairs in their order, without those whose value is null
 * @throws ApiError `invalid_request` with all faults
 */
export const normaliseMetadata = (value: Json, at: string): ReadonlyMap<string, string> => {
  if (!isJsonObject(value)) throw invalid(at, 'expected an object of strings')
  assertFewPairs(value, at)
  const pairs = new Map<string, string>()
  const faults: Faults = new Map()
  let index = 0
  for (const [key, member] of value) {
    if (member !== null) addPair(pairs, faults, metadataPlace(at, key, index), key, member)
    index += 1
  }
  throwFaults(faults)
  return pairs
}

/**
 * The form in which keys and values are compared: lower case, then NFC.
 *
 * Equal: letters that differ only in case, in their locale-free lower-case mapping, and canonically
 * equivalent texts (so the Kelvin sign is k, as in Unicode). Different: anything that only NFKC or
 * upper-casing would unify (sharp s and ss, long s and s, the fi ligature and fi, full-width
 * letters), dotless i, dotted capital I, and any difference in white space. Source: hardening C10
 * and H74.
 */
export const foldMetadata = (text: string): string =>
  // In this order, because lower-casing can leave a pair that composes (J with caron).
  orderMarks(text.toLowerCase()).normalize('NFC')

/*
 * Card numbers: digits with a valid check sum.
 */

/**
 * @param digits  ASCII digits only, any length
 * Source: ISO/IEC 7812-1 annex B.
 */
export const isLuhnValid = (digits: string): boolean => {
  let sum = 0
  let isDoubled = false
  for (let at = digits.length - 1; at >= 0; at -= 1) {
    const digit = digits.charCodeAt(at) - zeroCode
    // Minus nine gives the sum of the two digits of a doubled one.
    sum += isDoubled ? digit * 2 - (digit > 4 ? 9 : 0) : digit
    isDoubled = !isDoubled
  }
  return sum % 10 === 0
}

export const isCardNumber = (digits: string): boolean =>
  isDigits(digits, cardNumberDigitsMin, cardNumberDigitsMax) && isLuhnValid(digits)

/*
 * Finds card numbers in the wrong place: metadata and container names.
 *
 * It guards against mistakes, not against intent. A number counts if it has the beginning and the
 * length of a known scheme, and is written whole, even inside a word, or in the groups of a card:
 * four digits first, then groups of three to six, separated by one space or dash. Telephone numbers
 * after `+`, ISO instants, and epoch times of this century do not count. decision: other groupings
 * do not count, nor do digits of a long hexadecimal word; otherwise one of 250 SHA-256 texts and
 * some random UUIDs would be refused by chance. Source: contract section 7.
 */

interface Scheme {
  readonly beginning: RegExp
  readonly digitsMin: number
  readonly digitsMax: number
}

const scheme = (beginning: RegExp, digitsMin: number, digitsMax = digitsMin): Scheme => ({
  beginning,
  digitsMin,
  digitsMax,
})

/** Source: the ranges of ISO/IEC 7812 that the schemes publish; lengths that they have issued. */
const schemes: readonly Scheme[] = [
  // Visa; the oldest have 13 digits, some issued today have 19.
  scheme(/^4/, 13),
  scheme(/^4/, 16),
  scheme(/^4/, 19),
  // Mastercard.
  scheme(/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, 16),
  // American Express.
  scheme(/^3[47]/, 15),
  // Diners Club.
  scheme(/^3(?:0[0-5]|095|[689])/, 14, 19),
  // JCB.
  scheme(/^35(?:2[89]|[3-8])/, 16, 19),
  // Discover.
  scheme(/^6(?:011|22|4[4-9]|5)/, 16, 19),
  // UnionPay.
  scheme(/^(?:62|81)/, 16, 19),
  // Maestro.
  scheme(/^(?:5018|5020|5038|5[6-8]|6304|6759|676[1-3])/, 13, 19),
  // Mir.
  scheme(/^220[0-4]/, 16, 19),
  // RuPay.
  scheme(/^(?:60|65|81|82|508|353|356)/, 16),
  // Elo and Hipercard.
  scheme(/^(?:4011|4312|4389|5041|5066|5067|509|6277|6362|6363|650|6516|6550)/, 16),
  scheme(/^(?:606282|3841)/, 13, 19),
  // Verve and Troy.
  scheme(/^(?:506[01]|507[89]|6500)/, 16, 19),
  scheme(/^9792/, 16),
]

const isOfScheme = (digits: string): boolean =>
  schemes.some(
    ({ beginning, digitsMin, digitsMax }) =>
      digits.length >= digitsMin && digits.length <= digitsMax && beginning.test(digits),
  )

/**
 * Epoch milliseconds of this century with 13 digits. decision: microseconds need no such rule until
 * September of 2039, since no number of a scheme begins as they do; a rule for the whole century
 * would let Mastercard numbers that begin with 2 pass.
 */
const isEpochTime = (digits: string): boolean =>
  digits.length === 13 && Number(digits) < Date.UTC(2101, 0, 1)

/** @returns true if the text is digits alone, and the number of a card of a known scheme */
export const isSchemeNumber = (digits: string): boolean =>
  isCardNumber(digits) && isOfScheme(digits) && !isEpochTime(digits)

/** `2030-08-26T01:00:00.123456+02:00`, and without separators `20300826T010000Z`. */
const isoDay = '(?:[0-9]{4}-[01][0-9]-[0-3][0-9][Tt ]|[0-9]{4}[01][0-9][0-3][0-9][Tt])'
const isoTime = '[0-2][0-9]:?[0-5][0-9](?::?[0-6][0-9](?:[.,][0-9]{1,12})?)?'
const isoInstant = new RegExp(`(?<![0-9])${isoDay}${isoTime}(?![0-9])`, 'g')
/** With blanks or dashes between the digits, as people write it. */
const telephone = /(?<![0-9A-Za-z])\+[0-9]+(?:[ -][0-9]+)*/g
/** Digits of a telephone number with its country code. Source: ITU-T E.164, section 6. */
const telephoneDigitsMax = 15

/** With more digits it is not one: another number follows its first group. */
const hideTelephone = (text: string): string =>
  countDigits(text) <= telephoneDigitsMax ? ' x ' : text.replace(/^\+[0-9]+/, ' x ')

const withoutOthers = (text: string): string =>
  text.replaceAll(telephone, hideTelephone).replaceAll(isoInstant, ' x ')

type Word = {
  readonly text: string
  /** True if exactly one space or dash separates this word from the one before. */
  readonly isJoined: boolean
}

const firstGroupDigits = 4
const groupDigitsMin = 3
const groupDigitsMax = 6

const wordShape = /[0-9A-Za-z]+/g
const runShape = /[0-9]+/g
/** An object id has 24 characters, an MD5 32: more than any card number. */
const hashShape = /^[0-9A-Fa-f]{24,}$/

const splitWords = (text: string): readonly Word[] => {
  const words: Word[] = []
  let end = 0
  for (const match of text.matchAll(wordShape)) {
    const gap = text.slice(end, match.index)
    words.push({ text: match[0], isJoined: gap === ' ' || gap === '-' })
    end = match.index + match[0].length
  }
  return words
}

const holdsCardNumber = (word: string): boolean =>
  word.length >= cardNumberDigitsMin &&
  !hashShape.test(word) &&
  (word.match(runShape) ?? []).some(isSchemeNumber)

/** True if a card number in groups starts with this word, the one at `index`. */
const startsCardNumber = (word: Word, words: readonly Word[], index: number): boolean => {
  let digits = word.text
  if (!isDigits(digits, firstGroupDigits, firstGroupDigits)) return false
  for (let next = index + 1; digits.length < cardNumberDigitsMax; next += 1) {
    const group = words[next]
    if (group === undefined || !group.isJoined) return false
    if (!isDigits(group.text, groupDigitsMin, groupDigitsMax)) return false
    digits += group.text
    if (isSchemeNumber(digits)) return true
  }
  return false
}

const showsCardNumber = (text: string): boolean => {
  // Nearly every text has too few digits, and splitting it into words is slow.
  if (countDigits(text) < cardNumberDigitsMin) return false
  const words = splitWords(withoutOthers(text))
  return words.some(
    (word, index) => holdsCardNumber(word.text) || startsCardNumber(word, words, index),
  )
}

/**
 * @returns true if the text holds the number of a card of a known scheme, whole or in groups, in
 *   digits of any script
 */
export const containsCardNumber = (text: string): boolean => digitForms(text).some(showsCardNumber)

/**
 * @param at  path under which a fault is reported
 * @throws ApiError `invalid_request`, without the number
 */
export const assertNoCardNumber = (text: string, at: string): void => {
  if (containsCardNumber(text)) throw invalid(at, 'expected no card number: this is not protected')
}
