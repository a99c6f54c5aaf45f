/**
 * Keys and values of the index of the audit log.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import {
  addMember,
  atSlice,
  behindChunk,
  bucketKey,
  bucketOf,
  countPlaces,
  decodePlaces,
  decodeCount,
  decodeSpan,
  digestAt,
  encodePlaces,
  encodeCount,
  encodeSpan,
  idKind,
  indexKey,
  keepBetween,
  keepBoth,
  newestPlaces,
  placesInChunk,
  placesOfTerm,
  sliceOf,
  storedKey,
} from '../../../src/audit/index-format.ts'
import { logChunkEntries, logSliceEntries } from '../../../src/limits/work-limits.ts'

const none = new Uint8Array(0)
const upTo = (count: number, step = 1) => Array.from({ length: count }, (_, i) => i * step)

describe('places of a slice', () => {
  test.each([1, 2, 62, 63, 64, 65, 1_023, 1_024])('%d of them are written and read', count => {
    const listed = upTo(count, Math.floor(logSliceEntries / count))
    const value = encodePlaces(listed)
    expect(value.length).toBe(count <= 63 ? 2 * count : 128)
    const places = decodePlaces(value)
    expect(countPlaces(places)).toBe(count)
    expect(newestPlaces(places)).toEqual(listed.toReversed())
  })

  test('are joined, and cut at both ends', () => {
    const places = decodePlaces(encodePlaces(upTo(500, 2)))
    keepBoth(places, decodePlaces(encodePlaces(upTo(300, 3))))
    keepBetween(places, 6, 25)
    expect(newestPlaces(places)).toEqual([24, 18, 12, 6])
    keepBetween(places, -5, 10_000)
    expect(newestPlaces(places)).toEqual([24, 18, 12, 6])
    keepBetween(places, -5, -1)
    expect(countPlaces(places)).toBe(0)
  })

  test.each([0, 1, 127, 129])('of %d bytes are refused', length => {
    expect(() => decodePlaces(new Uint8Array(length).fill(255))).toThrow('slice of the log')
  })

  test('beyond the slice are refused', () => {
    expect(() => decodePlaces(Uint8Array.of(0x04, 0))).toThrow('within its slice')
    expect(() => encodePlaces(upTo(65, 16))).toThrow('within its slice')
  })
})

describe('ids', () => {
  /** Key of an id. */
  const idTerm = (...digest: readonly number[]): Uint8Array => {
    const term = indexKey(idKind)
    term.set(digest, digestAt)
    return term
  }
  const one = idTerm(0xab, 1, 2, 3, 4, 5)
  const near = idTerm(0xa9, 1, 2, 3, 4, 5)
  const other = idTerm(0xab, 1, 2, 3, 4, 6)

  test('of equal first bits share a key, and other terms have their own', () => {
    expect(storedKey(one)).toEqual(bucketKey(0x2a))
    expect(storedKey(near)).toEqual(bucketKey(bucketOf(one)))
    expect(storedKey(idTerm(0xac))).not.toEqual(storedKey(one))
    const operation = indexKey(4)
    operation.set([0xab, 1, 2, 3, 4, 5], digestAt)
    expect(storedKey(operation)).toBe(operation)
  })

  test('are told apart within their bucket', () => {
    const bucket: number[] = []
    const added = [
      [one, 0],
      [near, 5],
      [one, logSliceEntries - 1],
      [one, logSliceEntries - 1],
    ] as const
    for (const [term, place] of added) addMember(bucket, term, place)
    const value = Uint8Array.from(bucket)
    expect(value.length).toBe(8 * added.length)
    expect(newestPlaces(placesOfTerm(one, value) ?? none)).toEqual([logSliceEntries - 1, 0])
    expect(newestPlaces(placesOfTerm(near, value) ?? none)).toEqual([5])
    expect(placesOfTerm(other, value)).toBeUndefined()
    expect(placesOfTerm(one, new Uint8Array(0))).toBeUndefined()
  })

  test('of a chunk are found where members begin, and not across two of them', () => {
    const digest = one.subarray(digestAt, digestAt + 6)
    const across = Uint8Array.from([1, 2, 3, ...digest, 4, 5, 6, 7, 8, 9, 10])
    const member = Uint8Array.from([...digest, (logSliceEntries + 7) >> 8, 7])
    const value = Uint8Array.from([...across, ...member])
    expect(placesInChunk(across, one, 2).size).toBe(0)
    const found = [...placesInChunk(value, one, 2)]
    const firsts = [[2 * logChunkEntries + logSliceEntries, [7]]]
    expect(found.map(([first, places]) => [first, newestPlaces(places)])).toEqual(firsts)
    expect(() => placesInChunk(value.subarray(1), one, 2)).toThrow('the buckets of a chunk')
  })

  test('of half a bucket, and beyond the slice, are refused', () => {
    expect(() => placesOfTerm(one, new Uint8Array(7))).toThrow('a bucket of the index')
    const bucket: number[] = []
    addMember(bucket, one, logSliceEntries)
    expect(() => placesOfTerm(one, Uint8Array.from(bucket))).toThrow('within its slice')
  })
})

test('keys name a slice, in the order of chunks and slices', () => {
  const key = indexKey(3)
  for (const first of [0, 4_096, logChunkEntries - 1, logChunkEntries, 2 ** 39 + 5]) {
    const sliced = atSlice(key, first)
    expect(sliceOf(sliced)).toBe(first)
    const chunk = Math.floor(first / logChunkEntries)
    expect(Buffer.compare(sliced, atSlice(key, chunk * logChunkEntries))).toBeGreaterThanOrEqual(0)
    expect(Buffer.compare(sliced, behindChunk(key, chunk))).toBe(-1)
  }
  expect(Buffer.compare(behindChunk(key, 0), atSlice(indexKey(4), 0))).toBe(-1)
  expect(() => sliceOf(key.subarray(1))).toThrow('key of the index')
})

test('progress and instants are read as they were written', () => {
  expect(decodeCount(encodeCount(2 ** 40 + 1))).toBe(2 ** 40 + 1)
  const span = { earliestMs: 5, latestMs: Date.UTC(2030, 0, 1) }
  expect(decodeSpan(encodeSpan(span))).toEqual(span)
  expect(() => decodeCount(new Uint8Array(5))).toThrow('expected of the store')
  expect(() => decodeSpan(new Uint8Array(11))).toThrow('expected of the store')
})
