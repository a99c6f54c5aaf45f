/**
 * Queries: from terms to ordinals, and from ordinals to a page of rows.
 * @module
 */
import { chunkOrdinals } from '../../limits.ts'
import { keyOf } from '../../rows.ts'
import { isMatch } from '../../queries.ts'
import type { Digest, Query, Page, Row, PageWindow } from '../../contract.ts'
import {
  chunkOf,
  lowOf,
  readChunk,
  countKeyOf,
  type ChunkCounts,
  deadlinesOfStore,
  ordinalOf,
  termsOfStore,
  walkChunks,
} from './postings.ts'
import {
  emptySet,
  intersect,
  setOf,
  subtract,
  unite,
  uniteAll,
  type PlaceSet,
  countBelow,
  countOf,
  eachPlace,
  pickNewest,
} from './place-set.ts'
import type { State } from '../environment.ts'
import { decodeDeadline, dueRange } from '../layout.ts'
import { liveChunksOf } from './live-chunks.ts'
import {
  placesInTail,
  type IndexedEnvironment,
  readUnique,
  readHeldRow,
  readIndexedRow,
} from './tail.ts'
import { assertStored, attempt } from '../../../errors.ts'

/*
 * Queries on chunks of ordinals: which chunks can match at all, and what matches in one of them.
 */

/** A term, and what was last read of it: however often a query names it, it is read once. */
interface TermPlan {
  readonly term: Digest
  chunk: number
  set: PlaceSet
}

/** A query whose uniques are looked up: what is not a term is a given set, by chunk. */
type QueryPlan =
  | TermPlan
  | { readonly sets: ReadonlyMap<number, PlaceSet> }
  | { readonly all: QueryPlan[] }
  | { readonly any: readonly QueryPlan[] }
  | { readonly from: QueryPlan; readonly except: QueryPlan }

function setsOf(ordinals: readonly number[]): QueryPlan {
  const places = new Map<number, number[]>()
  for (const ordinal of ordinals) {
    const chunk = chunkOf(ordinal)
    const known = places.get(chunk)
    if (known === undefined) places.set(chunk, [lowOf(ordinal)])
    else known.push(lowOf(ordinal))
  }
  return { sets: new Map([...places].map(([chunk, lows]) => [chunk, setOf(lows)])) }
}

function planUnique(environment: IndexedEnvironment, unique: Digest): QueryPlan {
  const ordinal = readUnique(environment, unique)?.ordinal
  return setsOf(ordinal === undefined ? [] : [ordinal])
}

function planTerm(plans: Map<string, TermPlan>, term: Digest): TermPlan {
  const key = keyOf(term)
  const known = plans.get(key)
  if (known !== undefined) return known
  const plan = { term, chunk: -1, set: emptySet }
  plans.set(key, plan)
  return plan
}

function planNode(env: IndexedEnvironment, plans: Map<string, TermPlan>, query: Query): QueryPlan {
  if ('term' in query) return planTerm(plans, query.term)
  if ('unique' in query) return planUnique(env, query.unique)
  if ('ordinals' in query) return setsOf(query.ordinals)
  if ('all' in query) return { all: query.all.map(part => planNode(env, plans, part)) }
  if ('any' in query) return { any: query.any.map(part => planNode(env, plans, part)) }
  return { from: planNode(env, plans, query.from), except: planNode(env, plans, query.except) }
}

/** @throws ApiError `storage_corrupt` */
const planQuery = (environment: IndexedEnvironment, query: Query): QueryPlan =>
  planNode(environment, new Map(), query)

function readTerm(environment: IndexedEnvironment, plan: TermPlan, chunk: number): PlaceSet {
  if (plan.chunk !== chunk) {
    const folded = readChunk(termsOfStore(environment), plan.term, chunk)
    plan.set = unite(folded, placesInTail(environment, plan.term, chunk))
    plan.chunk = chunk
  }
  return plan.set
}

/** The chunks that a plan names itself, a few too many at most; `undefined` where it names none. */
function namedChunks(plan: QueryPlan): ReadonlySet<number> | undefined {
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

/** The chunks in which a plan can match, newest first. */
function candidateChunks({ environment, plan, nextOrdinal }: Snapshot): readonly number[] {
  const named = namedChunks(plan)
  if (named !== undefined) return [...named].sort((a, b) => b - a)
  return liveChunksOf(environment, environment.live, nextOrdinal)
}

/**
 * Every part in turn, until nothing is left. The part that left nothing goes first in the next
 * chunk: what is rare in one mostly is in all, and spares the reading of what is common.
 */
function intersectParts(env: IndexedEnvironment, parts: QueryPlan[], chunk: number): PlaceSet {
  let found: PlaceSet | undefined
  for (const [at, part] of parts.entries()) {
    const set = evaluateChunk(env, part, chunk)
    found = found === undefined ? set : intersect(found, set)
    if (found.length > 0) continue
    if (at > 0) parts.unshift(...parts.splice(at, 1))
    break
  }
  return found ?? emptySet
}

/** What matches within one chunk. @throws ApiError `storage_corrupt` */
function evaluateChunk(env: IndexedEnvironment, plan: QueryPlan, chunk: number): PlaceSet {
  if ('term' in plan) return readTerm(env, plan, chunk)
  if ('sets' in plan) return plan.sets.get(chunk) ?? emptySet
  if ('any' in plan) return uniteAll(plan.any.map(part => evaluateChunk(env, part, chunk)))
  if ('from' in plan) {
    const from = evaluateChunk(env, plan.from, chunk)
    return from.length === 0 ? from : subtract(from, evaluateChunk(env, plan.except, chunk))
  }
  return intersectParts(env, plan.all, chunk)
}

/*
 * Pages and due rows: one synchronous pass each, so that it sees one state of the store.
 *
 * Only rows of the window are read; everything else is counted on chunks of ordinals. Each row that
 * comes back is checked against the query by its own header: an index that says more than the rows
 * never shows one. Source: contract.ts, `page` and `due`.
 */

/** The ordinals whose deadline has passed, by chunk. Few, while the sweep runs. */
function readExpired(environment: IndexedEnvironment, nowMs: number): Map<number, PlaceSet> {
  const sets = new Map<number, PlaceSet[]>()
  const range = dueRange(nowMs)
  if (range === undefined) return new Map()
  for (const { chunk, set } of walkChunks(deadlinesOfStore(environment), range)) {
    const known = sets.get(chunk)
    if (known === undefined) sets.set(chunk, [set])
    else known.push(set)
  }
  return new Map([...sets].map(([chunk, all]) => [chunk, uniteAll(all)]))
}

/** The first place of a chunk that lies outside of the window: what `before` means there. */
function placesBelow(before: number | undefined, chunk: number): number {
  if (before === undefined) return chunkOrdinals
  return Math.min(Math.max(before - ordinalOf(chunk, 0), 0), chunkOrdinals)
}

/** A question at one state of the store. */
interface Snapshot {
  readonly environment: IndexedEnvironment
  readonly nextOrdinal: number
  readonly counts: ChunkCounts
  readonly key: string | undefined
  readonly plan: QueryPlan
  readonly expired: ReadonlyMap<number, PlaceSet>
}

/** What matches within a chunk and has not expired: how many, and which where that is asked for. */
interface Matches {
  readonly count: number
  readonly places: () => PlaceSet
}

function matchChunk({ environment, counts, key, plan, expired }: Snapshot, chunk: number): Matches {
  const removed = expired.get(chunk)
  let set: PlaceSet | undefined
  const places = (): PlaceSet =>
    (set ??= subtract(evaluateChunk(environment, plan, chunk), removed ?? emptySet))
  if (removed !== undefined) return { count: countOf(places()), places }
  const known = counts.get(key, chunk)
  if (known !== undefined) return { count: known, places }
  const count = countOf(places())
  counts.keep(key, chunk, count)
  return { count, places }
}

function selectOrdinals(
  asked: Snapshot,
  window: PageWindow,
): { ordinals: number[]; total: number } {
  const ordinals: number[] = []
  let total = 0
  let skip = window.offset
  for (const chunk of candidateChunks(asked)) {
    const isFull = ordinals.length === window.limit
    const below = placesBelow(window.before, chunk)
    if (window.uncounted && isFull) break
    if (window.uncounted && below === 0) continue
    const { count, places } = matchChunk(asked, chunk)
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

/** @throws ApiError `storage_corrupt` */
export function readPage(
  environment: IndexedEnvironment,
  { nextOrdinal }: State,
  counts: ChunkCounts,
  query: Query,
  window: PageWindow,
): Page {
  const plan = planQuery(environment, query)
  const expired = readExpired(environment, window.nowMs)
  const asked = { environment, nextOrdinal, counts, key: countKeyOf(query), plan, expired }
  const { ordinals, total } = selectOrdinals(asked, window)
  const rows = ordinals.map(ordinal => {
    const row = readIndexedRow(environment, ordinal)
    const isGone = row.deadlineMs !== undefined && row.deadlineMs <= window.nowMs
    assertStored(isMatch(query, row) && !isGone, 'rows that are what the index says of them')
    return row
  })
  return { rows, total }
}

/** `undefined` for a row that is damaged, or that the index is wrong about. */
function readDueRow(
  environment: IndexedEnvironment,
  ordinal: number,
  deadlineMs: number,
): Row | undefined {
  const row = attempt(() => readHeldRow(environment, ordinal))
  return row?.deadlineMs === deadlineMs ? row : undefined
}

/**
 * Earliest deadline first, then by ordinal. Damaged rows are stepped over, so that one of them does
 * not keep all others from ending; `integrity` reports them.
 */
export function readDue(environment: IndexedEnvironment, nowMs: number, limit: number): Row[] {
  const due: Row[] = []
  const range = dueRange(nowMs)
  if (range === undefined || limit === 0) return due
  for (const { shared, chunk, set } of walkChunks(deadlinesOfStore(environment), range)) {
    const deadlineMs = decodeDeadline(shared)
    for (const low of eachPlace(set)) {
      const row = readDueRow(environment, ordinalOf(chunk, low), deadlineMs)
      if (row !== undefined) due.push(row)
      if (due.length === limit) return due
    }
  }
  return due
}
