/**
 * The index of the audit log, as keys and values beside it.
 *
 * A slice is up to `logSliceEntries` consecutive entries of one chunk; a chunk is `logChunkEntries`
 * entries. A key is 2 · chunk u24 · kind u8 · digest 6 · first u24, where `first` is the place of
 * the first entry of the slice within the chunk. So a look-up is one range of keys for each chunk,
 * and what is written together lies together.
 *
 * | Kind | Digest | Value |
 * |---|---|---|
 * | 0 | zeros | the earliest and the latest instant of the slice, u48 each |
 * | 1 | 6 bits of that of an id, zeros | a bucket: for each id and entry, digest 6 · place u16 |
 * | 2 to 8 | that of a value (`entry-filter.ts`) | the places of the entries that have this value |
 * | 255 | as of kind 1, and `first` is 0 | the buckets of all slices of an indexed chunk together |
 *
 * Places count within the slice, and for kind 255 within the chunk. Those of kinds 2 to 8 are up to
 * 63 as u16, ascending, or else a bitmap of 128 bytes, bit 0 of byte 0 first. Two shorter keys have
 * a u48 each: 2 has the sequence of the first entry that is not indexed; 2 · 0 has the generation,
 * which is 0 without this key, and odd while an index that was given up is being removed.
 *
 * Nearly every entry is about an id of its own, and a key for each would take more time than all
 * else: so ids share 64 buckets. By kind 255 a look-up of an id alone reads one value of a chunk in
 * place of one for each slice; chunks that an older coffer has indexed lack it.
 * @module
 */
import { bufferOf, byteAt, readU16, readU48, u48Bytes, writeU16, writeU48 } from '../lib/bytes.ts'
import { assertStored } from '../lib/errors.ts'
import { auditDigestBytes, logChunkEntries, logSliceEntries } from '../limits/work-limits.ts'

const prefix = 2
const chunkAt = 1
const kindAt = 4
export const digestAt = 5
const firstAt = digestAt + auditDigestBytes
const keyBytes = firstAt + 3

/** Kind of the key of the instants of a slice. */
export const spanKind = 0
/** Kind of the keys whose values are buckets. */
export const idKind = 1
/** Kind of the keys whose values are the buckets of a whole chunk. */
const chunkKind = 255

export const chunkOf = (sequence: number): number => Math.floor(sequence / logChunkEntries)

function writeU24(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 16
  writeU16(target, at + 1, value & 0xffff)
}

/** A key without a slice, whose digest is zero. */
export function indexKey(kind: number): Uint8Array {
  const key = new Uint8Array(keyBytes)
  key[0] = prefix
  key[kindAt] = kind
  return key
}

/** Returns the same key for the slice that begins at a sequence. */
export function atSlice(key: Uint8Array, first: number): Uint8Array {
  const sliced = new Uint8Array(key)
  writeU24(sliced, chunkAt, chunkOf(first))
  writeU24(sliced, firstAt, first % logChunkEntries)
  return sliced
}

/** The first sequence of the slice that a key is of. */
export function sliceOf(key: Uint8Array): number {
  assertStored(key.length === keyBytes, 'a key of the index of the log')
  const chunk = ((key[chunkAt] ?? 0) << 16) | readU16(key, chunkAt + 1)
  const first = ((key[firstAt] ?? 0) << 16) | readU16(key, firstAt + 1)
  return chunk * logChunkEntries + first
}

/** Returns the first key behind those of the same kind and digest in a chunk. */
export function behindChunk(key: Uint8Array, chunk: number): Uint8Array {
  const end = new Uint8Array(keyBytes + 1)
  end.set(atSlice(key, chunk * logChunkEntries))
  end.fill(0xff, firstAt)
  return end
}

export const progressKey: Uint8Array = Uint8Array.of(prefix)
export const generationKey: Uint8Array = Uint8Array.of(prefix, 0)
/** The first key behind the whole index. */
export const indexEnd: Uint8Array = Uint8Array.of(prefix + 1)

/** @param count how far the log is indexed, or the generation of the index */
export function encodeCount(count: number): Uint8Array {
  const value = new Uint8Array(u48Bytes)
  writeU48(value, 0, count)
  return value
}

/** @throws ApiError `storage_corrupt` */
export function decodeCount(value: Uint8Array): number {
  assertStored(value.length === u48Bytes, 'how far the log is indexed')
  return readU48(value, 0)
}

/** Instants in Unix milliseconds. */
export interface SliceSpan {
  readonly earliestMs: number
  readonly latestMs: number
}

export function encodeSpan({ earliestMs, latestMs }: SliceSpan): Uint8Array {
  const value = new Uint8Array(2 * u48Bytes)
  writeU48(value, 0, earliestMs)
  writeU48(value, u48Bytes, latestMs)
  return value
}

/** @throws ApiError `storage_corrupt` */
export function decodeSpan(value: Uint8Array): SliceSpan {
  assertStored(value.length === 2 * u48Bytes, 'the instants of a slice of the log')
  return { earliestMs: readU48(value, 0), latestMs: readU48(value, u48Bytes) }
}

/*
 * Places within a slice: stored as said above, in memory as bitmaps, which the caller may change.
 */

export type SlicePlaces = Uint8Array

const bitmapBytes = logSliceEntries / 8
const listedMax = bitmapBytes / 2 - 1

function addPlace(places: SlicePlaces, place: number): void {
  const at = place >>> 3
  assertStored(at < bitmapBytes, 'a place within its slice of the log')
  places[at] = (places[at] ?? 0) | (1 << (place & 7))
}

/** @param listed ascending, at least one */
export function encodePlaces(listed: readonly number[]): Uint8Array {
  if (listed.length <= listedMax) {
    const value = new Uint8Array(2 * listed.length)
    listed.forEach((place, i) => writeU16(value, 2 * i, place))
    return value
  }
  const places = new Uint8Array(bitmapBytes)
  for (const place of listed) addPlace(places, place)
  return places
}

/** @throws ApiError `storage_corrupt` */
export function decodePlaces(value: Uint8Array): SlicePlaces {
  if (value.length === bitmapBytes) return value
  assertStored(value.length > 0 && value.length % 2 === 0, 'places of a slice of the log')
  const places = new Uint8Array(bitmapBytes)
  for (let at = 0; at < value.length; at += 2) addPlace(places, readU16(value, at))
  return places
}

/** Leaves only what is in both. */
export function keepBoth(places: SlicePlaces, others: SlicePlaces): void {
  for (let i = 0; i < bitmapBytes; i += 1) places[i] = (places[i] ?? 0) & (others[i] ?? 0)
}

/** Leaves only the places from one on and below another, which may lie outside the slice. */
export function keepBetween(places: SlicePlaces, from: number, below: number): void {
  if (from <= 0 && below >= logSliceEntries) return
  for (let i = 0; i < bitmapBytes; i += 1) {
    for (let place = 8 * i; place < 8 * i + 8; place += 1) {
      if (place < from || place >= below) places[i] = (places[i] ?? 0) & ~(1 << (place & 7))
    }
  }
}

/** Number of bits of each byte. */
const bitsOf = Uint8Array.from(
  { length: 256 },
  (_, byte) => byte.toString(2).replaceAll('0', '').length,
)

export function countPlaces(places: SlicePlaces): number {
  let count = 0
  for (let i = 0; i < bitmapBytes; i += 1) count += bitsOf[places[i] ?? 0] ?? 0
  return count
}

/** Greatest first. */
export function newestPlaces(places: SlicePlaces): readonly number[] {
  const newest: number[] = []
  for (let i = bitmapBytes - 1; i >= 0; i -= 1) {
    const byte = places[i] ?? 0
    for (let bit = 7; byte !== 0 && bit >= 0; bit -= 1) {
      if (((byte >>> bit) & 1) === 1) newest.push(8 * i + bit)
    }
  }
  return newest
}

/*
 * Buckets of ids.
 */

const bucketBits = 6
export const buckets = 2 ** bucketBits
const otherBits = 8 - bucketBits
const memberBytes = auditDigestBytes + 2

/** @param term the key of an id */
export const bucketOf = (term: Uint8Array): number => byteAt(term, digestAt) >>> otherBits

export const kindOf = (key: Uint8Array): number => byteAt(key, kindAt)

export const isOfId = (term: Uint8Array): boolean => term[kindAt] === idKind

/** Returns the key of a bucket without a slice. */
export function bucketKey(bucket: number): Uint8Array {
  const key = indexKey(idKind)
  key[digestAt] = bucket << otherBits
  return key
}

/** Returns the key of the buckets of one number of a whole chunk. */
export function chunkBucketKey(bucket: number, chunk: number): Uint8Array {
  const key = bucketKey(bucket)
  key[kindAt] = chunkKind
  return atSlice(key, chunk * logChunkEntries)
}

/** Returns the key under which a term is stored: that of its bucket, if it is an id. */
export const storedKey = (term: Uint8Array): Uint8Array =>
  isOfId(term) ? bucketKey(bucketOf(term)) : term

/** Adds an id to the bytes of its bucket. */
export function addMember(bucket: number[], term: Uint8Array, place: number): void {
  for (let i = 0; i < auditDigestBytes; i += 1) bucket.push(byteAt(term, digestAt + i))
  bucket.push(place >>> 8, place & 0xff)
}

/** Returns the bytes of a bucket, with a number added to each place. */
export function movedMembers(value: Uint8Array, by: number): Uint8Array {
  assertStored(value.length % memberBytes === 0, 'a bucket of the index of the log')
  const moved = new Uint8Array(value)
  for (let at = auditDigestBytes; at < moved.length; at += memberBytes) {
    writeU16(moved, at, readU16(moved, at) + by)
  }
  return moved
}

/**
 * Returns each id of a bucket with its place, as one text.
 * @throws ApiError `storage_corrupt`
 */
export function bucketMembers(value: Uint8Array): readonly string[] {
  assertStored(value.length % memberBytes === 0, 'a bucket of the index of the log')
  const text = bufferOf(value).toString('latin1')
  const count = value.length / memberBytes
  return Array.from({ length: count }, (_, i) => text.slice(i * memberBytes, (i + 1) * memberBytes))
}

function isMember(value: Uint8Array, at: number, term: Uint8Array): boolean {
  for (let i = 0; i < auditDigestBytes; i += 1) {
    if (value[at + i] !== term[digestAt + i]) return false
  }
  return true
}

function placesInBucket(value: Uint8Array, term: Uint8Array): SlicePlaces | undefined {
  assertStored(value.length % memberBytes === 0, 'a bucket of the index of the log')
  let places: SlicePlaces | undefined
  for (let at = 0; at < value.length; at += memberBytes) {
    if (!isMember(value, at, term)) continue
    places ??= new Uint8Array(bitmapBytes)
    addPlace(places, readU16(value, at + auditDigestBytes))
  }
  return places
}

/**
 * Reads the places of an id from the buckets of a whole chunk: those within each stretch of
 * `logSliceEntries`, by its first sequence.
 * @throws ApiError `storage_corrupt`
 */
export function placesInChunk(
  value: Uint8Array,
  term: Uint8Array,
  chunk: number,
): ReadonlyMap<number, SlicePlaces> {
  assertStored(value.length % memberBytes === 0, 'the buckets of a chunk of the log')
  const found = new Map<number, SlicePlaces>()
  const bytes = bufferOf(value)
  const digest = term.subarray(digestAt, firstAt)
  for (let at = bytes.indexOf(digest); at >= 0; at = bytes.indexOf(digest, at + 1)) {
    if (at % memberBytes !== 0) continue
    const place = readU16(value, at + auditDigestBytes)
    const within = place % logSliceEntries
    const first = chunk * logChunkEntries + place - within
    const places = found.get(first) ?? new Uint8Array(bitmapBytes)
    addPlace(places, within)
    found.set(first, places)
  }
  return found
}

/**
 * Reads the places of a term from the value under its key.
 * @returns `undefined` if it has none there
 * @throws ApiError `storage_corrupt`
 */
export const placesOfTerm = (term: Uint8Array, value: Uint8Array): SlicePlaces | undefined =>
  isOfId(term) ? placesInBucket(value, term) : decodePlaces(value)
