/**
 * Candidates for a question to the audit log, newest first, in pieces: slices of the index, and
 * stretches of what is not indexed yet.
 *
 * Some entries are written later than others that happened after them, so the order of instants is
 * not that of sequences: a range of instants is compared with those of each slice.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { logChunkEntries, logIndexReadMax, logSliceEntries } from '../limits/work-limits.ts'
import type { DerivedValue, LogRange, Store } from '../store/contract.ts'
import { readDerived } from './derived-keys.ts'
import { isByTerms, termsOfFilter, type EntryFilter } from './entry-filter.ts'
import {
  atSlice,
  behindChunk,
  bucketOf,
  chunkBucketKey,
  chunkOf,
  countPlaces,
  decodeSpan,
  indexKey,
  isOfId,
  keepBetween,
  keepBoth,
  newestPlaces,
  placesInChunk,
  placesOfTerm,
  sliceOf,
  spanKind,
  storedKey,
  type SlicePlaces,
  type SliceSpan,
} from './index-format.ts'
import { indexedBelow } from './search-index.ts'

export interface LogReader {
  readonly store: Pick<Store, 'derived' | 'logRange'>
  readonly keys: Pick<Keys, 'auditIndexKey'>
  /** Awaited between two chunks, so that others get their turn. */
  readonly pause: () => Promise<void> | undefined
}

/** Candidates of one slice or stretch. */
interface Piece {
  readonly count: number
  /** True if all of them match. */
  readonly isSure: boolean
  /** Newest first. */
  readonly sequences: () => readonly number[]
}

async function readRange(
  { store }: Pick<LogReader, 'store'>,
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
export const slicesOf = async (
  reader: Pick<LogReader, 'store'>,
  key: Uint8Array,
  chunk: number,
): Promise<readonly (readonly [number, Uint8Array])[]> =>
  (await readRange(reader, atSlice(key, chunk * logChunkEntries), behindChunk(key, chunk))).map(
    ({ key: of, value }) => [sliceOf(of), value],
  )

/** Reads the places of an id in a chunk from one value; `undefined` if the chunk has none such. */
async function wholePlaces(
  { store }: LogReader,
  term: Uint8Array,
  chunk: number,
): Promise<ReadonlyMap<number, SlicePlaces> | undefined> {
  const whole = await readDerived(store, chunkBucketKey(bucketOf(term), chunk))
  return whole && placesInChunk(whole, term, chunk)
}

/** Returns the slices of a chunk in which every term is, with the places that all terms share. */
async function commonPlaces(
  reader: LogReader,
  terms: readonly Uint8Array[],
  chunk: number,
): Promise<ReadonlyMap<number, SlicePlaces>> {
  let common: Map<number, SlicePlaces> | undefined
  for (const term of terms) {
    const both = new Map<number, SlicePlaces>()
    for (const [slice, value] of await slicesOf(reader, storedKey(term), chunk)) {
      const places = placesOfTerm(term, value)
      if (places === undefined) continue
      const others = common?.get(slice)
      if (others !== undefined) keepBoth(places, others)
      if (common === undefined || others !== undefined) both.set(slice, places)
    }
    common = both
    if (common.size === 0) break
  }
  return common ?? new Map()
}

/** Tells how many entries of a slice are within the wanted instants. */
function isWithin(
  { fromMs = 0, beforeMs = Infinity }: EntryFilter,
  { earliestMs, latestMs }: SliceSpan,
): 'all' | 'some' | 'none' {
  if (latestMs < fromMs || earliestMs >= beforeMs) return 'none'
  return earliestMs >= fromMs && latestMs < beforeMs ? 'all' : 'some'
}

/** Returns the same for the slices of a chunk; `undefined` if all instants are wanted. */
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

/** Leaves out what is outside the range, such as a slice that is still being written. */
function pieceOf(
  first: number,
  places: SlicePlaces,
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
async function* indexedPieces(
  reader: LogReader,
  filter: EntryFilter,
  range: LogRange,
): AsyncGenerator<Piece> {
  const { keys } = reader
  if (range.next <= range.from) return
  const terms = termsOfFilter(keys, filter)
  const [term] = terms
  const id = term !== undefined && terms.length === 1 && isOfId(term) ? term : undefined
  for (let chunk = chunkOf(range.next - 1); chunk >= chunkOf(range.from); chunk -= 1) {
    await reader.pause()
    const spans = await spansOf(reader, filter, chunk)
    if (spans?.size === 0) continue
    const whole = id && spans === undefined ? await wholePlaces(reader, id, chunk) : undefined
    const common = whole ?? (await commonPlaces(reader, terms, chunk))
    for (const slice of [...common.keys()].toSorted((a, b) => b - a)) {
      const places = common.get(slice)
      const lies = spans === undefined ? 'all' : spans.get(slice)
      if (places === undefined || lies === undefined) continue
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

/** Yields the candidates among the entries below a sequence. */
export async function* piecesOf(
  reader: LogReader,
  filter: EntryFilter,
  before: number,
): AsyncGenerator<Piece> {
  const indexed = await indexedBelow(reader.store)
  const { from, next: end } = await reader.store.logRange()
  const next = Math.min(end, before)
  yield* newestPieces({ from: Math.max(indexed, from), next })
  yield* indexedPieces(reader, filter, { from, next: Math.min(indexed, next) })
}
