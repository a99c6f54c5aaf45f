/**
 * The values of a search query: words, quoted texts, and ranges of time.
 *
 * @module
 */
import { ApiError } from '../errors.ts'
import {
  demand,
  isBlank,
  sees,
  skipBlanks,
  take,
  takeQuoted,
  takeWhile,
} from './expression/scan.ts'
import type { Cursor } from './expression/scan.ts'
import { dayMs } from '../rules/day-spans.ts'
import { parseInstant } from '../rules/instants.ts'

const special = new Set('"()[]{}\\*')

/** UTF-16 units that may stand in a word. */
export const isWordCode = (code: number): boolean =>
  !isBlank(code) && !special.has(String.fromCharCode(code))

const takeWord = (cursor: Cursor): string => takeWhile(cursor, isWordCode)

/** Steps over an operator in capitals, unless it is only how a longer word begins. */
export const takeOperator = (cursor: Cursor, operator: 'AND' | 'OR' | 'NOT' | 'TO'): boolean => {
  const after = cursor.position + operator.length
  const goesOn = after < cursor.text.length && isWordCode(cursor.text.charCodeAt(after))
  return !goesOn && take(cursor, operator)
}

const escapes = { '"': '"', '\\': '\\' }

/** A word that is not empty, or a quoted text. */
export const takeText = (cursor: Cursor, expected: string): string => {
  if (sees(cursor, '"')) return takeQuoted(cursor, escapes)
  const word = takeWord(cursor)
  if (word === '') throw cursor.refuse(cursor.position, expected)
  return word
}

/** Instants from one on, and before another; without a bound infinite. */
export interface InstantRange {
  readonly fromMs: number
  readonly beforeMs: number
}

/** An instant is the range of its millisecond; a date without a time that of its day in UTC. */
const rangeOf = (cursor: Cursor, start: number, text: string): InstantRange => {
  try {
    const { epochMs } = parseInstant(text, '')
    return { fromMs: epochMs, beforeMs: epochMs + (text.includes(':') ? 1 : dayMs) }
  } catch (thrown) {
    if (thrown instanceof ApiError) throw cursor.refuse(start, thrown.message)
    throw thrown
  }
}

const takeInstant = (cursor: Cursor): InstantRange => {
  const start = cursor.position
  return rangeOf(cursor, start, takeText(cursor, 'expected an instant'))
}

/** `undefined` for `*`, which is no bound. */
const takeBound = (cursor: Cursor): InstantRange | undefined =>
  take(cursor, '*') ? undefined : takeInstant(cursor)

const demandBlank = (cursor: Cursor): void => {
  if (!isBlank(cursor.text.charCodeAt(cursor.position))) {
    throw cursor.refuse(cursor.position, 'expected a blank')
  }
  skipBlanks(cursor)
}

const takeBounds = (cursor: Cursor, close: string) => {
  skipBlanks(cursor)
  const low = takeBound(cursor)
  demandBlank(cursor)
  if (!takeOperator(cursor, 'TO')) throw cursor.refuse(cursor.position, 'expected TO')
  demandBlank(cursor)
  const high = takeBound(cursor)
  skipBlanks(cursor)
  demand(cursor, close, `expected ${close}`)
  return { low, high }
}

/** One instant, or a range: `[A TO B]` with both ends, `{A TO B}` without either. */
export const takeInstantRange = (cursor: Cursor): InstantRange => {
  if (take(cursor, '[')) {
    const { low, high } = takeBounds(cursor, ']')
    return { fromMs: low?.fromMs ?? -Infinity, beforeMs: high?.beforeMs ?? Infinity }
  }
  if (take(cursor, '{')) {
    const { low, high } = takeBounds(cursor, '}')
    return { fromMs: low?.beforeMs ?? -Infinity, beforeMs: high?.fromMs ?? Infinity }
  }
  return takeInstant(cursor)
}
