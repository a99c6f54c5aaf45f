/**
 * Plans of queries, for every engine: which chunks can match, which places match in a chunk, and
 * which ordinals a window shows.
 *
 * Only rows of the window are read; all others are counted on chunks of ordinals.
 * @module
 */
import { chunkOrdinals } from './limits.ts'
import type { Digest, PageWindow, Query } from '../contract.ts'
import {
  chunkOf,
  countBelow,
  emptySet,
  intersect,
  lowOf,
  ordinalOf,
  pickNewest,
  setOf,
  subtract,
  uniteAll,
  type PlaceSet,
} from './place-set.ts'
import { keyOf } from './row.ts'

/** Reads that a query plan needs. Each may throw `storage_corrupt`. */
export interface PlanReads {
  readonly holderOf: (unique: Digest) => number | undefined
  readonly placesOf: (term: Digest, chunk: number) => PlaceSet
}

/** A term and its last chunk read: repeated mentions in a query share one read. */
interface TermPlan {
  readonly term: Digest
  chunk: number
  set: PlaceSet
}

/** A query whose uniques were looked up: everything except terms is a given set, by chunk. */
export type QueryPlan =
  | TermPlan
  | { readonly sets: ReadonlyMap<number, PlaceSet> }
  | { readonly all: QueryPlan[] }
  | { readonly any: readonly QueryPlan[] }
  | { readonly from: QueryPlan; readonly except: QueryPlan }

/** Groups ordinals by chunk; in any order, without duplicates. */
export function setsByChunk(ordinals: Iterable<number>): ReadonlyMap<number, PlaceSet> {
  const places = new Map<number, number[]>()
  for (const ordinal of ordinals) {
    const chunk = chunkOf(ordinal)
    const known = places.get(chunk)
    if (known === undefined) places.set(chunk, [lowOf(ordinal)])
    else known.push(lowOf(ordinal))
  }
  return new Map([...places].map(([chunk, lows]) => [chunk, setOf(lows)]))
}

function planUnique(reads: PlanReads, unique: Digest): QueryPlan {
  const ordinal = reads.holderOf(unique)
  return { sets: setsByChunk(ordinal === undefined ? [] : [ordinal]) }
}

function planTerm(plans: Map<string, TermPlan>, term: Digest): TermPlan {
  const key = keyOf(term)
  const known = plans.get(key)
  if (known !== undefined) return known
  const plan = { term, chunk: -1, set: emptySet }
  plans.set(key, plan)
  return plan
}

function planNode(reads: PlanReads, plans: Map<string, TermPlan>, query: Query): QueryPlan {
  if ('term' in query) return planTerm(plans, query.term)
  if ('unique' in query) return planUnique(reads, query.unique)
  if ('ordinals' in query) return { sets: setsByChunk(query.ordinals) }
  if ('all' in query) return { all: query.all.map(part => planNode(reads, plans, part)) }
  if ('any' in query) return { any: query.any.map(part => planNode(reads, plans, part)) }
  return { from: planNode(reads, plans, query.from), except: planNode(reads, plans, query.except) }
}

/** @throws ApiError `storage_corrupt` */
export const planQuery = (reads: PlanReads, query: Query): QueryPlan =>
  planNode(reads, new Map(), query)

function readTerm(reads: PlanReads, plan: TermPlan, chunk: number): PlaceSet {
  if (plan.chunk !== chunk) {
    plan.set = reads.placesOf(plan.term, chunk)
    plan.chunk = chunk
  }
  return plan.set
}

/** The chunks that a plan names itself, possibly a few too many; `undefined` if it names none. */
export function namedChunks(plan: QueryPlan): ReadonlySet<number> | undefined {
  if ('term' in plan) return undefined
  if ('sets' in plan) return new Set(plan.sets.keys())
  if ('from' in plan) return namedChunks(plan.from)
  if ('all' in plan) {
    const named = plan.all.flatMap(part => namedChunks(part) ?? [])
    return named.sort((a, b) => a.size - b.size)[0]
  }
  const chunks = new Set<number>()
  for (const part of plan.any) {
    const named = namedChunks(part)
    if (named === undefined) return undefined
    for (const chunk of named) chunks.add(chunk)
  }
  return chunks
}

/**
 * Intersects part by part until nothing is left. The part that emptied the set goes first in the
 * next chunk: a part rare in one chunk is mostly rare in all, and saves reading common ones.
 */
function intersectParts(reads: PlanReads, parts: QueryPlan[], chunk: number): PlaceSet {
  let found: PlaceSet | undefined
  for (const [at, part] of parts.entries()) {
    const set = evaluateChunk(reads, part, chunk)
    found = found === undefined ? set : intersect(found, set)
    if (found.length > 0) continue
    if (at > 0) parts.unshift(...parts.splice(at, 1))
    break
  }
  return found ?? emptySet
}

/** Returns the matching places of one chunk. @throws ApiError `storage_corrupt` */
export function evaluateChunk(reads: PlanReads, plan: QueryPlan, chunk: number): PlaceSet {
  if ('term' in plan) return readTerm(reads, plan, chunk)
  if ('sets' in plan) return plan.sets.get(chunk) ?? emptySet
  if ('any' in plan) return uniteAll(plan.any.map(part => evaluateChunk(reads, part, chunk)))
  if ('from' in plan) {
    const from = evaluateChunk(reads, plan.from, chunk)
    return from.length === 0 ? from : subtract(from, evaluateChunk(reads, plan.except, chunk))
  }
  return intersectParts(reads, plan.all, chunk)
}

/** The first place of a chunk beyond the window: `before`, as a place of that chunk. */
function placesBelow(before: number | undefined, chunk: number): number {
  if (before === undefined) return chunkOrdinals
  return Math.min(Math.max(before - ordinalOf(chunk, 0), 0), chunkOrdinals)
}

/** Unexpired matches within a chunk: their count, and on demand their places. */
export interface Matches {
  readonly count: number
  readonly places: () => PlaceSet
}

/**
 * @param chunks those in which anything can match, newest first
 * @returns the ordinals that a window shows, newest first, and the number of all matches
 */
export function selectOrdinals(
  chunks: readonly number[],
  window: PageWindow,
  matchChunk: (chunk: number) => Matches,
): { ordinals: number[]; total: number } {
  const ordinals: number[] = []
  let total = 0
  let skip = window.offset
  for (const chunk of chunks) {
    const isFull = ordinals.length === window.limit
    const below = placesBelow(window.before, chunk)
    if (window.uncounted && isFull) break
    if (window.uncounted && below === 0) continue
    const { count, places } = matchChunk(chunk)
    total += count
    if (isFull) continue
    const reachable = below === chunkOrdinals ? count : countBelow(places(), below)
    if (skip < reachable) {
      const picked = pickNewest(places(), below, skip, window.limit - ordinals.length)
      for (const low of picked) ordinals.push(ordinalOf(chunk, low))
    }
    skip = Math.max(0, skip - reachable)
  }
  return { ordinals, total: window.uncounted ? 0 : total }
}
