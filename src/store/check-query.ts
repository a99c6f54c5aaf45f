/**
 * Queries, whatever the engine: what may be asked, and whether a row that came back was asked for.
 *
 * @module
 */
import { invariant } from '../errors.ts'
import { queryDepthMax, queryNodesMax, termBytes, uniqueBytes, windowRowsMax } from '../limits.ts'
import type { Digest, Query, RowHeader, Window } from './contract.ts'

/** @throws ApiError `internal` */
export const checkUnique = (unique: Digest): void =>
  invariant(unique.length === uniqueBytes, 'a unique has 32 bytes')

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
  if ('from' in query) {
    return 1 + checkNode(query.from, depth + 1) + checkNode(query.except, depth + 1)
  }
  const parts = 'all' in query ? query.all : query.any
  invariant('any' in query || parts.length > 0, 'a query is bounded: all of nothing is everything')
  return parts.reduce((count, part) => count + checkNode(part, depth + 1), 1)
}

/** @throws ApiError `internal` for an unbounded query or one beyond its bounds */
export function checkQuery(query: Query): void {
  invariant(checkNode(query, 1) <= queryNodesMax, 'the size of a query is within its bound')
}

/** @throws ApiError `internal` for what is no whole number, negative, or too many rows at once */
export function checkWindow({ offset, limit, before, nowMs }: Window): void {
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

/** Digests are no secrets of a caller: the store itself holds them, so time may tell. */
export function equalDigests(a: Digest, b: Digest): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false
  return true
}

const holds = (digests: readonly Digest[], wanted: Digest): boolean =>
  digests.some(digest => equalDigests(digest, wanted))

/** Whether a row answers a query by its own header: the other half of every index entry. */
export function isMatch(query: Query, row: RowHeader): boolean {
  if ('term' in query) return holds(row.terms, query.term)
  if ('unique' in query) return holds(row.uniques, query.unique)
  if ('all' in query) return query.all.every(part => isMatch(part, row))
  if ('any' in query) return query.any.some(part => isMatch(part, row))
  return isMatch(query.from, row) && !isMatch(query.except, row)
}
