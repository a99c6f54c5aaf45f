/**
 * Postings: the ordinals of a term, in chunks of 65,536, with counts and changes.
 * @module
 */
import { countKeyPiecesMax, keptCountsMax, listedPlacesMax } from '../../core/limits.ts'
import { keyOf, termKeysOf, type KeyedRow } from '../../core/row.ts'
import type { Query } from '../../contract.ts'
import type { RangeOptions } from 'lmdb'
import {
  addPlaces,
  type Bitmap,
  chunkOf,
  copyToBitmap,
  decodePlaceSet,
  emptySet,
  encodePlaceSet,
  lowerBound,
  lowOf,
  type PlaceSet,
  setOf,
  subtract,
  unite,
} from '../../core/place-set.ts'
import { type LmdbEnvironment, type LmdbTable } from '../environment.ts'
import { isFolded, type StoreState } from '../store-state.ts'
import {
  decodeDeadlineKey,
  decodeTermKey,
  encodeDeadline,
  encodeDeadlineKey,
  encodeTermKey,
  type ChunkName,
} from '../layout.ts'

/*
 * The two tables of postings. Their keys: `layout.ts`.
 */

/** A table of chunks. */
export interface Postings {
  readonly table: LmdbTable
  readonly encodeKey: (shared: Uint8Array, chunk: number) => Uint8Array
  /** @throws ApiError `storage_corrupt` */
  readonly decodeKey: (key: Uint8Array) => ChunkName
}

export const termsOfStore = ({ terms }: LmdbEnvironment): Postings => ({
  table: terms,
  encodeKey: encodeTermKey,
  decodeKey: decodeTermKey,
})

export const deadlinesOfStore = ({ deadlines }: LmdbEnvironment): Postings => ({
  table: deadlines,
  encodeKey: encodeDeadlineKey,
  decodeKey: decodeDeadlineKey,
})

/*
 * Places added one by one: a number while there is one, as most terms have one row; then a list;
 * then a bitmap, once turning the list into a set would cost more. Changed in place.
 */

export type ChunkPlaces = number | number[] | Bitmap

/** @param places without the new one; `undefined` for none at all */
export function addPlace(places: ChunkPlaces | undefined, low: number): ChunkPlaces {
  if (places === undefined) return low
  if (places instanceof Uint32Array) {
    addPlaces(places, [low])
    return places
  }
  const list = typeof places === 'number' ? [places] : places
  const last = list.at(-1) ?? -1
  if (low > last) list.push(low)
  else list.splice(lowerBound(new Uint16Array(list), low), 0, low)
  return list.length <= listedPlacesMax ? list : copyToBitmap(new Uint16Array(list))
}

/** @returns the remaining places; `undefined` if none are left */
export function dropPlace(places: ChunkPlaces | undefined, low: number): ChunkPlaces | undefined {
  if (typeof places === 'number') return places === low ? undefined : places
  if (places instanceof Uint32Array) {
    places[low >>> 5] = (places[low >>> 5] ?? 0) & ~(1 << (low & 31))
    return places
  }
  const rest = places?.filter(place => place !== low)
  return rest?.length === 0 ? undefined : rest
}

/** Returns the places as a set, valid until they change. */
export function placeSetOf(places: ChunkPlaces | undefined): PlaceSet {
  if (places === undefined) return emptySet
  if (places instanceof Uint32Array) return places
  return typeof places === 'number' ? Uint16Array.of(places) : new Uint16Array(places)
}

/*
 * Counts of the ordinals of a chunk that match a query, cached between pages: the total of a list
 * costs only the chunks that changed, not the size of the store.
 *
 * Invariants: a count is kept only while no commit moves rows of its chunk, and none survives the
 * start of one that does. Counts are of terms alone: a chunk with expired rows is counted anew.
 * They follow only this process's commits, so a store that others write keeps none. They reveal
 * nothing that the store itself does not hold in the clear.
 */

export interface ChunkCounts {
  /** `undefined` if unknown. */
  get(key: string | undefined, chunk: number): number | undefined
  /** Stores a count that was unknown. */
  keep(key: string | undefined, chunk: number, count: number): void
  /** A commit moves rows of these chunks: their counts are unknown until it ends. */
  begin(chunks: Iterable<number>): void
  /** The commit is on disk, and every later read sees it. */
  end(): void
}

/** Writes a query as operators, each before its parts. @returns false for a query without a key */
function writeKey(query: Query, pieces: string[]): boolean {
  if (pieces.length >= countKeyPiecesMax) return false
  if ('term' in query) return pieces.push(keyOf(query.term)) > 0
  if ('unique' in query || 'ordinals' in query) return false
  if ('from' in query) {
    pieces.push('-')
    return writeKey(query.from, pieces) && writeKey(query.except, pieces)
  }
  const parts = 'all' in query ? query.all : query.any
  pieces.push(`${'all' in query ? '&' : '|'}${parts.length}`)
  return parts.every(part => writeKey(part, pieces))
}

/** Text that identifies equal queries of terms; `undefined` for other or long ones. */
export function countKeyOf(query: Query): string | undefined {
  const pieces: string[] = []
  return writeKey(query, pieces) ? pieces.join(' ') : undefined
}

/** For a store that only this process writes, one commit at a time. */
export function makeChunkCounts(): ChunkCounts {
  const counts = new Map<number, Map<string, number>>()
  let moving: ReadonlySet<number> = new Set()
  let kept = 0

  return {
    get: (key, chunk) => (key === undefined ? undefined : counts.get(chunk)?.get(key)),
    keep(key, chunk, count) {
      if (key === undefined || moving.has(chunk)) return
      if (kept >= keptCountsMax) {
        counts.clear()
        kept = 0
      }
      const known = counts.get(chunk)
      if (known === undefined) counts.set(chunk, new Map([[key, count]]))
      else known.set(key, count)
      kept += 1
    },
    begin(chunks) {
      moving = new Set(chunks)
      for (const chunk of moving) {
        kept -= counts.get(chunk)?.size ?? 0
        counts.delete(chunk)
      }
    },
    end() {
      moving = new Set()
    },
  }
}

/** For a store that other processes write too. */
export const noChunkCounts: ChunkCounts = {
  get: () => undefined,
  keep: () => {},
  begin: () => {},
  end: () => {},
}

/*
 * Reading chunks of ordinals.
 *
 * Every iterator is drained or returned: an open one holds a reader slot (hardening L13).
 */

interface Chunk extends ChunkName {
  readonly set: PlaceSet
}

/** Returns the empty set if there is none. @throws ApiError `storage_corrupt` */
export function readChunk(
  { table, encodeKey }: Postings,
  shared: Uint8Array,
  chunk: number,
): PlaceSet {
  const value = table.getBinary(encodeKey(shared, chunk))
  return value === undefined ? emptySet : decodePlaceSet(value)
}

/** Chunks in key order. @throws ApiError `storage_corrupt` */
export function* walkChunks({ table, decodeKey }: Postings, range: RangeOptions): Generator<Chunk> {
  for (const { key, value } of table.getRange(range)) {
    yield { ...decodeKey(key), set: decodePlaceSet(value) }
  }
}

/*
 * Chunks of ordinals that one transaction is about to change.
 *
 * However many rows of a group share a term, its chunk is read once and written once.
 */

interface ChunkDraft extends ChunkName {
  /** As stored. */
  readonly set: PlaceSet
  /** Places to add to the set, or to remove; the last entry counts. */
  readonly places: Map<number, boolean>
}

export interface PostingDraft {
  readonly postings: Postings
  readonly chunks: Map<string, ChunkDraft>
}

/** One ordinal that enters or leaves a chunk. */
interface Posting {
  readonly draft: ChunkDraft
  readonly low: number
  readonly isIn: boolean
}

export const makePostingDraft = (postings: Postings): PostingDraft => ({
  postings,
  chunks: new Map(),
})

/** @throws ApiError `storage_corrupt` when the stored chunk is invalid */
function draftChunk(
  { postings, chunks }: PostingDraft,
  key: string,
  shared: Uint8Array,
  chunk: number,
): ChunkDraft {
  const chunkKey = `${key}:${chunk}`
  const opened = chunks.get(chunkKey)
  if (opened !== undefined) return opened
  const draft = { shared, chunk, set: readChunk(postings, shared, chunk), places: new Map() }
  chunks.set(chunkKey, draft)
  return draft
}

const noKeys: ReadonlySet<string> = new Set()

const keysOf = (row: KeyedRow | undefined): ReadonlySet<string> =>
  row === undefined ? noKeys : new Set(termKeysOf(row))

/**
 * Returns the postings that a change of a row adds and removes in the table of terms. Changes
 * nothing yet.
 * @throws ApiError `storage_corrupt`
 */
export function termPostings(
  terms: PostingDraft,
  state: StoreState,
  ordinal: number,
  from: KeyedRow | undefined,
  to: KeyedRow | undefined,
): Posting[] {
  // Nothing of the row is folded; true of nearly every inserted row.
  if (ordinal >= state.foldingTo) return []
  const chunk = chunkOf(ordinal)
  const low = lowOf(ordinal)
  const postings: Posting[] = []
  const collect = (row: KeyedRow, others: ReadonlySet<string>, isIn: boolean): void => {
    for (const term of row.row.terms) {
      const key = keyOf(term)
      if (others.has(key) || !isFolded(state, term, ordinal)) continue
      postings.push({ draft: draftChunk(terms, key, term, chunk), low, isIn })
    }
  }
  if (from !== undefined) collect(from, keysOf(to), false)
  if (to !== undefined) collect(to, keysOf(from), true)
  return postings
}

/** Like `termPostings`, for the table of deadlines. @throws ApiError `storage_corrupt` */
export function deadlinePostings(
  deadlines: PostingDraft,
  ordinal: number,
  from: KeyedRow | undefined,
  to: KeyedRow | undefined,
): Posting[] {
  const before = from?.row.deadlineMs
  const after = to?.row.deadlineMs
  if (before === after) return []
  const posting = (deadlineMs: number, isIn: boolean): Posting => {
    const deadline = encodeDeadline(deadlineMs)
    const draft = draftChunk(deadlines, keyOf(deadline), deadline, chunkOf(ordinal))
    return { draft, low: lowOf(ordinal), isIn }
  }
  return [
    ...(before === undefined ? [] : [posting(before, false)]),
    ...(after === undefined ? [] : [posting(after, true)]),
  ]
}

/** Returns the key of a changed chunk and its new value; no value if the chunk is now empty. */
export function chunkEntry(
  { encodeKey }: Postings,
  { shared, chunk, set, places }: ChunkDraft,
): { key: Uint8Array; value: Uint8Array | undefined } {
  const entering: number[] = []
  const leaving: number[] = []
  for (const [low, isIn] of places) (isIn ? entering : leaving).push(low)
  const next = unite(subtract(set, setOf(leaving)), setOf(entering))
  return { key: encodeKey(shared, chunk), value: encodePlaceSet(next) }
}
