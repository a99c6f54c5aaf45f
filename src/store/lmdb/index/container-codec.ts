/**
 * Containers on disk: little-endian u16, ascending, up to 4,095 of them, or a bitmap of 8,192
 * bytes. The length tells them apart. The places 1, 2 and 258 are `01 00 · 02 00 · 02 01`.
 *
 * Every set has exactly one form, so equal sets have equal bytes: the bitmap only from 4,096
 * entries on, and nothing at all for the empty set, whose key is removed.
 * Platforms with big-endian words are not supported, and neither is a move of the file to one.
 * @module
 */
import { chunkArrayEntriesMax } from '../../../limits.ts'
import { assertStored } from '../../corrupt.ts'
import { bitmapWords, countOf, isBitmap, placesOf, type Container } from './container.ts'

const bitmapBytes = bitmapWords * 4

/** `undefined` for the empty set, which has no entry; a view of the set where it has that form. */
export function encodeContainer(set: Container): Uint8Array | undefined {
  const count = countOf(set)
  if (count === 0) return undefined
  const stored = count <= chunkArrayEntriesMax ? placesOf(set) : set
  return new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength)
}

/** A view of whole words needs them to begin at a multiple of their size. */
const isAligned = (bytes: Uint8Array, size: number): boolean => bytes.byteOffset % size === 0

/** @throws ApiError `storage_corrupt` when the length is none that is ever written */
export function decodeContainer(value: Uint8Array): Container {
  if (value.length === bitmapBytes) {
    const bytes = isAligned(value, 4) ? value : Uint8Array.from(value)
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bitmapWords)
  }
  const count = value.length / 2
  assertStored(
    Number.isInteger(count) && count > 0 && count <= chunkArrayEntriesMax,
    'a chunk of a known length',
  )
  const bytes = isAligned(value, 2) ? value : Uint8Array.from(value)
  return new Uint16Array(bytes.buffer, bytes.byteOffset, count)
}

/** Whether a decoded set is in its one form: ascending, and a bitmap only when it must be one. */
export function isCanonical(set: Container): boolean {
  if (isBitmap(set)) return countOf(set) > chunkArrayEntriesMax
  return set.every((low, i) => i === 0 || low > (set[i - 1] ?? 0))
}
