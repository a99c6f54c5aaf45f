/**
 * Indexes the audit log, so that entries are found by what they are about, by whom, and how they
 * ended. It follows behind: the newest entries are not indexed, and are read one by one.
 *
 * The values of a slice are written in several transactions, and the last one moves the progress
 * over it. Slices follow from the entries alone, so a slice that was begun is written again with
 * the same keys and values.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { bufferOf } from '../lib/bytes.ts'
import { pauses } from '../lib/work.ts'
import {
  logBundlesRead,
  logChunkEntries,
  logIndexPutsMax,
  logIndexTurnMs,
  logSliceEntries,
  logSliceTermsMax,
} from '../limits/work-limits.ts'
import type { Change, Store } from '../store/contract.ts'
import { unpackBundle, type PackedEntry } from './bundle.ts'
import { readDerived } from './derived-keys.ts'
import { foundBy, termOf, type FoundBy } from './entry-filter.ts'
import { decodeEntry, outlineEntry } from './entry-format.ts'
import {
  addMember,
  atSlice,
  bucketKey,
  bucketOf,
  buckets,
  chunkBucketKey,
  chunkOf,
  decodeProgress,
  encodePlaces,
  encodeProgress,
  encodeSpan,
  indexKey,
  movedMembers,
  progressKey,
  sliceOf,
  spanKind,
} from './index-format.ts'

export interface LogIndexer {
  readonly store: Pick<Store, 'bundles' | 'derived' | 'logRange' | 'write'>
  readonly keys: Pick<Keys, 'auditKey' | 'auditIndexKey'>
  readonly elapsedMs: () => number
}

/** Returns the sequence of the first entry that is not indexed. */
export async function indexedBelow(store: Pick<Store, 'derived'>): Promise<number> {
  const progress = await readDerived(store, progressKey)
  return progress === undefined ? 0 : decodeProgress(progress)
}

interface Slice {
  readonly first: number
  /** Sequence behind its last entry. */
  end: number
  earliestMs: number
  latestMs: number
  /** Ascending places by the texts of their terms, but for ids. */
  readonly places: Map<string, number[]>
  /** The lists of all that entries of one shape are found by, and their tenant. */
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

/** @param shape of what the vault itself has named: no caller chooses keys of the table */
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

/** Reads the entries of the slice that begins there, and ends at that sequence or earlier. */
async function readSlice(
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

/** Puts the buckets of a chunk together whose last slice this is. */
async function wholeBuckets(
  { store, elapsedMs }: LogIndexer,
  { first, end, buckets: last }: Slice,
): Promise<readonly Change[]> {
  if (end % logChunkEntries !== 0) return []
  const chunk = chunkOf(first)
  const pause = pauses(elapsedMs, logIndexTurnMs)
  const changes: Change[] = []
  for (let number = 0; number < buckets; number += 1) {
    const key = bucketKey(number)
    const from = atSlice(key, chunk * logChunkEntries)
    const before = await store.derived(from, atSlice(key, first), logChunkEntries)
    const parts = before.map(({ key: of, value }) =>
      movedMembers(value, sliceOf(of) % logChunkEntries),
    )
    parts.push(movedMembers(new Uint8Array(last[number] ?? []), first % logChunkEntries))
    changes.push({ derived: chunkBucketKey(number, chunk), value: Buffer.concat(parts) })
    await pause()
  }
  return changes
}

function* changesOf(slice: Slice, whole: readonly Change[]): Generator<Change> {
  for (const text of [...slice.places.keys()].toSorted()) {
    const value = encodePlaces(slice.places.get(text) ?? [])
    yield { derived: atSlice(Buffer.from(text, 'latin1'), slice.first), value }
  }
  for (const [number, bucket] of slice.buckets.entries()) {
    if (bucket === undefined) continue
    yield { derived: atSlice(bucketKey(number), slice.first), value: new Uint8Array(bucket) }
  }
  if (slice.earliestMs <= slice.latestMs) {
    yield { derived: atSlice(indexKey(spanKind), slice.first), value: encodeSpan(slice) }
  }
  yield* whole
  yield { derived: progressKey, value: encodeProgress(slice.end) }
}

/** Indexes the next slice, if it is whole. @returns true if it was */
async function indexSlice(indexer: LogIndexer, next: number): Promise<boolean> {
  const { store } = indexer
  // Not from where the log begins now: a slice that was begun is written again, or counts twice.
  const first = await indexedBelow(store)
  const below = Math.min(first + logSliceEntries, (chunkOf(first) + 1) * logChunkEntries)
  if (next < below) return false
  const slice = await readSlice(indexer, first, below)
  const changes = [...changesOf(slice, await wholeBuckets(indexer, slice))]
  for (let at = 0; at < changes.length; at += logIndexPutsMax) {
    await store.write(changes.slice(at, at + logIndexPutsMax))
  }
  return true
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
export async function indexNext(indexer: LogIndexer): Promise<boolean> {
  const { from, next } = await indexer.store.logRange()
  return (await indexSlice(indexer, next)) || (await dropRemoved(indexer, from))
}
