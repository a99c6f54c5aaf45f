import { describe, expect, test } from 'bun:test'
import { ApiError } from '../../../../src/lib/errors.ts'
import { decodePlaceSet, isCanonical, copyToBitmap } from '../../../../src/store/core/place-set.ts'
import type { LmdbEnvironment } from '../../../../src/store/lmdb/environment.ts'
import { deadlinesOfStore, termsOfStore } from '../../../../src/store/lmdb/index/postings.ts'
import {
  decodeDeadline,
  decodeRowKey,
  decodeRowVersion,
} from '../../../../src/store/lmdb/layout.ts'
import { decodeRow, encodeRow } from '../../../../src/store/core/row-format.ts'

const expectCorrupt = (read: () => unknown): void => {
  let fault: unknown
  try {
    read()
  } catch (error) {
    fault = error
  }
  if (!(fault instanceof ApiError)) throw new Error('expected a fault', { cause: fault })
  expect(fault.kind).toBe('storage_corrupt')
  expect(fault.message).not.toContain('171')
}

const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(0xab)

const noTables = {} as LmdbEnvironment

describe('bytes that nothing of ours writes are storage_corrupt', () => {
  test.each<[string, () => unknown]>([
    ['a row key of 5 bytes', () => decodeRowKey(bytes(5))],
    ['a row key of 7 bytes', () => decodeRowKey(bytes(7))],
    ['a unique entry of 9 bytes', () => decodeRowVersion(bytes(9))],
    ['a unique entry of 11 bytes', () => decodeRowVersion(bytes(11))],
    ['a key of a term that is too short', () => termsOfStore(noTables).decodeKey(bytes(19))],
    ['a key of a deadline too long', () => deadlinesOfStore(noTables).decodeKey(bytes(11))],
    ['a deadline of 5 bytes', () => decodeDeadline(bytes(5))],
    ['an empty chunk', () => decodePlaceSet(bytes(0))],
    ['a chunk of odd length', () => decodePlaceSet(bytes(3))],
    ['a chunk longer than a bitmap', () => decodePlaceSet(bytes(8_194))],
    ['an empty row', () => decodeRow(bytes(0), 1)],
    ['a row shorter than its header', () => decodeRow(bytes(16), 1)],
  ])('%s', (_, read) => expectCorrupt(read))

  const row = { version: 1, uniques: [bytes(32)], terms: [bytes(16)], parts: [bytes(3)] }
  test.each([
    ['of another format', 0, 1],
    ['that says neither yes nor no about its deadline', 6, 2],
    ['without deadline, with an instant', 16, 1],
    ['at version 0', 10, 0],
    ['at another version', 10, 2],
    ['with a flipped bit of a unique', 30, 0xaa],
    ['without uniques', 18, 0],
    ['with more uniques than it has bytes', 18, 64],
    ['with too many uniques', 17, 1],
    ['with more terms than it has bytes', 20, 100],
    ['with too many terms', 19, 255],
    ['with more parts than it has bytes', 1, 2],
    ['with fewer parts than it has bytes', 1, 0],
    ['with a part longer than itself', 21 + 32 + 16, 255],
    ['with a part that ends early', 21 + 32 + 16 + 3, 2],
  ])('a row %s', (_, at, byte) => {
    const value = encodeRow(row)
    expect(decodeRow(value, 1).parts).toEqual(row.parts)
    value[at] = byte
    expectCorrupt(() => decodeRow(value, 1))
  })
})

describe('the one form of a chunk', () => {
  test.each([
    ['descending', Uint16Array.of(2, 1)],
    ['with an entry twice', Uint16Array.of(1, 1)],
    ['a bitmap with few entries', copyToBitmap(Uint16Array.of(1, 2))],
  ])('is not one %s', (_, set) => {
    expect(isCanonical(set)).toBe(false)
  })

  test('is an ascending array', () => {
    expect(isCanonical(Uint16Array.of(0, 1, 65_535))).toBe(true)
  })
})
