/**
 * Search queries: text to tree, with the values in it.
 * @module
 */
import { ApiError, invalid } from '../lib/errors.ts'
import {
  demand,
  sees,
  take,
  takeQuoted,
  takeWhile,
  type Cursor,
} from './expression/scan-expression.ts'
import { isBlank, skipBlanks } from './search-blanks.ts'
import { dayMs, parseInstant } from '../rules/instants.ts'
import { searchClausesMax, searchDepthMax } from '../limits/limits.ts'
import { normaliseContainer, normaliseContainerStart } from '../rules/container-paths.ts'

/*
 * The values of a search query: words, quoted texts, and ranges of time.
 */

const special = new Set('"()[]{}\\*')

/** UTF-16 units allowed in a word. */
const isWordCode = (code: number): boolean =>
  !isBlank(code) && !special.has(String.fromCharCode(code))

const takeWord = (cursor: Cursor): string => takeWhile(cursor, isWordCode)

/** Steps over an operator in capitals, unless it only begins a longer word. */
const takeOperator = (cursor: Cursor, operator: 'AND' | 'OR' | 'NOT' | 'TO'): boolean => {
  const after = cursor.position + operator.length
  const goesOn = after < cursor.text.length && isWordCode(cursor.text.charCodeAt(after))
  return !goesOn && take(cursor, operator)
}

const escapes = { '"': '"', '\\': '\\' }

/** Reads a non-empty word, or a quoted text. */
const takeText = (cursor: Cursor, expected: string): string => {
  if (sees(cursor, '"')) return takeQuoted(cursor, escapes)
  const word = takeWord(cursor)
  if (word === '') throw cursor.refuse(cursor.position, expected)
  return word
}

/** Instants from one on, and before another; infinite without a bound. */
interface InstantRange {
  readonly fromMs: number
  readonly beforeMs: number
}

/** An instant is the range of its millisecond; a date without a time is that of its day in UTC. */
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

/** Returns `undefined` for `*`, which sets no bound. */
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

/** One instant, or a range: `[A TO B]` includes both ends, `{A TO B}` excludes them. */
const takeInstantRange = (cursor: Cursor): InstantRange => {
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

/*
 * Search queries: text to tree, a small closed grammar written by hand.
 *
 *     query     = "*" / any
 *     any       = all *( "OR" all )
 *     all       = negation *( "AND" negation )
 *     negation  = ( "NOT" / "!" / "-" ) negation / "(" any ")" / clause
 *     clause    = field ":" ( word / quoted ) / instant-field ":" ( range / bound )
 *     field     = "id" / "type" / "data" / "fingerprint" / "container" / "created_by" /
 *                 "modified_by" / "metadata." ( key / quoted )
 *     range     = "[" bound "TO" bound "]" / "{" bound "TO" bound "}"
 *
 * A word has no blank and none of `" ( ) [ ] { } \ *`; a key has no colon either. Quoted text may
 * hold anything, with `\"`, `\\` and `\uXXXX`. Only `container` takes a `*`, at the end of a word;
 * only `created_at` and `modified_at` take ranges, in which a `*` means no bound.
 * decision: adjacent clauses are refused, since some people would read AND there and others OR;
 * operators are in capitals; a date without a time is its whole day in UTC.
 * Source: contract section 14.
 */

const textFields = ['id', 'type', 'data', 'fingerprint', 'created_by', 'modified_by'] as const
export const instantFields = ['created_at', 'modified_at'] as const

type TextField = (typeof textFields)[number]
type InstantField = (typeof instantFields)[number]

export type Clause =
  | { readonly field: TextField; readonly value: string }
  | { readonly field: 'metadata'; readonly key: string; readonly value: string }
  /** In normal form; a start covers every container that begins with it. */
  | { readonly field: 'container'; readonly value: string; readonly isStart: boolean }
  | ({ readonly field: InstantField } & InstantRange)

/** `all` and `any` have two parts or more. */
export type SearchTree =
  | { readonly all: readonly SearchTree[] }
  | { readonly any: readonly SearchTree[] }
  | { readonly not: SearchTree }
  | Clause

interface Reader extends Cursor {
  clauses: number
}

/** Message for a missing query. */
export const queryExpected = 'expected a query such as type:card; * alone finds all tokens'

/**
 * @param text at most 2,000 characters
 * @param at field path for errors
 * @returns `undefined` for `*` alone, which finds all tokens
 * @throws ApiError `invalid_request` with a position, in UTF-16 units from 0; never the text
 */
export const parseSearch = (text: string, at: string): SearchTree | undefined => {
  const refuse: Cursor['refuse'] = (position, expected) =>
    invalid(at, `position ${position}: ${expected}`)
  const reader: Reader = { text, position: 0, clauses: 0, refuse }
  skipBlanks(reader)
  const start = reader.position
  if (start === text.length) throw refuse(start, queryExpected)
  if (text.slice(start).trimEnd() === '*') return undefined
  const tree = readAny(reader, 0)
  if (reader.position < text.length) throw refuse(reader.position, 'expected AND or OR')
  return tree
}

const readAny = (reader: Reader, depth: number): SearchTree => {
  const first = readAll(reader, depth)
  const any = [first]
  while (takeOperator(reader, 'OR')) any.push(readAll(reader, depth))
  return any.length === 1 ? first : { any }
}

const readAll = (reader: Reader, depth: number): SearchTree => {
  const first = readNegation(reader, depth)
  const all = [first]
  while (takeOperator(reader, 'AND')) all.push(readNegation(reader, depth))
  return all.length === 1 ? first : { all }
}

/** Also steps over blanks around it. */
const readNegation = (reader: Reader, depth: number): SearchTree => {
  skipBlanks(reader)
  const start = reader.position
  if (depth > searchDepthMax)
    throw reader.refuse(start, `expected at most ${searchDepthMax} levels`)
  if (take(reader, '!') || take(reader, '-') || takeOperator(reader, 'NOT')) {
    return { not: readNegation(reader, depth + 1) }
  }
  const tree = take(reader, '(') ? readGroup(reader, start, depth) : readClause(reader)
  skipBlanks(reader)
  return tree
}

const readGroup = (reader: Reader, start: number, depth: number): SearchTree => {
  const tree = readAny(reader, depth + 1)
  if (reader.position === reader.text.length) {
    throw reader.refuse(start, 'the parenthesis has no end')
  }
  demand(reader, ')', 'expected AND, OR or )')
  return tree
}

const isFieldCode = (code: number): boolean => code === 95 || (code >= 97 && code <= 122)

const fieldsExpected = `expected one of the fields ${[
  ...textFields,
  'container',
  'metadata.<key>',
  ...instantFields,
].join(', ')}`

const isOneOf = <T extends string>(names: readonly T[], name: string): name is T =>
  (names as readonly string[]).includes(name)

const readClause = (reader: Reader): Clause => {
  const start = reader.position
  reader.clauses += 1
  if (reader.clauses > searchClausesMax) {
    throw reader.refuse(start, `expected at most ${searchClausesMax} clauses`)
  }
  const field = takeWhile(reader, isFieldCode)
  const clause = readFieldAndValue(reader, start, field)
  const { text, position } = reader
  const isEnded = position === text.length || isBlank(text.charCodeAt(position))
  if (!isEnded && !sees(reader, ')')) throw refuseAfterValue(reader, clause)
  return clause
}

const refuseAfterValue = (reader: Reader, { field }: Clause): ApiError => {
  const { position } = reader
  if (sees(reader, '*')) return reader.refuse(position, 'only containers take *, at their end')
  if (isOneOf(instantFields, field)) return reader.refuse(position, 'expected a blank or )')
  return reader.refuse(position, 'expected a blank or ): what is special stands in quotes')
}

const readFieldAndValue = (reader: Reader, start: number, field: string): Clause => {
  if (field === 'metadata' && take(reader, '.')) {
    const key = readKey(reader)
    takeColon(reader)
    return { field, key, value: readValue(reader) }
  }
  const isText = isOneOf(textFields, field)
  if (!isText && !isOneOf(instantFields, field) && field !== 'container') {
    throw reader.refuse(start, fieldsExpected)
  }
  takeColon(reader)
  if (isText) return { field, value: readFolded(reader, field) }
  if (field === 'container') return readContainer(reader)
  return { field, ...takeInstantRange(reader) }
}

const takeColon = (reader: Reader): void =>
  demand(reader, ':', 'expected a colon between field and value')

const readKey = (reader: Reader): string => {
  if (sees(reader, '"')) return takeText(reader, '')
  const key = takeWhile(reader, code => isWordCode(code) && code !== 58)
  if (key === '') throw reader.refuse(reader.position, 'expected a metadata key')
  return key
}

const readValue = (reader: Reader): string => {
  if (sees(reader, '[') || sees(reader, '{')) {
    throw reader.refuse(reader.position, 'only created_at and modified_at take ranges')
  }
  return takeText(reader, 'expected a value')
}

/** Ids of applications are UUIDs, whose case means nothing (hardening H88). */
const readFolded = (reader: Reader, field: TextField): string => {
  const value = readValue(reader)
  return field === 'created_by' || field === 'modified_by' ? value.toLowerCase() : value
}

const readContainer = (reader: Reader): Clause => {
  const start = reader.position
  const isQuoted = sees(reader, '"')
  const text = sees(reader, '*') ? '' : readValue(reader)
  const isStart = !isQuoted && take(reader, '*')
  const normalise = isStart ? normaliseContainerStart : normaliseContainer
  try {
    return { field: 'container', value: normalise(text, ''), isStart }
  } catch (thrown) {
    if (thrown instanceof ApiError) throw reader.refuse(start, thrown.message)
    throw thrown
  }
}
