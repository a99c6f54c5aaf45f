/**
 * The check of the search index against the entries themselves: the index is not sealed, so a
 * writer of the store can have it leave entries out.
 * @module
 */
import { bufferOf } from '../lib/bytes.ts'
import { attempt, attemptLater } from '../lib/errors.ts'
import { noProgress, type BeginProgress, type ReportDone } from '../lib/progress.ts'
import { logChunkEntries, logSliceEntries } from '../limits/work-limits.ts'
import { readDerived } from './derived-keys.ts'
import { slicesOf } from './find-pieces.ts'
import {
  bucketMembers,
  buckets,
  chunkBucketKey,
  chunkOf,
  decodePlaces,
  decodeSpan,
  indexKey,
  idKind,
  kindOf,
  spanKind,
} from './index-format.ts'
import {
  indexedBelow,
  readSlice,
  valuesOf,
  wholeBucket,
  type LogIndexer,
  type Slice,
} from './search-index.ts'

/** Tells if all places of one value are in another. @throws ApiError `storage_corrupt` */
function hasPlaces(stored: Uint8Array, expected: Uint8Array): boolean {
  const places = decodePlaces(stored)
  return decodePlaces(expected).every((byte, i) => (byte & ~(places[i] ?? 0)) === 0)
}

/** Tells the same of the ids in buckets. @throws ApiError `storage_corrupt` */
function hasMembers(stored: Uint8Array, expected: Uint8Array): boolean {
  const members = new Set(bucketMembers(stored))
  return bucketMembers(expected).every(member => members.has(member))
}

/** Tells if the expected span lies within the stored one. @throws ApiError `storage_corrupt` */
function hasSpan(stored: Uint8Array, expected: Uint8Array): boolean {
  const [around, within] = [decodeSpan(stored), decodeSpan(expected)]
  return around.earliestMs <= within.earliestMs && around.latestMs >= within.latestMs
}

/** Tells if a value finds all that is expected of it; it may still find removed entries too. */
function findsAll(key: Uint8Array, stored: Uint8Array, expected: Uint8Array): boolean {
  const kind = kindOf(key)
  const has = kind === spanKind ? hasSpan : kind === idKind ? hasMembers : hasPlaces
  return attempt(() => has(stored, expected)) ?? false
}

async function isStored({ store }: LogIndexer, slice: Slice, isPruned: boolean): Promise<boolean> {
  for (const { key, value } of valuesOf(slice)) {
    const stored = await readDerived(store, key)
    if (stored === undefined) return false
    const isSame = bufferOf(stored).equals(value)
    if (!isSame && !(isPruned && findsAll(key, stored, value))) return false
  }
  return true
}

/** Tells if the buckets of a whole chunk are those of its slices. */
async function isWhole({ store }: LogIndexer, chunk: number): Promise<boolean> {
  for (let number = 0; number < buckets; number += 1) {
    const whole = await readDerived(store, chunkBucketKey(number, chunk))
    if (whole === undefined) continue
    const parts = await wholeBucket(store, number, chunk, (chunk + 1) * logChunkEntries)
    if (!bufferOf(whole).equals(Buffer.concat(parts))) return false
  }
  return true
}

/** Checks the entries of one chunk. */
async function* unfoundIn(
  indexer: LogIndexer,
  from: number,
  below: number,
  done: ReportDone,
): AsyncGenerator<number> {
  const chunk = chunkOf(from)
  const slices = await attemptLater(slicesOf(indexer, indexKey(spanKind), chunk))
  let checked = from
  for (const [at, [first]] of (slices ?? []).entries()) {
    const end = Math.min(slices?.[at + 1]?.[0] ?? below, first + logSliceEntries, below)
    if (end <= from || first >= below) continue
    if (first > checked) yield checked
    const slice = await readSlice(indexer, first, end)
    const isFound = slice.end === end && (await isStored(indexer, slice, first < from))
    if (!isFound) yield Math.max(first, from)
    checked = end
    done(checked)
  }
  if (checked < below) yield checked
  if ((await attemptLater(isWhole(indexer, chunk))) !== true) yield from
}

/**
 * Yields the first entry of each stretch whose part of the index is not as it must be.
 * @param progress with the number of entries
 * @throws ApiError `storage_corrupt` if an entry cannot be read
 */
export async function* unfoundEntries(
  indexer: LogIndexer,
  progress: BeginProgress = noProgress,
): AsyncGenerator<number> {
  const { store } = indexer
  // Bytes that are no number count as an index that is ahead of the log.
  const reached = async () => (await attemptLater(indexedBelow(store))) ?? Infinity
  const indexed = await reached()
  const { from, next } = await store.logRange()
  if (indexed > next) yield next
  const end = Math.min(indexed, next)
  const done = progress(next, 'entries')
  for (let first = from; first < end; first = (chunkOf(first) + 1) * logChunkEntries) {
    const below = Math.min(end, (chunkOf(first) + 1) * logChunkEntries)
    for await (const unfound of unfoundIn(indexer, first, below, done)) {
      // Meanwhile entries may have been removed with their index, or the index given up.
      const isKept = unfound >= (await store.logRange()).from
      if (isKept && unfound < (await reached())) yield unfound
    }
  }
}
