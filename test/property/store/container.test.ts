import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { chunkArrayEntriesMax, chunkOrdinals } from '../../../src/store/core/limits.ts'
import {
  decodePlaceSet,
  encodePlaceSet,
  isCanonical,
  copyToBitmap,
  countBelow,
  countOf,
  eachPlace,
  hasPlace,
  intersect,
  pickNewest,
  placesOf,
  setOf,
  subtract,
  unite,
  uniteAll,
  type PlaceSet,
} from '../../../src/store/core/place-set.ts'

const lows = fc.nat({ max: chunkOrdinals - 1 })

/** Runs of neighbours, so that sets of every size come up without every entry being drawn. */
const runs = fc
  .array(fc.tuple(lows, fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 6_000 }))), { maxLength: 6 })
  .map(list => {
    const places = new Set<number>()
    for (const [from, length] of list) {
      for (let low = from; low < from + length && low < chunkOrdinals; low += 1) places.add(low)
    }
    return places
  })

interface Drawn {
  readonly places: Set<number>
  readonly set: PlaceSet
}

/** Both forms of one set, whatever its size: operations must not care. */
const drawn: fc.Arbitrary<Drawn> = fc
  .tuple(
    fc.oneof(
      fc.uniqueArray(lows, { maxLength: 60 }).map(list => new Set(list)),
      runs,
    ),
    fc.boolean(),
  )
  .map(([places, asBitmap]) => {
    const set = setOf([...places])
    return { places, set: asBitmap ? copyToBitmap(set) : set }
  })

const ascending = (places: Set<number>): number[] => [...places].sort((a, b) => a - b)
const listOf = (set: PlaceSet): number[] => Array.from(placesOf(set))

describe('sets of places', () => {
  test.each<[string, typeof unite, (a: Set<number>, b: Set<number>) => Set<number>]>([
    ['unite', unite, (a, b) => a.union(b)],
    ['intersect', intersect, (a, b) => a.intersection(b)],
    ['subtract', subtract, (a, b) => a.difference(b)],
  ])('%s agrees with plain Sets and changes neither of them', (_, operate, twin) => {
    const property = fc.property(drawn, drawn, (a, b) => {
      const result = operate(a.set, b.set)
      expect(listOf(result)).toEqual(ascending(twin(a.places, b.places)))
      expect(countOf(result)).toBe(twin(a.places, b.places).size)
      expect(result instanceof Uint16Array ? result.length : 0).toBeLessThanOrEqual(4_095)
      expect(listOf(a.set)).toEqual(ascending(a.places))
      expect(listOf(b.set)).toEqual(ascending(b.places))
    })
    fc.assert(property)
  })

  test('the union of many is that of pairs, one after the other', () => {
    const property = fc.property(fc.array(drawn, { maxLength: 5 }), many => {
      const twin = many.reduce((all, { places }) => all.union(places), new Set<number>())
      expect(listOf(uniteAll(many.map(({ set }) => set)))).toEqual(ascending(twin))
      for (const { places, set } of many) expect(listOf(set)).toEqual(ascending(places))
    })
    fc.assert(property)
  })

  test('places are counted and found, up to any bound', () => {
    const property = fc.property(
      drawn,
      fc.nat({ max: chunkOrdinals }),
      ({ places, set }, below) => {
        expect(countBelow(set, below)).toBe([...places].filter(low => low < below).length)
        expect(hasPlace(set, below % chunkOrdinals)).toBe(places.has(below % chunkOrdinals))
      },
    )
    fc.assert(property)
  })

  test('all places are given one at a time, ascending', () => {
    const property = fc.property(drawn, fc.nat({ max: 20 }), ({ places, set }, limit) => {
      expect([...eachPlace(set)]).toEqual(ascending(places))
      expect([...eachPlace(set).take(limit)]).toEqual(ascending(places).slice(0, limit))
    })
    fc.assert(property)
  })

  test('the newest are picked as by sorting all', () => {
    const counts = fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 7_000 }))
    const bounds = fc.nat({ max: chunkOrdinals })
    const property = fc.property(drawn, bounds, counts, counts, (of, below, skip, limit) => {
      const newest = ascending(of.places)
        .filter(low => low < below)
        .reverse()
      expect(pickNewest(of.set, below, skip, limit)).toEqual(newest.slice(skip, skip + limit))
    })
    fc.assert(property)
  })
})

describe('sets of places on disk', () => {
  test('come back as they were, in one form only', () => {
    const property = fc.property(drawn, ({ places, set }) => {
      const bytes = encodePlaceSet(set)
      expect(bytes === undefined).toBe(places.size === 0)
      if (bytes === undefined) return
      const read = decodePlaceSet(bytes)
      expect(listOf(read)).toEqual(ascending(places))
      expect(isCanonical(read)).toBe(true)
      expect(encodePlaceSet(copyToBitmap(set))).toEqual(bytes)
    })
    fc.assert(property)
  })

  test.each([
    [chunkArrayEntriesMax, 8_190],
    [chunkArrayEntriesMax + 1, 8_192],
  ])('%i entries take %i bytes', (count, bytes) => {
    const set = setOf(Array.from({ length: count }, (_, i) => i * 16))
    expect(encodePlaceSet(set)).toHaveLength(bytes)
    expect(encodePlaceSet(copyToBitmap(set))).toHaveLength(bytes)
  })

  test('cross the border from array to bitmap and back one entry at a time', () => {
    const small = setOf(Array.from({ length: chunkArrayEntriesMax }, (_, i) => i * 16))
    const large = unite(small, Uint16Array.of(7))
    expect(encodePlaceSet(large)).toHaveLength(8_192)
    const back = subtract(large, Uint16Array.of(7))
    expect(listOf(back)).toEqual(listOf(small))
    expect(encodePlaceSet(back)).toHaveLength(8_190)
  })

  test('are read from any place in memory', () => {
    const shifted = (bytes: Uint8Array): Uint8Array => {
      const memory = new Uint8Array(bytes.length + 1)
      memory.set(bytes, 1)
      return memory.subarray(1)
    }
    for (const count of [3, 5_000]) {
      const set = setOf(Array.from({ length: count }, (_, i) => i))
      const bytes = encodePlaceSet(set) ?? new Uint8Array(0)
      expect(listOf(decodePlaceSet(shifted(bytes)))).toEqual(listOf(set))
    }
  })
})
