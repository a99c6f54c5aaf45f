/**
 * Reads pages and due rows, from chunks of ordinals.
 * @module
 */
import { isMatch } from '../../core/queries.ts'
import type { Query, RowPage, Row, PageWindow } from '../../contract.ts'
import {
  readChunk,
  countKeyOf,
  type ChunkCounts,
  deadlinesOfStore,
  termsOfStore,
  walkChunks,
} from './postings.ts'
import {
  chunkOf,
  countOf,
  eachPlace,
  emptySet,
  ordinalOf,
  type PlaceSet,
  subtract,
  unite,
  uniteAll,
} from '../../core/place-set.ts'
import {
  evaluateChunk,
  namedChunks,
  planQuery,
  selectOrdinals,
  type Matches,
  type PlanReads,
  type QueryPlan,
} from '../../core/plan.ts'
import {
  isGone,
  uniteSets,
  type DeadlineRange,
  type ExpiredPart,
  type ExpiredSets,
  type KeptExpired,
} from '../../core/kept-expired.ts'
import type { StoreState } from '../store-state.ts'
import type { LmdbEnvironment } from '../environment.ts'
import { decodeDeadline, decodeRowKey, dueRange, encodeRowKey } from '../layout.ts'
import { placesInTail, type IndexedEnvironment } from './tail.ts'
import { readUnique, readHeldRow, readIndexedRow } from './read-rows.ts'
import { assertStored, attempt } from '../../../lib/errors.ts'

/** Reads of a plan: the folded index, and the tail. */
const readsOf = (environment: IndexedEnvironment): PlanReads => ({
  holderOf: unique => readUnique(environment, unique)?.ordinal,
  placesOf: (term, chunk) =>
    unite(
      readChunk(termsOfStore(environment), term, chunk),
      placesInTail(environment, term, chunk),
    ),
})

function listChunks({ rows }: LmdbEnvironment, newest: number): number[] {
  const chunks: number[] = []
  for (let from = 0; from < newest; from += 1) {
    const range = {
      start: encodeRowKey(ordinalOf(from, 0)),
      end: encodeRowKey(ordinalOf(newest, 0)),
    }
    const [key] = [...rows.getKeys({ ...range, limit: 1 })]
    if (key === undefined) break
    from = chunkOf(decodeRowKey(key))
    chunks.push(from)
  }
  return [newest, ...chunks.reverse()]
}

/**
 * Lists the chunks that have rows, newest first; some may be empty by now. Takes one look at the
 * table of rows per chunk, whenever a chunk has filled up.
 * @throws ApiError `storage_corrupt`
 */
function liveChunksOf(environment: IndexedEnvironment, nextOrdinal: number): readonly number[] {
  const { live } = environment
  const newest = chunkOf(nextOrdinal)
  if (live.newest !== newest) {
    live.chunks = listChunks(environment, newest)
    live.newest = newest
  }
  return live.chunks
}

/** The chunks in which a plan can match, newest first. */
function candidateChunks({ environment, plan, nextOrdinal }: Snapshot): readonly number[] {
  const named = namedChunks(plan)
  if (named !== undefined) return [...named].sort((a, b) => b - a)
  return liveChunksOf(environment, nextOrdinal)
}

/*
 * Pages and due rows: one synchronous pass each, over one state of the store.
 *
 * Only rows of the window are read; all others are counted on chunks of ordinals. Each returned row
 * is checked against the query by its own header, so a wrong index entry never shows a row. Source:
 * contract.ts, `page` and `due`.
 */

/** Reads the rows of such deadlines, by chunk. @returns also how many postings they have */
function readDeadlines(environment: IndexedEnvironment, [afterMs, toMs]: DeadlineRange) {
  const sets = new Map<number, PlaceSet[]>()
  const range = dueRange(toMs, Math.max(afterMs, -1))
  let count = 0
  if (range === undefined) return { sets: new Map<number, PlaceSet>(), count }
  for (const { chunk, set } of walkChunks(deadlinesOfStore(environment), range)) {
    count += 1
    const known = sets.get(chunk)
    if (known === undefined) sets.set(chunk, [set])
    else known.push(set)
  }
  return { sets: new Map([...sets].map(([chunk, all]) => [chunk, uniteAll(all)])), count }
}

/** Returns the expired ordinals, by chunk. */
function readExpired(
  environment: IndexedEnvironment,
  kept: KeptExpired,
  part: ExpiredPart,
): ExpiredSets {
  const settled = readDeadlines(environment, part.settled)
  const { sets } = readDeadlines(environment, part.unsettled)
  kept.keep(part, settled.sets, settled.count)
  return uniteSets(part.kept, settled.sets, sets)
}

/** A query on one state of the store. */
interface Snapshot {
  readonly environment: IndexedEnvironment
  readonly nextOrdinal: number
  readonly counts: ChunkCounts
  readonly key: string | undefined
  readonly reads: PlanReads
  readonly plan: QueryPlan
  readonly expired: ExpiredSets
}

function matchChunk({ reads, counts, key, plan, expired }: Snapshot, chunk: number): Matches {
  const removed = expired.get(chunk)
  let set: PlaceSet | undefined
  const places = (): PlaceSet =>
    (set ??= subtract(evaluateChunk(reads, plan, chunk), removed ?? emptySet))
  if (removed !== undefined) return { count: countOf(places()), places }
  const known = counts.get(key, chunk)
  if (known !== undefined) return { count: known, places }
  const count = countOf(places())
  counts.keep(key, chunk, count)
  return { count, places }
}

/** Things that a process keeps between pages. */
export interface KeptForPages {
  readonly counts: ChunkCounts
  readonly expired: KeptExpired
}

/** @throws ApiError `storage_corrupt` */
export function readPage(
  environment: IndexedEnvironment,
  state: StoreState,
  kept: KeptForPages,
  query: Query,
  window: PageWindow,
): RowPage {
  const { nextOrdinal } = state
  const { counts } = kept
  const { nowMs } = window
  const reads = readsOf(environment)
  const plan = planQuery(reads, query)
  const part = kept.expired.begin(nowMs)
  const expired = readExpired(environment, kept.expired, part)
  const asked = { environment, nextOrdinal, counts, key: countKeyOf(query), reads, plan, expired }
  const { ordinals, total } = selectOrdinals(candidateChunks(asked), window, chunk =>
    matchChunk(asked, chunk),
  )
  const rows = ordinals.map(ordinal => readIndexedRow(environment, ordinal))
  if (kept.expired.keepLate(part, rows, nowMs)) {
    return readPage(environment, state, kept, query, window)
  }
  for (const row of rows) {
    const isRight = isMatch(query, row) && !isGone(row, nowMs)
    assertStored(isRight, 'rows that are what the index says of them')
  }
  return { rows, total }
}

/** `undefined` for a damaged row, or one that contradicts the index. */
function readDueRow(
  environment: IndexedEnvironment,
  ordinal: number,
  deadlineMs: number,
): Row | undefined {
  const row = attempt(() => readHeldRow(environment, ordinal))
  return row?.deadlineMs === deadlineMs ? row : undefined
}

/**
 * Earliest deadline first, then by ordinal. Damaged rows are skipped, so that one of them does not
 * keep the others from expiring; `integrity` reports them.
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
