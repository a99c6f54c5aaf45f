import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { countKeyPiecesMax, keptCountsMax } from '../../../../../src/store/core/limits.ts'
import type { Query } from '../../../../../src/store/contract.ts'
import {
  countKeyOf,
  noChunkCounts,
  makeChunkCounts,
} from '../../../../../src/store/lmdb/index/postings.ts'
import { termOf, uniqueOf } from '../../../../store/rows.ts'

const seven = { term: termOf(7) }
const eight = { term: termOf(8) }

const { query: queries } = fc.letrec<{ query: Query }>(tie => ({
  query: fc.oneof(
    { maxDepth: 3 },
    fc.nat({ max: 2 }).map(number => ({ term: termOf(number) })),
    fc.array(tie('query'), { minLength: 1, maxLength: 2 }).map(all => ({ all })),
    fc.array(tie('query'), { maxLength: 2 }).map(any => ({ any })),
    fc.record({ from: tie('query'), except: tie('query') }),
  ),
}))

describe('the key of a query', () => {
  test('is that of an equal query, and of no other', () => {
    const property = fc.property(queries, queries, (some, other) => {
      // One that is too wide has none.
      fc.pre(countKeyOf(some) !== undefined || countKeyOf(other) !== undefined)
      const isEqual = Bun.deepEquals(some, other)
      expect(countKeyOf(some) === countKeyOf(other)).toBe(isEqual)
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  test.each<[string, Query]>([
    ['a unique', { unique: uniqueOf(1) }],
    ['ordinals', { ordinals: [3] }],
    ['a unique within', { any: [seven, { unique: uniqueOf(1) }] }],
    ['ordinals within', { from: { all: [seven, { ordinals: [3] }] }, except: eight }],
    ['ordinals that are left out', { from: seven, except: { ordinals: [3] } }],
  ])('is of terms alone: %s has none', (_, query) => {
    expect(countKeyOf(query)).toBeUndefined()
  })

  test('is of few terms: a wide query has none, and is not walked to its end', () => {
    const wide = (terms: number): Query => ({ any: Array.from({ length: terms }, () => seven) })
    expect(countKeyOf(wide(countKeyPiecesMax - 1))).toBeDefined()
    expect(countKeyOf(wide(countKeyPiecesMax))).toBeUndefined()
  })
})

describe('counts of chunks', () => {
  test('are known once they were kept, of that query and that chunk', () => {
    const counts = makeChunkCounts()
    counts.keep('a', 1, 40)
    expect(counts.get('a', 1)).toBe(40)
    expect(counts.get('b', 1)).toBeUndefined()
    expect(counts.get('a', 2)).toBeUndefined()
    expect(counts.get(undefined, 1)).toBeUndefined()
  })

  test('are never kept of a query without a key', () => {
    const counts = makeChunkCounts()
    counts.keep(undefined, 1, 40)
    expect(counts.get(undefined, 1)).toBeUndefined()
  })

  test('are forgotten when a commit moves rows of their chunk, and of no other', () => {
    const counts = makeChunkCounts()
    for (const chunk of [1, 2, 3]) counts.keep('a', chunk, chunk)
    counts.begin([1, 3])
    expect([1, 2, 3].map(chunk => counts.get('a', chunk))).toEqual([undefined, 2, undefined])
    counts.end()
    expect([1, 2, 3].map(chunk => counts.get('a', chunk))).toEqual([undefined, 2, undefined])
  })

  test('are not kept while that commit runs, and are again when it ended', () => {
    const counts = makeChunkCounts()
    counts.begin([1])
    counts.keep('a', 1, 40)
    counts.keep('a', 2, 50)
    counts.end()
    expect([1, 2].map(chunk => counts.get('a', chunk))).toEqual([undefined, 50])
    counts.keep('a', 1, 41)
    expect(counts.get('a', 1)).toBe(41)
  })

  test('are bounded: one too many begins anew', () => {
    const counts = makeChunkCounts()
    for (let chunk = 0; chunk < keptCountsMax; chunk += 1) counts.keep('a', chunk, chunk)
    counts.begin([0])
    counts.end()
    counts.keep('b', 0, 7)
    expect([counts.get('a', 1), counts.get('b', 0)]).toEqual([1, 7])
    counts.keep('c', 0, 8)
    expect([counts.get('a', 1), counts.get('b', 0)]).toEqual([undefined, undefined])
    expect(counts.get('c', 0)).toBe(8)
  })

  test('are never kept where other processes write', () => {
    noChunkCounts.keep('a', 1, 40)
    expect(noChunkCounts.get('a', 1)).toBeUndefined()
  })
})
