/**
 * Chunks of ordinals, and sets of places within one chunk (0 to 65,535) with their algebra.
 *
 * A small set is a sorted array of u16, a large one a bitmap of 2,048 u32 words. Arrays have at
 * most 4,095 entries; a bitmap may have any number, so no operation has to count. Sets are
 * immutable once made, and operations share their inputs if they can. Source: the idea of roaring
 * bitmaps (Chambi and others, 2014).
 * @module
 */
import { chunkArrayEntriesMax, chunkOrdinals } from './limits.ts'
import { assertStored } from '../../lib/errors.ts'

export const chunkOf = (ordinal: number): number => Math.floor(ordinal / chunkOrdinals)

/** The place of an ordinal within its chunk. */
export const lowOf = (ordinal: number): number => ordinal % chunkOrdinals

export const ordinalOf = (chunk: number, low: number): number => chunk * chunkOrdinals + low

type SmallSet = Uint16Array
export type Bitmap = Uint32Array
export type PlaceSet = SmallSet | Bitmap

const wordBits = 32
const bitmapWords = chunkOrdinals / wordBits
/** Above this ratio of sizes, looking up each entry beats walking both. */
const searchRatio = 32

export const emptySet: SmallSet = new Uint16Array(0)

const isBitmap = (set: PlaceSet): set is Bitmap => set instanceof Uint32Array

/** Bits of a word. Source: Hacker's Delight, section 5-1. */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

export function countOf(set: PlaceSet): number {
  if (!isBitmap(set)) return set.length
  let count = 0
  for (let i = 0; i < bitmapWords; i += 1) count += countBits(set[i] ?? 0)
  return count
}

/** Index of the first entry that is not below `low`. */
export function lowerBound(set: SmallSet, low: number): number {
  let from = 0
  let to = set.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((set[middle] ?? 0) < low) from = middle + 1
    else to = middle
  }
  return from
}

export function hasPlace(set: PlaceSet, low: number): boolean {
  if (isBitmap(set)) return (((set[low >>> 5] ?? 0) >>> (low & 31)) & 1) === 1
  return set[lowerBound(set, low)] === low
}

/** Number of places below `low`. */
export function countBelow(set: PlaceSet, low: number): number {
  if (low >= chunkOrdinals) return countOf(set)
  if (!isBitmap(set)) return lowerBound(set, low)
  const last = low >>> 5
  let count = 0
  for (let i = 0; i < last; i += 1) count += countBits(set[i] ?? 0)
  return count + countBits((set[last] ?? 0) & ((1 << (low & 31)) - 1))
}

/** All places, ascending. */
export function placesOf(set: PlaceSet): Uint16Array {
  if (!isBitmap(set)) return set
  const places = new Uint16Array(countOf(set))
  let count = 0
  for (let i = 0; i < bitmapWords; i += 1) {
    for (let word = set[i] ?? 0; word !== 0; word &= word - 1) {
      places[count] = i * wordBits + 31 - Math.clz32(word & -word)
      count += 1
    }
  }
  return places
}

/** All places, ascending, generated one at a time, so that reading only the first few is cheap. */
export function* eachPlace(set: PlaceSet): Generator<number> {
  if (!isBitmap(set)) return yield* set
  for (let i = 0; i < bitmapWords; i += 1) {
    for (let word = set[i] ?? 0; word !== 0; word &= word - 1) {
      yield i * wordBits + 31 - Math.clz32(word & -word)
    }
  }
}

/** Returns a new bitmap, which the caller may change. */
export function copyToBitmap(set: PlaceSet): Bitmap {
  if (isBitmap(set)) return set.slice()
  const bitmap = new Uint32Array(bitmapWords)
  addPlaces(bitmap, set)
  return bitmap
}

export function addPlaces(bitmap: Bitmap, places: ArrayLike<number>): void {
  for (let i = 0; i < places.length; i += 1) {
    const low = places[i] ?? 0
    bitmap[low >>> 5] = (bitmap[low >>> 5] ?? 0) | (1 << (low & 31))
  }
}

function addSet(bitmap: Bitmap, set: PlaceSet): void {
  if (!isBitmap(set)) addPlaces(bitmap, set)
  else for (let i = 0; i < bitmapWords; i += 1) bitmap[i] = (bitmap[i] ?? 0) | (set[i] ?? 0)
}

/** @param places  in any order, without duplicates */
export function setOf(places: readonly number[]): PlaceSet {
  if (places.length === 0) return emptySet
  if (places.length <= chunkArrayEntriesMax) return new Uint16Array(places).sort()
  const bitmap = new Uint32Array(bitmapWords)
  addPlaces(bitmap, places)
  return bitmap
}

/** Looks up each place of a small set in another one; keeps those that are, or are not, there. */
function lookUpPlaces(set: SmallSet, other: PlaceSet, wanted: boolean): SmallSet {
  const kept = new Uint16Array(set.length)
  let count = 0
  for (let i = 0; i < set.length; i += 1) {
    const low = set[i] ?? 0
    if (hasPlace(other, low) === wanted) {
      kept[count] = low
      count += 1
    }
  }
  return kept.subarray(0, count)
}

/** Like `lookUpPlaces`, but walks both sets. */
function mergePlaces(set: SmallSet, other: SmallSet, wanted: boolean): SmallSet {
  const kept = new Uint16Array(set.length)
  let count = 0
  for (let i = 0, j = 0; i < set.length; i += 1) {
    const low = set[i] ?? 0
    while (j < other.length && (other[j] ?? 0) < low) j += 1
    if ((other[j] === low) === wanted) {
      kept[count] = low
      count += 1
    }
  }
  return kept.subarray(0, count)
}

function filterPlaces(set: SmallSet, other: PlaceSet, wanted: boolean): SmallSet {
  const isLookedUp = isBitmap(other) || set.length * searchRatio < other.length
  return isLookedUp ? lookUpPlaces(set, other, wanted) : mergePlaces(set, other, wanted)
}

function intersectBitmaps(a: Bitmap, b: Bitmap): Bitmap {
  const both = new Uint32Array(bitmapWords)
  for (let i = 0; i < bitmapWords; i += 1) both[i] = (a[i] ?? 0) & (b[i] ?? 0)
  return both
}

export function intersect(a: PlaceSet, b: PlaceSet): PlaceSet {
  if (isBitmap(a)) return isBitmap(b) ? intersectBitmaps(a, b) : filterPlaces(b, a, true)
  if (isBitmap(b) || a.length <= b.length) return filterPlaces(a, b, true)
  return filterPlaces(b, a, true)
}

function uniteSmall(a: SmallSet, b: SmallSet): SmallSet {
  const all = new Uint16Array(a.length + b.length)
  let count = 0
  for (let i = 0, j = 0; i < a.length || j < b.length; count += 1) {
    const left = a[i] ?? chunkOrdinals
    const right = b[j] ?? chunkOrdinals
    all[count] = Math.min(left, right)
    if (left <= right) i += 1
    if (right <= left) j += 1
  }
  return all.subarray(0, count)
}

export function unite(a: PlaceSet, b: PlaceSet): PlaceSet {
  if (a.length === 0) return b
  if (b.length === 0) return a
  if (isBitmap(b) && !isBitmap(a)) return unite(b, a)
  const isSmall = !isBitmap(a) && a.length + b.length <= chunkArrayEntriesMax
  if (isSmall && !isBitmap(b)) return uniteSmall(a, b)
  const all = copyToBitmap(a)
  addSet(all, b)
  return all
}

/** Like `unite`, for many sets, without a new set at each step. */
export function uniteAll(sets: readonly PlaceSet[]): PlaceSet {
  const filled = sets.filter(({ length }) => length > 0)
  const [first = emptySet, second = emptySet] = filled
  if (filled.length <= 2) return unite(first, second)
  const all = copyToBitmap(first)
  for (let i = 1; i < filled.length; i += 1) addSet(all, filled[i] ?? emptySet)
  return all
}

/** Places of `a` that are not in `b`. */
export function subtract(a: PlaceSet, b: PlaceSet): PlaceSet {
  if (b.length === 0) return a
  if (!isBitmap(a)) return filterPlaces(a, b, false)
  const rest = copyToBitmap(a)
  if (isBitmap(b)) {
    for (let i = 0; i < bitmapWords; i += 1) rest[i] = (rest[i] ?? 0) & ~(b[i] ?? 0)
    return rest
  }
  for (let i = 0; i < b.length; i += 1) {
    const low = b[i] ?? 0
    rest[low >>> 5] = (rest[low >>> 5] ?? 0) & ~(1 << (low & 31))
  }
  return rest
}

function pickFromBitmap(set: Bitmap, below: number, skip: number, limit: number): number[] {
  const picked: number[] = []
  let passed = 0
  const last = (below - 1) >>> 5
  for (let i = last; i >= 0 && picked.length < limit; i -= 1) {
    let word = set[i] ?? 0
    if (i === last && (below & 31) !== 0) word &= (1 << (below & 31)) - 1
    const bits = countBits(word)
    if (passed + bits <= skip) {
      passed += bits
      continue
    }
    for (; word !== 0 && picked.length < limit; passed += 1) {
      const bit = 31 - Math.clz32(word)
      if (passed >= skip) picked.push(i * wordBits + bit)
      word &= ~(1 << bit)
    }
  }
  return picked
}

/** Places below `below`, greatest first, after the first `skip`, at most `limit`. */
export function pickNewest(set: PlaceSet, below: number, skip: number, limit: number): number[] {
  if (isBitmap(set)) return below > 0 ? pickFromBitmap(set, below, skip, limit) : []
  const to = Math.max(0, lowerBound(set, below) - skip)
  return Array.from(set.subarray(Math.max(0, to - limit), to)).reverse()
}

/*
 * Place sets on disk: up to 4,095 places as little-endian u16, ascending, or a bitmap of 8,192
 * bytes. The length tells them apart. The places 1, 2 and 258 are `01 00 · 02 00 · 02 01`.
 *
 * Every set has exactly one form, so equal sets have equal bytes: the bitmap from 4,096 entries on,
 * and no entry at all for the empty set, whose key is removed. Big-endian platforms are not
 * supported, nor is moving the file to one.
 */

const bitmapBytes = bitmapWords * 4

/** `undefined` for the empty set, which has no entry; a view if the set has its stored form. */
export function encodePlaceSet(set: PlaceSet): Uint8Array | undefined {
  const count = countOf(set)
  if (count === 0) return undefined
  const stored = count <= chunkArrayEntriesMax ? placesOf(set) : set
  return new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength)
}

/** A view of words must start at a multiple of the word size. */
const isAligned = (bytes: Uint8Array, size: number): boolean => bytes.byteOffset % size === 0

/** @throws ApiError `storage_corrupt` when the length is one that is never written */
export function decodePlaceSet(value: Uint8Array): PlaceSet {
  if (value.length === bitmapBytes) {
    const bytes = isAligned(value, 4) ? value : new Uint8Array(value)
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bitmapWords)
  }
  const count = value.length / 2
  assertStored(
    Number.isInteger(count) && count > 0 && count <= chunkArrayEntriesMax,
    'a chunk of a known length',
  )
  const bytes = isAligned(value, 2) ? value : new Uint8Array(value)
  return new Uint16Array(bytes.buffer, bytes.byteOffset, count)
}

/** True if a decoded set is in its one form: ascending, and a bitmap only if it must be one. */
export function isCanonical(set: PlaceSet): boolean {
  if (isBitmap(set)) return countOf(set) > chunkArrayEntriesMax
  return set.every((low, i) => i === 0 || low > (set[i - 1] ?? 0))
}
