/**
 * Finds card numbers where none belongs: metadata and container names.
 *
 * It guards against mistakes, not against intent. A number counts when it is written whole, also
 * inside a word, or in the groups of a card: four digits first, then groups of three to six, with
 * one space or dash between.
 * decision: other groupings do not count, and no digits of a long hexadecimal word do; else one of
 * 250 SHA-256 texts and some random UUIDs would be refused by chance.
 * Source: contract section 7.
 * @module
 */
import { invalid } from '../errors.ts'
import { cardNumberDigitsMax, cardNumberDigitsMin } from '../limits.ts'
import { isDigitCode, isDigits, isLuhnValid } from './digits.ts'

type Word = {
  readonly text: string
  /** Whether exactly one space or dash stands between this word and the one before. */
  readonly isJoined: boolean
}

const firstGroupDigits = 4
const groupDigitsMin = 3
const groupDigitsMax = 6

const wordShape = /[0-9A-Za-z]+/g
const runShape = /[0-9]+/g
/** An object id has 24 characters, an MD5 32, more than a card number in any case. */
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

const isCardNumber = (digits: string): boolean =>
  isDigits(digits, cardNumberDigitsMin, cardNumberDigitsMax) && isLuhnValid(digits)

const holdsCardNumber = (word: string): boolean =>
  word.length >= cardNumberDigitsMin &&
  !hashShape.test(word) &&
  (word.match(runShape) ?? []).some(isCardNumber)

/** Whether a card number in groups starts with this word, the one at `index`. */
const startsCardNumber = (word: Word, words: readonly Word[], index: number): boolean => {
  let digits = word.text
  if (!isDigits(digits, firstGroupDigits, firstGroupDigits)) return false
  for (let next = index + 1; digits.length < cardNumberDigitsMax; next += 1) {
    const group = words[next]
    if (group === undefined || !group.isJoined) return false
    if (!isDigits(group.text, groupDigitsMin, groupDigitsMax)) return false
    digits += group.text
    if (isCardNumber(digits)) return true
  }
  return false
}

const digitsIn = (text: string): number => {
  let count = 0
  for (let at = 0; at < text.length; at += 1) if (isDigitCode(text.charCodeAt(at))) count += 1
  return count
}

/** @returns whether the text holds a Luhn-valid number of 13 to 19 digits, whole or in groups */
export const containsCardNumber = (text: string): boolean => {
  // Nearly every text has too few, and cutting it into words takes long.
  if (digitsIn(text) < cardNumberDigitsMin) return false
  const words = splitWords(text)
  return words.some(
    (word, index) => holdsCardNumber(word.text) || startsCardNumber(word, words, index),
  )
}

/**
 * @param at  path under which a fault is reported
 * @throws ApiError `invalid_request`, without the number
 */
export const assertNoCardNumber = (text: string, at: string): void => {
  if (containsCardNumber(text)) throw invalid(at, 'expected no card number: this is not protected')
}
