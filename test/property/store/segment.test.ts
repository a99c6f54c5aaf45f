/**
 * A segment of the tail against plain maps: rows come, change and go in any order.
 * @module
 */
import { termBytes, uniqueBytes } from '../../../src/limits/work-limits.ts'
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { chunkOrdinals, digestPrefixes } from '../../../src/store/core/limits.ts'
import {
  addRow,
  dropRow,
  emptySegment,
  holderOf,
  placesOfTerm,
  termsOfPrefix,
  uniquesOfPrefix,
  type TailSegment,
} from '../../../src/store/lmdb/index/segment.ts'
import { chunkOf, lowOf, placesOf } from '../../../src/store/core/place-set.ts'
import { placeSetOf } from '../../../src/store/lmdb/index/postings.ts'
import { storedRow } from '../../../src/store/core/row.ts'

/** Few first bytes, and one more by which any two differ, wherever that stands. */
const digestOf = (name: number, bytes: number): Uint8Array => {
  const digest = new Uint8Array(bytes).fill(7)
  digest[0] = name % 3 === 0 ? 255 : name % 2
  digest[1 + (name % (bytes - 1))] = name + 8
  return digest
}

const unique = (name: number) => digestOf(name, uniqueBytes)
const term = (name: number) => digestOf(name, termBytes)
const names = 120

interface Known {
  readonly uniques: readonly number[]
  readonly terms: readonly number[]
  readonly version: number
}

const clearOf = ({ uniques, terms, version }: Known): Uint8Array =>
  storedRow(0, { uniques: uniques.map(unique), terms: terms.map(term), version, parts: [] }).clear

const name = fc.integer({ min: 0, max: names - 1 })

/** Around the end of a chunk, so that one term has places in two. */
const ordinal = fc.integer({ min: chunkOrdinals - 20, max: chunkOrdinals + 20 })

const step = fc.record({
  ordinal,
  terms: fc.uniqueArray(name, { maxLength: 12 }),
  uniques: fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
  version: fc.integer({ min: 1, max: 9 }),
  isDropped: fc.boolean(),
})

function checkUniques(segment: TailSegment, rows: ReadonlyMap<number, Known>): void {
  const holders = new Map<number, { ordinal: number; version: number }>()
  for (const [held, { uniques, version }] of rows) {
    for (const each of uniques) holders.set(each, { ordinal: held, version })
  }
  for (let each = 0; each < names; each += 1) {
    expect(holderOf(segment, unique(each))).toEqual(holders.get(each))
  }
  const all = Array.from({ length: digestPrefixes }, (_, prefix) =>
    uniquesOfPrefix(segment, prefix),
  )
  expect(all.flat().map(({ unique: digest }) => Buffer.from(digest).toString('hex'))).toEqual(
    [...holders.keys()].map(each => Buffer.from(unique(each)).toString('hex')).sort(),
  )
  for (const { holder } of all.flat()) expect(holder).toBeDefined()
}

function checkTerms(segment: TailSegment, rows: ReadonlyMap<number, Known>): void {
  const wanted = new Map<string, number[]>()
  for (const held of [...rows.keys()].sort((a, b) => a - b)) {
    for (const each of rows.get(held)?.terms ?? []) {
      const key = `${chunkOf(held)} ${Buffer.from(term(each)).toString('hex')}`
      wanted.set(key, [...(wanted.get(key) ?? []), lowOf(held)])
    }
  }
  const found = new Map<string, number[]>()
  for (let prefix = 0; prefix < digestPrefixes; prefix += 1) {
    for (const { term: digest, chunk, places } of termsOfPrefix(segment, prefix)) {
      expect(digest[0]).toBe(prefix)
      const key = `${chunk} ${Buffer.from(digest).toString('hex')}`
      found.set(key, [...placesOf(placeSetOf(places))])
      expect(placesOfTerm(segment, digest, chunk)).toEqual(places)
    }
  }
  expect(found).toEqual(wanted)
}

test('a segment finds what maps find, in the order of digests', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const segment = emptySegment()
      const rows = new Map<number, Known>()
      for (const { ordinal: at, isDropped, ...row } of steps) {
        dropRow(segment, at)
        rows.delete(at)
        if (isDropped) continue
        // A unique has one holder: the store refuses another one before it comes here.
        const held = new Set([...rows.values()].flatMap(({ uniques }) => uniques))
        const uniques = row.uniques.filter(each => !held.has(each))
        if (uniques.length === 0) continue
        expect(addRow(segment, at, clearOf({ ...row, uniques }))).toBe(true)
        rows.set(at, { ...row, uniques })
      }
      checkUniques(segment, rows)
      checkTerms(segment, rows)
      const digests = [...rows.values()].map(({ uniques, terms }) => uniques.length + terms.length)
      expect(segment.digests).toBe(digests.reduce((sum, count) => sum + count, 0))
    }),
    { numRuns: 150 },
  )
})

test('a row whose unique another one holds is told, and takes it', () => {
  const segment = emptySegment()
  expect(addRow(segment, 1, clearOf({ uniques: [1, 2], terms: [], version: 1 }))).toBe(true)
  expect(addRow(segment, 2, clearOf({ uniques: [3, 2], terms: [], version: 4 }))).toBe(false)
  expect(holderOf(segment, unique(2))).toEqual({ ordinal: 2, version: 4 })
  dropRow(segment, 1)
  expect(holderOf(segment, unique(1))).toBeUndefined()
  expect(holderOf(segment, unique(2))).toEqual({ ordinal: 2, version: 4 })
})

test('a segment of nothing leads nowhere', () => {
  expect(holderOf(emptySegment(), unique(1))).toBeUndefined()
  expect(placesOfTerm(emptySegment(), term(1), 0)).toBeUndefined()
})

test('a header that is kept is a copy', () => {
  const segment = emptySegment()
  const clear = clearOf({ uniques: [1], terms: [5], version: 7 })
  addRow(segment, 1, clear)
  clear.fill(0)
  expect(holderOf(segment, unique(1))).toEqual({ ordinal: 1, version: 7 })
})

test('thousands of rows are found, and what is not there is not', () => {
  const segment = emptySegment()
  const wide = (at: number, bytes: number) => {
    const digest = new Uint8Array(bytes)
    new DataView(digest.buffer).setUint32(0, Math.imul(at, 2_654_435_761))
    return digest
  }
  const count = 5_000
  for (let at = 0; at < count; at += 1) {
    const row = { uniques: [wide(at, uniqueBytes)], terms: [wide(at, termBytes), term(1)] }
    addRow(segment, at, storedRow(0, { ...row, version: 1, parts: [] }).clear)
  }
  for (let at = 0; at < count; at += 1) {
    expect(holderOf(segment, wide(at, uniqueBytes))?.ordinal).toBe(at)
    expect(holderOf(segment, wide(at + count, uniqueBytes))).toBeUndefined()
    expect(placesOfTerm(segment, wide(at, termBytes), 0)).toBe(at)
    expect(placesOfTerm(segment, wide(at, termBytes), 1)).toBeUndefined()
  }
  expect(placesOf(placeSetOf(placesOfTerm(segment, term(1), 0))).length).toBe(count)
})
