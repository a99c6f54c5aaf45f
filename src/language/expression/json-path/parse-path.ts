/**
 * JSONPath: the tree of a query, and its parser.
 * @module
 */
import type { LiteralValue } from '../tree.ts'
import { ApiError } from '../../../lib/errors.ts'
import { demand, sees, take, type Cursor } from '../scan-expression.ts'
import {
  skipSpaces,
  takeInteger,
  takeNumber,
  takeShorthand,
  takeString,
  takeWord,
} from './scan-path.ts'

/*
 * The meaning of a JSONPath query, as plain data. Source: RFC 9535 section 2.
 */

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'index'; readonly index: number }
  | {
      readonly kind: 'slice'
      readonly start: number | undefined
      readonly end: number | undefined
      readonly step: number
    }
  | { readonly kind: 'filter'; readonly test: Test }

export interface Segment {
  /** `..`: applies to the node and to everything below it. */
  readonly isDescendant: boolean
  readonly selectors: readonly Selector[]
}

export type PathQuery = readonly Segment[]

/** A query inside a filter: `@` starts at the node under test, `$` at the root. */
export interface FilterQuery {
  readonly isRelative: boolean
  readonly segments: PathQuery
}

export type Operator = '==' | '!=' | '<=' | '>=' | '<' | '>'

/** One side of a comparison. Its query is singular: it yields one node at most. */
export type Comparable =
  | { readonly kind: 'constant'; readonly value: LiteralValue }
  | { readonly kind: 'query'; readonly query: FilterQuery }
  | { readonly kind: 'length'; readonly of: Comparable }
  | { readonly kind: 'count' | 'value'; readonly query: FilterQuery }

export type Test =
  | { readonly kind: 'any' | 'all'; readonly tests: readonly Test[] }
  | { readonly kind: 'not'; readonly test: Test }
  | { readonly kind: 'exists'; readonly query: FilterQuery }
  | {
      readonly kind: 'compare'
      readonly left: Comparable
      readonly operator: Operator
      readonly right: Comparable
    }

/** True if each segment picks one node at most (RFC 9535 section 2.3.5.1). */
const isSingular = (query: FilterQuery): boolean =>
  query.segments.every(
    ({ isDescendant, selectors }) =>
      !isDescendant &&
      selectors.length === 1 &&
      selectors.every(({ kind }) => kind === 'name' || kind === 'index'),
  )

/*
 * JSONPath text to tree. Source: RFC 9535 section 2 and its collected grammar (appendix A).
 *
 *     query    = "$" *segment
 *     segment  = [".."] "[" selector *( "," selector ) "]" / ("." / "..") ( name / "*" )
 *     selector = string / "*" / integer / slice / "?" test
 *     test     = and *( "||" and )           and = basic *( "&&" basic )
 *     basic    = [ "!" ] ( "(" test ")" / query ) / comparable operator comparable
 *     comparable = constant / singular query / length / count / value
 *
 * decision: the functions `match` and `search` are left out, because their patterns would run on
 * caller data.
 */

/** Longer ones first, so that `<=` is not read as `<`. */
const operators: readonly Operator[] = ['==', '!=', '<=', '>=', '<', '>']

const constants: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

/**
 * Parses one query.
 * @throws ApiError `invalid_request` with a position in the query; never echoes it
 */
export const parseJsonPath = (text: string): PathQuery => {
  const refuse: Cursor['refuse'] = (position, expected) =>
    new ApiError('invalid_request', `position ${position}: ${expected}`)
  const cursor: Cursor = { text, position: 0, refuse }
  demand(cursor, '$', 'expected $')
  const query = readSegments(cursor)
  if (cursor.position < text.length) throw refuse(cursor.position, 'expected . or [ or the end')
  return query
}

/** Reads all segments from here on; leaves blanks after the last one. */
const readSegments = (cursor: Cursor): PathQuery => {
  const segments: Segment[] = []
  for (;;) {
    const end = cursor.position
    skipSpaces(cursor)
    if (!sees(cursor, '.') && !sees(cursor, '[')) {
      cursor.position = end
      return segments
    }
    segments.push(readSegment(cursor))
  }
}

const readSegment = (cursor: Cursor): Segment => {
  const isDescendant = take(cursor, '..')
  if (take(cursor, '[')) {
    return { isDescendant, selectors: readSelectors(cursor) }
  }
  if (!isDescendant) take(cursor, '.')
  if (take(cursor, '*')) return { isDescendant, selectors: [{ kind: 'wildcard' }] }
  const name = takeShorthand(cursor)
  if (name === '') throw cursor.refuse(cursor.position, 'expected a member name or *')
  return { isDescendant, selectors: [{ kind: 'name', name }] }
}

const readSelectors = (cursor: Cursor): Selector[] => {
  const selectors: Selector[] = []
  do {
    skipSpaces(cursor)
    selectors.push(readSelector(cursor))
    skipSpaces(cursor)
  } while (take(cursor, ','))
  demand(cursor, ']', 'expected , or ]')
  return selectors
}

const readSelector = (cursor: Cursor): Selector => {
  const name = takeString(cursor)
  if (name !== undefined) return { kind: 'name', name }
  if (take(cursor, '*')) return { kind: 'wildcard' }
  if (take(cursor, '?')) return { kind: 'filter', test: readTest(cursor) }
  const start = takeInteger(cursor)
  const end = cursor.position
  skipSpaces(cursor)
  if (take(cursor, ':')) return readSlice(cursor, start)
  cursor.position = end
  if (start === undefined) throw cursor.refuse(end, 'expected a selector')
  return { kind: 'index', index: start }
}

/** Reads the rest of `start:end:step`, after its first colon. */
const readSlice = (cursor: Cursor, start: number | undefined): Selector => {
  skipSpaces(cursor)
  const end = takeInteger(cursor)
  skipSpaces(cursor)
  if (!take(cursor, ':')) return { kind: 'slice', start, end, step: 1 }
  skipSpaces(cursor)
  return { kind: 'slice', start, end, step: takeInteger(cursor) ?? 1 }
}

/** Reads a test and the blanks before it. */
const readTest = (cursor: Cursor): Test => readJoined(cursor, '||', 'any', readAll)

const readAll = (cursor: Cursor): Test => readJoined(cursor, '&&', 'all', readBasic)

const readJoined = (
  cursor: Cursor,
  separator: string,
  kind: 'any' | 'all',
  readPart: (cursor: Cursor) => Test,
): Test => {
  const first = readPart(cursor)
  const tests = [first]
  for (;;) {
    const end = cursor.position
    skipSpaces(cursor)
    if (!take(cursor, separator)) {
      cursor.position = end
      return tests.length === 1 ? first : { kind, tests }
    }
    tests.push(readPart(cursor))
  }
}

const readBasic = (cursor: Cursor): Test => {
  skipSpaces(cursor)
  if (take(cursor, '!')) return { kind: 'not', test: readNegated(cursor) }
  if (take(cursor, '(')) return readParenthesised(cursor)
  const start = cursor.position
  const left = readComparable(cursor)
  const end = cursor.position
  skipSpaces(cursor)
  const operator = operators.find(each => take(cursor, each))
  if (operator !== undefined) {
    assertComparable(cursor, left, start)
    skipSpaces(cursor)
    const rightStart = cursor.position
    const right = readComparable(cursor)
    assertComparable(cursor, right, rightStart)
    return { kind: 'compare', left, operator, right }
  }
  cursor.position = end
  if (left.kind !== 'query') throw cursor.refuse(end, 'expected a comparison')
  return { kind: 'exists', query: left.query }
}

const readNegated = (cursor: Cursor): Test => {
  skipSpaces(cursor)
  if (take(cursor, '(')) return readParenthesised(cursor)
  return { kind: 'exists', query: demandQuery(cursor) }
}

const readParenthesised = (cursor: Cursor): Test => {
  const test = readTest(cursor)
  skipSpaces(cursor)
  demand(cursor, ')', 'expected )')
  return test
}

const assertComparable = (cursor: Cursor, comparable: Comparable, start: number): void => {
  if (comparable.kind === 'query' && !isSingular(comparable.query)) {
    throw cursor.refuse(start, 'expected a query that yields one node at most')
  }
}

const demandQuery = (cursor: Cursor): FilterQuery => {
  const isRelative = sees(cursor, '@')
  if (!isRelative && !sees(cursor, '$')) throw cursor.refuse(cursor.position, 'expected @ or $')
  cursor.position += 1
  return { isRelative, segments: readSegments(cursor) }
}

/** A query is not yet known to be singular: it may also stand alone, as a test of existence. */
const readComparable = (cursor: Cursor): Comparable => {
  if (sees(cursor, '@') || sees(cursor, '$')) return { kind: 'query', query: demandQuery(cursor) }
  const value = takeString(cursor) ?? takeNumber(cursor)
  if (value !== undefined) return { kind: 'constant', value }
  const start = cursor.position
  const word = takeWord(cursor)
  const constant = constants.get(word)
  if (constant !== undefined) return { kind: 'constant', value: constant }
  if (word !== 'length' && word !== 'count' && word !== 'value') {
    throw cursor.refuse(start, 'expected @, $, a constant, length, count or value')
  }
  demand(cursor, '(', 'expected (')
  skipSpaces(cursor)
  const call: Comparable =
    word === 'length'
      ? { kind: word, of: readLengthArgument(cursor) }
      : { kind: word, query: demandQuery(cursor) }
  skipSpaces(cursor)
  demand(cursor, ')', 'expected )')
  return call
}

const readLengthArgument = (cursor: Cursor): Comparable => {
  const start = cursor.position
  const argument = readComparable(cursor)
  assertComparable(cursor, argument, start)
  return argument
}
