/**
 * Queries, for every engine: checks that a query is allowed, and that a returned row answers it.
 * @module
 */
import { termBytes, uniqueBytes } from '../../limits/work-limits.ts'
import { invariant } from '../../lib/errors.ts'
import {
  ordinalMax,
  queryDepthMax,
  queryNodesMax,
  queryOrdinalsMax,
  windowRowsMax,
} from './limits.ts'
import type { Digest, PageWindow, Query, Row } from '../contract.ts'
import { holdsTerm, holdsUnique } from './row.ts'

/** @throws ApiError `internal` */
export const checkUnique = (unique: Digest): void =>
  invariant(unique.length === uniqueBytes, 'a unique has 32 bytes')

function checkOrdinals(ordinals: readonly number[]): void {
  invariant(ordinals.length <= queryOrdinalsMax, 'the ordinals of a query are within their bound')
  let above = ordinalMax + 1
  for (const ordinal of ordinals) {
    invariant(
      Number.isSafeInteger(ordinal) && ordinal >= 0 && ordinal < above,
      'the ordinals of a query stand newest first, each once',
    )
    above = ordinal
  }
}

function checkNode(query: Query, depth: number): number {
  invariant(depth <= queryDepthMax, 'the depth of a query is within its bound')
  if ('term' in query) {
    invariant(query.term.length === termBytes, 'a term has 16 bytes')
    return 1
  }
  if ('unique' in query) {
    checkUnique(query.unique)
    return 1
  }
  if ('ordinals' in query) {
    checkOrdinals(query.ordinals)
    return 1
  }
  if ('from' in query) {
    return 1 + checkNode(query.from, depth + 1) + checkNode(query.except, depth + 1)
  }
  const parts = 'all' in query ? query.all : query.any
  invariant('any' in query || parts.length > 0, 'a query is bounded: all of nothing is everything')
  return parts.reduce((count, part) => count + checkNode(part, depth + 1), 1)
}

/** True if digests alone limit the matches to rows. */
function isBounded(query: Query): boolean {
  if ('ordinals' in query) return false
  if ('from' in query) return isBounded(query.from)
  if ('all' in query) return query.all.some(isBounded)
  return 'any' in query ? query.any.every(isBounded) : true
}

/** @throws ApiError `internal` for an unbounded query or one that exceeds a limit */
export function checkQuery(query: Query): void {
  invariant(checkNode(query, 1) <= queryNodesMax, 'the size of a query is within its bound')
  invariant(isBounded(query), 'a query is bounded: ordinals alone are not known to be rows')
}

/** @throws ApiError `internal` for a fraction, a negative number, or too many rows at once */
export function checkWindow({ offset, limit, before, nowMs }: PageWindow): void {
  invariant(Number.isSafeInteger(offset) && offset >= 0, 'an offset is a whole number')
  invariant(before === undefined || Number.isSafeInteger(before), 'a bound is a whole number')
  checkDue(nowMs, limit)
}

/** @throws ApiError `internal`, as `checkWindow` */
export function checkDue(nowMs: number, limit: number): void {
  invariant(Number.isSafeInteger(nowMs), 'an instant is in whole milliseconds')
  invariant(
    Number.isSafeInteger(limit) && limit >= 0 && limit <= windowRowsMax,
    'the rows asked for at once are within their bound',
  )
}

/** Digests are known to the store itself, so a comparison may leak them through its timing. */
export function equalDigests(a: Digest, b: Digest): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false
  return true
}

/** True if an ordinal is in a list that is sorted newest first. */
function isListed(ordinals: readonly number[], wanted: number): boolean {
  let from = 0
  let to = ordinals.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((ordinals[middle] ?? 0) > wanted) from = middle + 1
    else to = middle
  }
  return ordinals[from] === wanted
}

/** True if a row's own header answers the query: the counter-check of every index entry. */
export function isMatch(query: Query, row: Pick<Row, 'clear' | 'ordinal'>): boolean {
  if ('term' in query) return holdsTerm(row, query.term)
  if ('unique' in query) return holdsUnique(row, query.unique)
  if ('ordinals' in query) return isListed(query.ordinals, row.ordinal)
  if ('all' in query) return query.all.every(part => isMatch(part, row))
  if ('any' in query) return query.any.some(part => isMatch(part, row))
  return isMatch(query.from, row) && !isMatch(query.except, row)
}
