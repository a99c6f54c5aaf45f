/**
 * Finds entries of the audit log, newest first: by the index, and the newest ones one by one.
 *
 * Candidates come in pieces: slices of the index, and stretches of what is not indexed yet. If
 * the index decides, only shown entries are opened; all others are opened and tested, up to a bound
 * for each request. Entries may be told in a little another order than they happened, since some
 * are written later than others; so a range of instants is compared with the instants of slices.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { pauses } from '../lib/work.ts'
import {
  logBundlesRead,
  logBytesOpenedMax,
  logChunkEntries,
  logEntriesOpenedMax,
  logIndexReadMax,
  logSliceEntries,
} from '../limits/work-limits.ts'
import type { DerivedValue, LogRange, Store, StoredBundle } from '../store/contract.ts'
import { readBundle, type PlacedEntry } from './bundle.ts'
import { isByTerms, matchesEntry, termsOfFilter, type EntryFilter } from './entry-filter.ts'
import {
  atSlice,
  behindChunk,
  chunkOf,
  countPlaces,
  decodePlaces,
  decodeSpan,
  indexKey,
  keepBetween,
  keepBoth,
  newestPlaces,
  sliceOf,
  spanKind,
  type PlacesInSlice,
  type SliceSpan,
} from './index-format.ts'
import { indexedBelow } from './search-index.ts'

export interface LogReader {
  readonly store: Pick<Store, 'bundles' | 'derived' | 'logRange'>
  readonly keys: Pick<Keys, 'auditKey' | 'auditIndexKey'>
  readonly elapsedMs: () => number
}

/** Entries that may match, and follow one another but for gaps. */
interface Piece {
  readonly count: number
  /** True if all of them match. */
  readonly isSure: boolean
  /** Newest first. */
  readonly sequences: () => readonly number[]
}

/** One request for entries. */
interface Search extends LogReader {
  readonly filter: EntryFilter
  readonly pause: () => Promise<void> | undefined
  /** Entries and bytes that were opened so far. */
  readonly opened: { entries: number; bytes: number }
}

const searchOf = (reader: LogReader, filter: EntryFilter): Search => ({
  ...reader,
  filter,
  pause: pauses(reader.elapsedMs),
  opened: { entries: 0, bytes: 0 },
})

/** True if a request may open no more. */
const isSpent = ({ opened: { entries, bytes } }: Search): boolean =>
  entries >= logEntriesOpenedMax || bytes >= logBytesOpenedMax

/*
 * Pieces.
 */

async function readRange(
  { store }: LogReader,
  from: Uint8Array,
  to: Uint8Array,
): Promise<readonly DerivedValue[]> {
  const all: DerivedValue[] = []
  for (let start = from; ;) {
    const read = await store.derived(start, to, logIndexReadMax)
    all.push(...read)
    const last = read.at(-1)
    if (last === undefined || read.length < logIndexReadMax) return all
    start = Uint8Array.of(...last.key, 0)
  }
}

/** The values of a key in a chunk, by the first sequence of their slices. */
const slicesOf = async (
  reader: LogReader,
  key: Uint8Array,
  chunk: number,
): Promise<readonly (readonly [number, Uint8Array])[]> =>
  (await readRange(reader, atSlice(key, chunk * logChunkEntries), behindChunk(key, chunk))).map(
    ({ key: of, value }) => [sliceOf(of), value],
  )

/** Slices with something that all terms have, with what that is. */
async function commonPlaces(
  reader: LogReader,
  terms: readonly Uint8Array[],
  chunk: number,
): Promise<ReadonlyMap<number, PlacesInSlice>> {
  let common: Map<number, PlacesInSlice> | undefined
  for (const term of terms) {
    const both = new Map<number, PlacesInSlice>()
    for (const [slice, value] of await slicesOf(reader, term, chunk)) {
      const places = decodePlaces(value)
      const others = common?.get(slice)
      if (others !== undefined) keepBoth(places, others)
      if (common === undefined || others !== undefined) both.set(slice, places)
    }
    common = both
    if (common.size === 0) break
  }
  return common ?? new Map()
}

/** Tells if a slice lies within the instants that are asked for. */
function isWithin(
  { fromMs = 0, beforeMs = Infinity }: EntryFilter,
  { earliestMs, latestMs }: SliceSpan,
): 'all' | 'some' | 'none' {
  if (latestMs < fromMs || earliestMs >= beforeMs) return 'none'
  return earliestMs >= fromMs && latestMs < beforeMs ? 'all' : 'some'
}

/** Tells it of the slices of a chunk; `undefined` if no instants are asked for. */
async function spansOf(
  reader: LogReader,
  filter: EntryFilter,
  chunk: number,
): Promise<ReadonlyMap<number, 'all' | 'some'> | undefined> {
  if (filter.fromMs === undefined && filter.beforeMs === undefined) return undefined
  const spans = new Map<number, 'all' | 'some'>()
  for (const [slice, value] of await slicesOf(reader, indexKey(spanKind), chunk)) {
    const lies = isWithin(filter, decodeSpan(value))
    if (lies !== 'none') spans.set(slice, lies)
  }
  return spans
}

function pieceOf(
  first: number,
  places: PlacesInSlice,
  { from, next }: LogRange,
  isSure: boolean,
): Piece {
  keepBetween(places, from - first, next - first)
  return {
    count: countPlaces(places),
    isSure,
    sequences: () => newestPlaces(places).map(place => first + place),
  }
}

/** Pieces of what is indexed, within a range. */
async function* indexedPieces(search: Search, range: LogRange): AsyncGenerator<Piece> {
  const { filter, keys } = search
  if (range.next <= range.from) return
  const terms = termsOfFilter(keys, filter)
  for (let chunk = chunkOf(range.next - 1); chunk >= chunkOf(range.from); chunk -= 1) {
    const spans = await spansOf(search, filter, chunk)
    if (spans?.size === 0) continue
    const common = await commonPlaces(search, terms, chunk)
    for (const slice of [...common.keys()].toSorted((a, b) => b - a)) {
      const places = common.get(slice)
      const lies = spans === undefined ? 'all' : spans.get(slice)
      // A slice that is being written is above the range.
      if (places === undefined || lies === undefined || slice >= range.next) continue
      yield pieceOf(slice, places, range, isByTerms(filter) && lies === 'all')
    }
  }
}

/** Pieces of what is not indexed: all that is there. */
function* newestPieces({ from, next }: LogRange): Generator<Piece> {
  for (let end = next; end > from; end -= logSliceEntries) {
    const count = Math.min(logSliceEntries, end - from)
    const last = end - 1
    const sequences = () => Array.from({ length: count }, (_, back) => last - back)
    yield { count, isSure: false, sequences }
  }
}

/** @param before entries below this sequence */
async function* piecesOf(search: Search, before: number): AsyncGenerator<Piece> {
  const indexed = await indexedBelow(search.store)
  const { from, next: end } = await search.store.logRange()
  const next = Math.min(end, before)
  yield* newestPieces({ from: Math.max(indexed, from), next })
  yield* indexedPieces(search, { from, next: Math.min(indexed, next) })
}

/*
 * Entries.
 */

/** Returns how many bundles to read for the first of some sequences: it may have few of them. */
function bundlesFor(sequences: readonly number[], at: number, last: StoredBundle | undefined) {
  if (last === undefined) return 1
  const newest = sequences[at] ?? 0
  let near = at
  while (near - at < logBundlesRead && newest - (sequences[near] ?? -Infinity) < logBundlesRead) {
    near += 1
  }
  return Math.max(1, Math.ceil((near - at) / last.leaves.length))
}

/**
 * Yields the entries of some sequences, newest first, one bundle at a time. Removed ones are left
 * out.
 */
async function* entriesAt(
  { store, keys, opened, pause }: Search,
  sequences: readonly number[],
): AsyncGenerator<PlacedEntry> {
  let last: StoredBundle | undefined
  for (let at = 0; at < sequences.length;) {
    const newest = sequences[at] ?? 0
    const bundles = await store.bundles({ before: newest + 1 }, bundlesFor(sequences, at, last))
    if (bundles.length === 0) return
    for (const bundle of bundles) {
      const wanted = new Set<number>()
      for (; at < sequences.length; at += 1) {
        const sequence = sequences[at] ?? 0
        if (sequence < bundle.first) break
        wanted.add(sequence)
      }
      opened.entries += wanted.size
      opened.bytes += (bundle.sealed.length * wanted.size) / bundle.leaves.length
      if (wanted.size > 0) {
        yield* readBundle(keys, bundle, sequence => wanted.has(sequence)).toReversed()
      }
      last = bundle
      await pause()
    }
  }
}

/** Takes an entry; false if there is no room for it. */
export type TakeEntry = (logged: PlacedEntry) => boolean

export type FoundPage =
  | { readonly total: number }
  /** Why there is no page: too much would be opened, or the entries are too long. */
  | { readonly refused: 'work' | 'room' }

/** Counts all entries that match, and takes `limit` of them behind the first `offset`. */
export async function findPage(
  reader: LogReader,
  filter: EntryFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  take: TakeEntry,
): Promise<FoundPage> {
  const search = searchOf(reader, filter)
  const end = offset + limit
  let total = 0
  for await (const piece of piecesOf(search, Infinity)) {
    const isShown = piece.isSure && total < end && total + piece.count > offset
    const skipped = Math.max(0, offset - total)
    if (piece.isSure) {
      const shown = isShown ? piece.sequences().slice(skipped, end - total) : []
      for await (const logged of entriesAt(search, shown)) {
        if (matchesEntry(filter, logged.entry) && !take(logged)) return { refused: 'room' }
      }
      total += piece.count
    } else {
      for await (const logged of entriesAt(search, piece.sequences())) {
        if (isSpent(search)) return { refused: 'work' }
        if (!matchesEntry(filter, logged.entry)) continue
        if (total >= offset && total < end && !take(logged)) return { refused: 'room' }
        total += 1
      }
    }
    await search.pause()
  }
  return { total }
}

/**
 * Takes at most `limit` entries that match, below a sequence.
 * @returns the sequence below which the next ones are; `undefined` if there are none
 */
export async function findBelow(
  reader: LogReader,
  filter: EntryFilter,
  { before, limit }: { readonly before: number; readonly limit: number },
  take: TakeEntry,
): Promise<number | undefined> {
  const search = searchOf(reader, filter)
  let taken = 0
  for await (const piece of piecesOf(search, before)) {
    let left = piece.count === 0 ? [] : piece.sequences()
    while (left.length > 0) {
      // One more than is taken tells whether there are more.
      const step = piece.isSure ? left.slice(0, limit + 1 - taken) : left
      left = left.slice(step.length)
      for await (const logged of entriesAt(search, step)) {
        if (matchesEntry(filter, logged.entry)) {
          if (taken === limit || !take(logged)) return logged.sequence + 1
          taken += 1
        }
        if (isSpent(search)) return logged.sequence
      }
    }
    await search.pause()
  }
  return undefined
}
