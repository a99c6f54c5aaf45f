/**
 * Tokens of JSONPath: blanks, names, strings, integers, numbers. Source: RFC 9535 section 2.
 * @module
 */
import { isDigitCode } from '../../../lib/bytes.ts'
import type { JsonNumber } from '../numbers.ts'
import { numberFrom, takeQuoted, takeWhile, type Cursor } from '../scan-expression.ts'

const escapes = {
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

const escapesByQuote: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "'": { ...escapes, "'": "'" },
  '"': { ...escapes, '"': '"' },
}

/** Fewer than in an expression: section 2.1.1 lists four. */
const isSpace = (code: number): boolean => code === 32 || code === 9 || code === 10 || code === 13

export const skipSpaces = (cursor: Cursor): void => {
  takeWhile(cursor, isSpace)
}

/** Reads a quoted string; undefined if no quote is next. Raw control characters are refused. */
export const takeString = (cursor: Cursor): string | undefined => {
  const start = cursor.position
  const known = escapesByQuote[cursor.text.charAt(start)]
  if (known === undefined) return undefined
  const value = takeQuoted(cursor, known)
  for (let index = start; index < cursor.position; index += 1) {
    if (cursor.text.charCodeAt(index) < 32) throw cursor.refuse(index, 'expected an escape')
  }
  return value
}

const isNameStart = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code >= 0x80

const isNameCode = (code: number): boolean => isNameStart(code) || isDigitCode(code)

/** Reads a member name without quotes; '' if none is next. */
export const takeShorthand = (cursor: Cursor): string =>
  isNameStart(cursor.text.charCodeAt(cursor.position)) ? takeWhile(cursor, isNameCode) : ''

const takePattern = (cursor: Cursor, pattern: RegExp): string => {
  pattern.lastIndex = cursor.position
  const [found = ''] = pattern.exec(cursor.text) ?? []
  cursor.position += found.length
  return found
}

/** Neither a leading zero nor -0 is an integer here. */
const integerShape = /0|-?[1-9][0-9]*/y

/** Reads an index or a bound; undefined if none is next. Source: section 2.1, I-JSON range. */
export const takeInteger = (cursor: Cursor): number | undefined => {
  const start = cursor.position
  const text = takePattern(cursor, integerShape)
  if (text === '') return undefined
  const isWhole = !isDigitCode(cursor.text.charCodeAt(cursor.position))
  if (isWhole && Number.isSafeInteger(Number(text))) return Number(text)
  throw cursor.refuse(start, 'expected an integer of at most 53 bits')
}

const numberShape = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

/** Reads a number to compare with; undefined if none is next. */
export const takeNumber = (cursor: Cursor): JsonNumber | undefined => {
  const start = cursor.position
  const text = takePattern(cursor, numberShape)
  if (text === '') return undefined
  const value = numberFrom(text)
  if (value === undefined || isNameCode(cursor.text.charCodeAt(cursor.position))) {
    throw cursor.refuse(start, 'expected a JSON number')
  }
  return value
}

/** Reads a function or a constant: lower-case letters, digits, `_`. */
export const takeWord = (cursor: Cursor): string => takePattern(cursor, /[a-z][a-z_0-9]*/y)
