import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { makeTextCache, TextMap } from '../../src/lib/maps.ts'
import { hashedTextsMax, textRunMax } from '../../src/limits/work-limits.ts'
import { nameKinds, namesOf } from '../support/hostile-names.ts'

const awkward = ['__proto__', 'constructor', 'hasOwnProperty', '', '\0', '1', '01', 'é', 'e\u0301']
const textArbitrary = fc.oneof(
  fc.constantFrom(...awkward),
  fc.string({ maxLength: 3 }),
  fc.nat(500).map(String),
)

describe('a map by texts', () => {
  test('holds what a Map holds, in its order', () => {
    const pairs = fc.array(fc.tuple(textArbitrary, fc.nat()), { maxLength: 4 * textRunMax })
    fc.assert(
      fc.property(pairs, textArbitrary, (entries, other) => {
        const map = new TextMap(entries)
        const oracle = new Map(entries)
        expect([...map]).toEqual([...oracle])
        expect([...map.keys()]).toEqual([...oracle.keys()])
        expect([...map.values()]).toEqual([...oracle.values()])
        expect(map.size).toBe(oracle.size)
        for (const text of [other, ...oracle.keys()]) {
          expect(map.get(text)).toBe(oracle.get(text) as number)
          expect(map.has(text)).toBe(oracle.has(text))
        }
      }),
      { numRuns: 50 },
    )
  })

  test.each(['up', 'down'] as const)('holds many texts that come in order, %s', way => {
    const texts = namesOf('sequential', 3_000)
    if (way === 'down') texts.reverse()
    const map = new TextMap(texts.map((text, index) => [text, index]))
    expect(texts.map(text => map.get(text))).toEqual(texts.map((_, index) => index))
    expect([...map.keys()]).toEqual(texts)
    expect(map.has('k')).toBe(false)
    expect(map.get('kk')).toBeUndefined()
  })

  // proves E1.1
  test.each(nameKinds)('makes n log n comparisons for %s names', kind => {
    for (const count of [1_000, 10_000, 40_000]) {
      let comparisons = 0
      const map = new TextMap<true>([], (a, b) => {
        comparisons += 1
        return a < b
      })
      const names = namesOf(kind, count)
      for (const name of names) map.set(name, true)
      for (const name of names) map.get(name)
      expect(map.size).toBe(count)
      expect(comparisons).toBeLessThan(2 * count * (Math.log2(count) + 3))
    }
  })
})

describe('a cache by texts', () => {
  test('gives what was set, also when it is found again among older ones', () => {
    const cache = makeTextCache<number>(4 * hashedTextsMax)
    const texts = namesOf('colliding', 2 * hashedTextsMax)
    texts.forEach((text, index) => cache.set(text, index))
    expect(texts.map(cache.get)).toEqual(texts.map((_, index) => index))
    for (const text of namesOf('ordinary', 2 * hashedTextsMax)) cache.set(text, -1)
    expect(cache.get(texts.at(-1) ?? '')).toBe(texts.length - 1)
  })

  test('forgets what is not used while many others come', () => {
    const entriesMax = 4 * hashedTextsMax
    const cache = makeTextCache<number>(entriesMax)
    cache.set('first', 1)
    for (const text of namesOf('ordinary', entriesMax)) cache.set(text, 2)
    expect(cache.get('first')).toBeUndefined()
  })
})
