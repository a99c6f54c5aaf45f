/**
 * Bounds: a question about tokens, as two queries around its answer and a test for the rest.
 *
 * Tokens that `lower` matches are surely in the answer, tokens that `upper` does not match are
 * surely not, and `matches` decides those between once their record is open. Most questions are
 * exact: then both queries are the same object, and no token is opened to decide.
 * Invariant: lower ⊆ answer ⊆ upper, and `matches` is the answer, for every live token of the
 * @module
 */
import { bufferOf } from '../../lib/bytes.ts'
import type { Query } from '../../store/contract.ts'
import type { StoredToken } from '../token-record.ts'

export interface Bounds {
  readonly upper: Query
  readonly lower: Query
  readonly matches: (token: StoredToken) => boolean
  /** Matches at least all tokens between the two; absent if no cheaper query is known. */
  readonly doubt?: Query | undefined
}

export const exactly = (query: Query, matches: Bounds['matches']): Bounds => ({
  upper: query,
  lower: query,
  matches,
})

export const isExact = ({ upper, lower }: Bounds): boolean => upper === lower

export const atOrdinal = (ordinal: number): Bounds =>
  exactly({ ordinals: [ordinal] }, ({ row }) => row.ordinal === ordinal)

export const nothing: Bounds = exactly({ any: [] }, () => false)

/** A combination is only in doubt about tokens that one of its parts is in doubt about. */
function doubtOf(parts: readonly Bounds[]): Query | undefined {
  const inexact = parts.filter(part => !isExact(part))
  const doubts = inexact.flatMap(({ doubt }) => (doubt === undefined ? [] : [doubt]))
  return doubts.length === inexact.length ? { any: doubts } : undefined
}

/** `combine` is called with all upper queries, and again with all lower ones. */
function joined(
  parts: readonly Bounds[],
  combine: (queries: readonly Query[]) => Query,
  matches: Bounds['matches'],
): Bounds {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only
  const upper = combine(parts.map(part => part.upper))
  const lower = parts.every(isExact) ? upper : combine(parts.map(part => part.lower))
  return { upper, lower, matches, doubt: doubtOf(parts) }
}

export const anyOf = (parts: readonly Bounds[]): Bounds =>
  joined(
    parts,
    any => ({ any }),
    token => parts.some(part => part.matches(token)),
  )

/** @param parts at least one */
export const allOf = (parts: readonly Bounds[]): Bounds =>
  joined(
    parts,
    all => ({ all }),
    token => parts.every(part => part.matches(token)),
  )

/** The bounds of `except` change places: the larger it may be, the less surely remains. */
export function without(from: Bounds, except: Bounds): Bounds {
  const matches = (token: StoredToken) => from.matches(token) && !except.matches(token)
  const upper = { from: from.upper, except: except.lower }
  if (isExact(from) && isExact(except)) return exactly(upper, matches)
  const lower = { from: from.lower, except: except.upper }
  return { upper, lower, matches, doubt: doubtOf([from, except]) }
}

/**
 * Returns true if the token may be in the answer, judged by its digests alone. It tests every part
 * of the question, so that time does not tell which one matched.
 * @param clear  header of its row, authenticated
 */
export function mayMatch({ upper }: Bounds, clear: Uint8Array): boolean {
  const header = bufferOf(clear)
  const leaves = (query: Query): boolean => {
    if ('term' in query) return header.includes(query.term)
    if ('unique' in query) return header.includes(query.unique)
    if ('all' in query) return !query.all.map(leaves).includes(false)
    if ('any' in query) return query.any.map(leaves).includes(true)
    if ('ordinals' in query) return true
    const [isFrom, isExcepted] = [leaves(query.from), leaves(query.except)]
    return isFrom && !isExcepted
  }
  return leaves(upper)
}

/** Returns the number of nodes in the two queries together. */
export function sizeOf(bounds: Bounds): number {
  const upper = nodesOf(bounds.upper)
  return isExact(bounds) ? upper : upper + nodesOf(bounds.lower)
}

function nodesOf(query: Query): number {
  if ('from' in query) return 1 + nodesOf(query.from) + nodesOf(query.except)
  const parts = 'all' in query ? query.all : 'any' in query ? query.any : []
  return parts.reduce((count, part) => count + nodesOf(part), 1)
}
