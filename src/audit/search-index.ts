/**
 * Indexes the audit log, so that entries are found by what they are about, by whom, and how they
 * ended. It follows behind: the newest entries are not indexed, and are read one by one.
 *
 * The values of a slice are written in several transactions, and the last one moves the progress
 * over it. Each requires the one before: a database that loses commits may have lost that one.
 * Slices follow from the entries alone, so a slice that was begun is written again with
 * the same keys and values.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { bufferOf } from '../lib/bytes.ts'
import { attempt } from '../lib/errors.ts'
import { pauses } from '../lib/work.ts'
import {
  logBundlesRead,
  logChunkEntries,
  logIndexPutsMax,
  logIndexTurnMs,
  logMarkBytes,
  logSliceEntries,
  logSliceTermsMax,
} from '../limits/work-limits.ts'
import type { Change, DerivedValue, LogRange, Store } from '../store/contract.ts'
import { unpackBundle, type PackedEntry } from './bundle.ts'
import { indexMarkKey, readDerived } from './derived-keys.ts'
import { foundBy, termOf, type FoundBy } from './entry-filter.ts'
import { decodeEntry, outlineEntry } from './entry-format.ts'
import {
  addMember,
  atSlice,
  behindChunk,
  bucketKey,
  bucketOf,
  buckets,
  chunkBucketKey,
  chunkOf,
  decodeCount,
  encodePlaces,
  encodeCount,
  encodeSpan,
  generationKey,
  indexEnd,
  indexKey,
  movedMembers,
  progressKey,
  sliceOf,
  spanKind,
} from './index-format.ts'
import { makeLogEnd, type LogEnd, type LogEndParts } from './log-end.ts'

export interface LogIndexer {
  readonly store: Pick<Store, 'bundles' | 'derived' | 'logRange' | 'write'>
  readonly keys: Pick<Keys, 'auditKey' | 'auditIndexKey'>
  readonly elapsedMs: () => number
}

type IndexWriter = LogIndexer & LogEndParts

async function readCount(store: Pick<Store, 'derived'>, key: Uint8Array): Promise<number> {
  const value = await readDerived(store, key)
  return value === undefined ? 0 : decodeCount(value)
}

/**
 * Returns the sequence of the first entry that is not indexed.
 * @throws ApiError `storage_corrupt`
 */
export const indexedBelow = (store: Pick<Store, 'derived'>): Promise<number> =>
  readCount(store, progressKey)

/** A change that holds only in that generation of the index. */
const inGeneration = (generation: number): Change => ({
  requireDerived: generationKey,
  ifValue: generation === 0 ? undefined : encodeCount(generation),
})

export interface Slice {
  readonly first: number
  /** Sequence behind its last entry. */
  end: number
  earliestMs: number
  latestMs: number
  /** Ascending places by the texts of their terms, but for ids. */
  readonly places: Map<string, number[]>
  /** By shape: the lists of places that its entries are added to, and their tenant. */
  readonly shapes: Map<string, ShapeTerms>
  /** Bytes of the buckets of ids, by their numbers. */
  readonly buckets: (number[] | undefined)[]
  /** Ids so far. */
  members: number
}

interface ShapeTerms {
  readonly tenantId: string | undefined
  readonly lists: readonly number[][]
}

const textOf = (key: Uint8Array): string => bufferOf(key).toString('latin1')

function placesOf({ places }: Slice, keys: LogIndexer['keys'], found: FoundBy): number[] {
  const text = textOf(termOf(keys, found))
  const known = places.get(text) ?? []
  places.set(text, known)
  return known
}

/** @param shape made of values that the vault has named: no caller chooses keys of the map */
function termsOfShape(
  slice: Slice,
  keys: LogIndexer['keys'],
  shape: string,
  bytes: Uint8Array,
): ShapeTerms {
  const known = slice.shapes.get(shape)
  if (known !== undefined) return known
  const entry = decodeEntry(bytes)
  const lists = foundBy(entry).map(found => placesOf(slice, keys, found))
  const terms = { tenantId: entry.tenantId, lists }
  slice.shapes.set(shape, terms)
  return terms
}

function addId(slice: Slice, term: Uint8Array, place: number): void {
  addMember((slice.buckets[bucketOf(term)] ??= []), term, place)
  slice.members += 1
}

function addEntry(slice: Slice, keys: LogIndexer['keys'], { sequence, bytes }: PackedEntry): void {
  const place = sequence - slice.first
  const { atMs, shape, entityIds } = outlineEntry(bytes)
  const { tenantId, lists } = termsOfShape(slice, keys, shape, bytes)
  for (const places of lists) places.push(place)
  if (tenantId !== undefined) {
    for (const value of entityIds) {
      addId(slice, termOf(keys, { tenantId, kind: 'entityId', value }), place)
    }
  }
  slice.end = sequence + 1
  slice.earliestMs = Math.min(slice.earliestMs, atMs)
  slice.latestMs = Math.max(slice.latestMs, atMs)
}

const emptySlice = (first: number): Slice => ({
  first,
  end: first,
  earliestMs: Infinity,
  latestMs: 0,
  places: new Map(),
  shapes: new Map(),
  buckets: [],
  members: 0,
})

/** Reads the entries of the slice that begins at `first`, and ends at `below` or earlier. */
export async function readSlice(
  { store, keys, elapsedMs }: LogIndexer,
  first: number,
  below: number,
): Promise<Slice> {
  const slice = emptySlice(first)
  const pause = pauses(elapsedMs, logIndexTurnMs)
  // As many as are needed if all are as long as the one before.
  let wanted = 1
  for (let from = first; from < below;) {
    const bundles = await store.bundles({ from }, wanted)
    if (bundles.length === 0) break
    for (const bundle of bundles) {
      const isWanted = (sequence: number) => sequence >= slice.end && sequence < below
      from = bundle.first + bundle.leaves.length
      wanted = Math.min(logBundlesRead, Math.ceil((below - from) / bundle.leaves.length))
      if (bundle.first >= below) break
      for (const packed of unpackBundle(keys, bundle, isWanted)) {
        addEntry(slice, keys, packed)
        if (slice.places.size + slice.members >= logSliceTermsMax) return slice
        const pausing = pause()
        if (pausing !== undefined) await pausing
      }
    }
  }
  // Entries that are missing at its start were removed before they were indexed.
  slice.end = below
  return slice
}

/** Returns the buckets of one number, of all slices of a chunk below a sequence. */
export async function wholeBucket(
  store: Pick<Store, 'derived'>,
  number: number,
  chunk: number,
  below: number,
): Promise<readonly Uint8Array[]> {
  const key = bucketKey(number)
  const from = atSlice(key, chunk * logChunkEntries)
  const end = below < (chunk + 1) * logChunkEntries ? atSlice(key, below) : behindChunk(key, chunk)
  const parts = await store.derived(from, end, logChunkEntries)
  return parts.map(({ key: of, value }) => movedMembers(value, sliceOf(of) % logChunkEntries))
}

/** Joins the buckets of all slices of a chunk, if this slice is its last. */
async function wholeBuckets(
  { store, elapsedMs }: LogIndexer,
  { first, end, buckets: last }: Slice,
): Promise<readonly Change[]> {
  if (end % logChunkEntries !== 0) return []
  const chunk = chunkOf(first)
  const pause = pauses(elapsedMs, logIndexTurnMs)
  const changes: Change[] = []
  for (let number = 0; number < buckets; number += 1) {
    const own = movedMembers(new Uint8Array(last[number] ?? []), first % logChunkEntries)
    const value = Buffer.concat([...(await wholeBucket(store, number, chunk, first)), own])
    changes.push({ derived: chunkBucketKey(number, chunk), value })
    await pause()
  }
  return changes
}

/** Yields the keys and values of a slice. */
export function* valuesOf(slice: Slice): Generator<DerivedValue> {
  for (const text of [...slice.places.keys()].toSorted()) {
    const value = encodePlaces(slice.places.get(text) ?? [])
    yield { key: atSlice(Buffer.from(text, 'latin1'), slice.first), value }
  }
  for (const [number, bucket] of slice.buckets.entries()) {
    if (bucket === undefined) continue
    yield { key: atSlice(bucketKey(number), slice.first), value: new Uint8Array(bucket) }
  }
  if (slice.earliestMs <= slice.latestMs) {
    yield { key: atSlice(indexKey(spanKind), slice.first), value: encodeSpan(slice) }
  }
}

function* changesOf(slice: Slice, whole: readonly Change[]): Generator<Change> {
  for (const { key, value } of valuesOf(slice)) yield { derived: key, value }
  yield* whole
  yield { derived: progressKey, value: encodeCount(slice.end) }
}

/** Writes values of a slice, unless what they were made of is lost meanwhile. */
async function writeSlice(
  { store, randomBytes }: IndexWriter,
  changes: readonly Change[],
  required: readonly Change[],
  logEnd: LogEnd,
): Promise<void> {
  let before = await logEnd.requirement()
  for (let at = 0; before !== undefined && at < changes.length; at += logIndexPutsMax) {
    const mark = randomBytes(logMarkBytes)
    const some = changes.slice(at, at + logIndexPutsMax)
    const marked = { derived: indexMarkKey, value: mark }
    const { ok } = await store.write([before, ...required, ...some, marked])
    before = ok ? { requireDerived: indexMarkKey, ifValue: mark } : undefined
  }
}

/** Indexes the next slice, if it is whole. @returns true if it was */
async function indexSlice(
  indexer: IndexWriter,
  range: LogRange,
  generation: number,
): Promise<boolean> {
  const { store } = indexer
  // Not from where the log begins now: a slice that was begun must be written again as it was, or
  // its entries would count twice.
  const progress = await readDerived(store, progressKey)
  const first = progress === undefined ? 0 : decodeCount(progress)
  const below = Math.min(first + logSliceEntries, (chunkOf(first) + 1) * logChunkEntries)
  if (range.next < below) return false
  const logEnd = makeLogEnd(indexer, indexMarkKey)
  await logEnd.look(range)
  const slice = await readSlice(indexer, first, below)
  const changes = [...changesOf(slice, await wholeBuckets(indexer, slice))]
  const required = [inGeneration(generation), { requireDerived: progressKey, ifValue: progress }]
  await writeSlice(indexer, changes, required, logEnd)
  return true
}

const isGivenUp = (generation: number): boolean => generation % 2 === 1

/** Removes some values of an index that is given up, or begins it anew where there are none. */
async function emptyIndex({ store }: LogIndexer, from: number, generation: number): Promise<void> {
  const stale = await store.derived(indexKey(0), indexEnd, logIndexPutsMax)
  const begun = [
    { derived: generationKey, value: encodeCount(generation + 1) },
    { derived: progressKey, value: encodeCount(chunkOf(from) * logChunkEntries) },
  ]
  const removed = stale.map(({ key }) => ({ derived: key, value: undefined }))
  await store.write([inGeneration(generation), ...(stale.length > 0 ? removed : begun)])
}

/**
 * Gives up the whole index: entries are read one by one until it is there anew. A slice that is
 * being written meanwhile does not land.
 * @param also changes of the same write
 */
export async function giveUpIndex(store: LogIndexer['store'], also: readonly Change[] = []) {
  const value = await readDerived(store, generationKey)
  const generation = (value && attempt(() => decodeCount(value))) ?? 0
  const next = isGivenUp(generation) ? generation + 2 : generation + 1
  await store.write([
    { derived: generationKey, value: encodeCount(next) },
    { derived: progressKey, value: undefined },
    ...also,
  ])
}

/** Removes some values of chunks whose entries were all removed. @returns true if there were any */
async function dropRemoved({ store }: LogIndexer, from: number): Promise<boolean> {
  const end = atSlice(indexKey(0), chunkOf(from) * logChunkEntries)
  const stale = await store.derived(indexKey(0), end, logIndexPutsMax)
  if (stale.length === 0) return false
  await store.write(stale.map(({ key }) => ({ derived: key, value: undefined })))
  return true
}

/**
 * Indexes the next slice, or forgets what was removed. One process calls it; if two did, they would
 * write the same.
 * @returns true if there may be more to do
 * @throws ApiError `unavailable`: then a later call does it
 */
export async function indexNext(indexer: IndexWriter): Promise<boolean> {
  const { store } = indexer
  const range = await store.logRange()
  const { from } = range
  const generation = await readCount(store, generationKey)
  if (isGivenUp(generation)) {
    await emptyIndex(indexer, from, generation)
    return true
  }
  return (await indexSlice(indexer, range, generation)) || (await dropRemoved(indexer, from))
}
