/**
 * Reads text from left to right, for every grammar here: expressions, JSONPath, searches.
 *
 * A fault is an ApiError that names a position and an expectation, never the text.
 * @module
 */
import type { ApiError } from '../../lib/errors.ts'
import { isDigitCode } from '../../lib/bytes.ts'
import type { ExactNumber } from '../../lib/json/json.ts'

export interface Cursor {
  readonly text: string
  /** UTF-16 index of the next character. */
  position: number
  readonly refuse: (position: number, expected: string) => ApiError
}

/** Space, tab, line feed, vertical tab, form feed, carriage return; nothing beyond ASCII. */
export const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13)

export const skipBlanks = (cursor: Cursor): void => {
  while (isBlank(cursor.text.charCodeAt(cursor.position))) cursor.position += 1
}

export const sees = (cursor: Cursor, text: string): boolean =>
  cursor.text.startsWith(text, cursor.position)

/** Steps over `text` if it is next; returns true if it was. */
export const take = (cursor: Cursor, text: string): boolean => {
  if (!sees(cursor, text)) return false
  cursor.position += text.length
  return true
}

export const demand = (cursor: Cursor, text: string, expected: string): void => {
  if (!take(cursor, text)) throw cursor.refuse(cursor.position, expected)
}

/** Takes the longest run of characters whose UTF-16 codes pass; may be empty. */
export const takeWhile = (cursor: Cursor, passes: (code: number) => boolean): string => {
  const start = cursor.position
  const { text } = cursor
  while (cursor.position < text.length && passes(text.charCodeAt(cursor.position))) {
    cursor.position += 1
  }
  return text.slice(start, cursor.position)
}

const isHex = (code: number): boolean =>
  isDigitCode(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102)

const takeEscape = (cursor: Cursor, escapes: Readonly<Record<string, string>>): string => {
  const start = cursor.position
  cursor.position += 1
  const letter = cursor.text.charAt(cursor.position)
  cursor.position += 1
  if (letter === 'u') {
    const digits = cursor.text.slice(cursor.position, cursor.position + 4)
    cursor.position += 4
    if (digits.length === 4 && [...digits].every(digit => isHex(digit.charCodeAt(0)))) {
      return String.fromCharCode(Number.parseInt(digits, 16))
    }
  } else {
    // No prototype has a member whose name is one character.
    const escaped = escapes[letter]
    if (escaped !== undefined) return escaped
  }
  throw cursor.refuse(start, 'expected a known escape after the backslash')
}

/**
 * Reads a quoted string; the cursor is at its quote, `'` or `"`.
 * @param escapes  meanings of a backslash and one letter; `\uXXXX` is always known
 * @throws ApiError when it does not end, has an unknown escape, or yields a lone surrogate
 */
export const takeQuoted = (cursor: Cursor, escapes: Readonly<Record<string, string>>): string => {
  const start = cursor.position
  const quote = cursor.text.charAt(start)
  cursor.position += 1
  let value = ''
  while (!take(cursor, quote)) {
    if (cursor.position >= cursor.text.length) throw cursor.refuse(start, 'the string has no end')
    if (sees(cursor, '\\')) {
      value += takeEscape(cursor, escapes)
    } else {
      value += cursor.text.charAt(cursor.position)
      cursor.position += 1
    }
  }
  if (!value.isWellFormed()) throw cursor.refuse(start, 'expected well-formed Unicode')
  return value
}

/**
 * Returns a number as the vault holds it: a double if its shortest text equals the text received.
 * Returns undefined beyond the range of a double. `text` is a valid JSON number.
 */
export const numberFrom = (text: string): number | ExactNumber | undefined => {
  const double = Number(text)
  if (!Number.isFinite(double)) return undefined
  return String(double) === text ? double : { numberText: text }
}
