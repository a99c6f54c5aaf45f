import { deadlineMsMax } from '../../../src/limits/work-limits.ts'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { storedRow } from '../../../src/store/core/row.ts'
import { ordinalMax } from '../../../src/store/core/limits.ts'
import type { NewRow } from '../../../src/store/contract.ts'
import type { LmdbEnvironment } from '../../../src/store/lmdb/environment.ts'
import { deadlinesOfStore, termsOfStore } from '../../../src/store/lmdb/index/postings.ts'
import { chunkOf, lowOf, ordinalOf } from '../../../src/store/core/place-set.ts'
import {
  decodeDeadline,
  dueRange,
  encodeDeadline,
  decodeRowKey,
  encodeRowKey,
  decodeRowVersion,
  encodeRowVersion,
} from '../../../src/store/lmdb/layout.ts'
import { decodeRow, encodeRow } from '../../../src/store/core/row-format.ts'

/** Numbers of all sizes, not only great ones. */
const upTo = (max: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.nat({ max: 300 }),
    fc.maxSafeInteger().map(n => Math.abs(n) % (max + 1)),
  )

const ordinals = upTo(ordinalMax)
const instants = upTo(deadlineMsMax)
const chunks = upTo(2 ** 32 - 1)
const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

/** Returns the order that keys must have, by the numbers that they stand for. */
const orderOf = (a: number, b: number): -1 | 0 | 1 => (a < b ? -1 : a > b ? 1 : 0)

describe('keys', () => {
  test('a row key comes back, and keys sort as their ordinals', () => {
    const property = fc.property(ordinals, ordinals, (a, b) => {
      expect(decodeRowKey(encodeRowKey(a))).toBe(a)
      expect(Buffer.compare(encodeRowKey(a), encodeRowKey(b))).toBe(orderOf(a, b))
    })
    fc.assert(property)
    expect(encodeRowKey(258)).toEqual(Uint8Array.of(0, 0, 0, 0, 1, 2))
  })

  test('an ordinal is its chunk and its place', () => {
    const property = fc.property(ordinals, ordinal => {
      expect(ordinalOf(chunkOf(ordinal), lowOf(ordinal))).toBe(ordinal)
      expect(lowOf(ordinal)).toBeLessThan(65_536)
    })
    fc.assert(property)
    expect([chunkOf(65_535), lowOf(65_535), chunkOf(65_536), lowOf(65_536)]).toEqual([
      0, 65_535, 1, 0,
    ])
  })

  const noTables = {} as LmdbEnvironment
  const terms = termsOfStore(noTables)
  const deadlines = deadlinesOfStore(noTables)

  test('a key of a term comes back, and keys sort by chunk, then term', () => {
    const property = fc.property(bytesOf(16), bytesOf(16), chunks, chunks, (s, t, a, b) => {
      expect(terms.decodeKey(terms.encodeKey(s, a))).toEqual({ shared: s, chunk: a })
      const order = orderOf(a, b) || Buffer.compare(s, t)
      expect(Buffer.compare(terms.encodeKey(s, a), terms.encodeKey(t, b))).toBe(order)
    })
    fc.assert(property)
  })

  test('a key of a deadline comes back, and keys sort by deadline, then chunk', () => {
    const property = fc.property(bytesOf(6), bytesOf(6), chunks, chunks, (s, t, a, b) => {
      expect(deadlines.decodeKey(deadlines.encodeKey(s, a))).toEqual({ shared: s, chunk: a })
      const order = Buffer.compare(s, t) || orderOf(a, b)
      expect(Buffer.compare(deadlines.encodeKey(s, a), deadlines.encodeKey(t, b))).toBe(order)
    })
    fc.assert(property)
  })

  test('a deadline comes back, and due are those after one instant and up to another', () => {
    const earlier = fc.oneof(fc.constant(-1), instants)
    const times = [instants, earlier, instants, chunks] as const
    const property = fc.property(...times, (deadlineMs, afterMs, nowMs, chunk) => {
      expect(decodeDeadline(encodeDeadline(deadlineMs))).toBe(deadlineMs)
      const range = dueRange(nowMs, afterMs)
      const key = deadlines.encodeKey(encodeDeadline(deadlineMs), chunk)
      const { start = key, end } = range ?? {}
      const isBelowEnd = end === undefined || Buffer.compare(key, end) < 0
      const isDue = range !== undefined && Buffer.compare(key, start) >= 0 && isBelowEnd
      expect(isDue).toBe(afterMs < deadlineMs && deadlineMs <= nowMs)
    })
    fc.assert(property)
    expect(dueRange(-1)).toBeUndefined()
    expect(dueRange(deadlineMsMax)?.end).toBeUndefined()
  })
})

const rows: fc.Arbitrary<NewRow> = fc.record(
  {
    version: upTo(2 ** 32 - 2).map(version => version + 1),
    deadlineMs: instants,
    uniques: fc.array(bytesOf(32), { minLength: 1, maxLength: 4 }),
    terms: fc.array(bytesOf(16), { maxLength: 9 }),
    parts: fc.array(fc.uint8Array({ maxLength: 70 }), { maxLength: 4 }),
  },
  { requiredKeys: ['version', 'uniques', 'terms', 'parts'] },
)

const decodes = (value: Uint8Array): boolean => {
  try {
    return decodeRow(value, 1).ordinal === 1
  } catch {
    return false
  }
}

describe('values', () => {
  test('a unique entry comes back', () => {
    const property = fc.property(ordinals, upTo(2 ** 32 - 1), (ordinal, version) => {
      const entry = { ordinal, version }
      expect(decodeRowVersion(encodeRowVersion(entry))).toEqual(entry)
    })
    fc.assert(property)
  })

  test('a row comes back with its ordinal', () => {
    const property = fc.property(rows, ordinals, (row, ordinal) => {
      expect(decodeRow(encodeRow(row), ordinal)).toEqual(storedRow(ordinal, row))
    })
    fc.assert(property)
  })

  test('a row that lost or gained bytes at its end is none', () => {
    const property = fc.property(rows, fc.nat(), (row, cut) => {
      const value = encodeRow(row)
      expect(decodes(value.subarray(0, cut % value.length))).toBe(false)
      expect(decodes(Uint8Array.of(...value, 0))).toBe(false)
    })
    fc.assert(property)
  })

  test('bytes that decode are the bytes that the row encodes to', () => {
    const property = fc.property(rows, fc.nat(), fc.nat({ max: 255 }), (row, at, byte) => {
      const value = encodeRow(row)
      value[at % Math.min(value.length, 60)] = byte
      if (decodes(value)) expect(encodeRow(decodeRow(value, 1))).toEqual(value)
    })
    fc.assert(property, { numRuns: 500 })
  })
})
