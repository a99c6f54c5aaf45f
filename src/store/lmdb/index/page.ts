/**
 * Pages and due rows: one synchronous pass each, so that it sees one state of the store.
 *
 * Only rows of the window are read; everything else is counted on chunks of ordinals. Each row that
 * comes back is checked against the query by its own header: an index that says more than the rows
 * never shows one. Source: contract.ts, `page` and `due`.
 * @module
 */
import { chunkOrdinals } from '../../../limits.ts'
import { isMatch } from '../../check-query.ts'
import type { Page, Query, Row, Window } from '../../contract.ts'
import { assertStored, attempt } from '../../corrupt.ts'
import { countKeyOf, type ChunkCounts } from './chunk-counts.ts'
import { ordinalOf } from './chunk-key.ts'
import {
  countBelow,
  countOf,
  eachPlace,
  emptySet,
  pickNewest,
  subtract,
  uniteAll,
  type Container,
} from './container.ts'
import { decodeDeadline, dueRange } from '../rows/deadline-key.ts'
import type { Environment } from '../environment.ts'
import { candidateChunks, evaluateChunk, planQuery, type Plan } from './evaluate-query.ts'
import { walkChunks } from './postings.ts'
import { readHeldRow, readIndexedRow } from '../rows/stored-rows.ts'

/** The ordinals whose deadline has passed, by chunk. Few, while the sweep runs. */
function readGone(environment: Environment, nowMs: number): Map<number, Container> {
  const sets = new Map<number, Container[]>()
  const range = dueRange(nowMs)
  if (range === undefined) return new Map()
  for (const { chunk, set } of walkChunks(environment.deadlines, range)) {
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
interface Asked {
  readonly environment: Environment
  readonly counts: ChunkCounts
  readonly key: string | undefined
  readonly plan: Plan
  readonly gone: ReadonlyMap<number, Container>
}

/** What matches within a chunk and is not gone: how many, and which where that is asked for. */
interface Matches {
  readonly count: number
  readonly places: () => Container
}

function matchChunk({ environment, counts, key, plan, gone }: Asked, chunk: number): Matches {
  const ended = gone.get(chunk)
  let set: Container | undefined
  const places = (): Container =>
    (set ??= subtract(evaluateChunk(environment, plan, chunk), ended ?? emptySet))
  if (ended !== undefined) return { count: countOf(places()), places }
  const known = counts.get(key, chunk)
  if (known !== undefined) return { count: known, places }
  const count = countOf(places())
  counts.keep(key, chunk, count)
  return { count, places }
}

function selectOrdinals(asked: Asked, window: Window): { ordinals: number[]; total: number } {
  const ordinals: number[] = []
  let total = 0
  let skip = window.offset
  for (const chunk of candidateChunks(asked.environment, asked.plan)) {
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
  environment: Environment,
  counts: ChunkCounts,
  query: Query,
  window: Window,
): Page {
  const plan = planQuery(environment, query)
  const gone = readGone(environment, window.nowMs)
  const asked = { environment, counts, key: countKeyOf(query), plan, gone }
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
  environment: Environment,
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
export function readDue(environment: Environment, nowMs: number, limit: number): Row[] {
  const due: Row[] = []
  const range = dueRange(nowMs)
  if (range === undefined || limit === 0) return due
  for (const { prefix, chunk, set } of walkChunks(environment.deadlines, range)) {
    const deadlineMs = decodeDeadline(prefix)
    for (const low of eachPlace(set)) {
      const row = readDueRow(environment, ordinalOf(chunk, low), deadlineMs)
      if (row !== undefined) due.push(row)
      if (due.length === limit) return due
    }
  }
  return due
}
