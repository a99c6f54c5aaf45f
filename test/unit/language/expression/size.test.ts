import { describe, expect, test } from 'bun:test'
import { measureJson } from '../../../../src/language/expression/run.ts'
import { parseJson } from '../../../../src/lib/json/parse-json.ts'
import type { Json } from '../../../../src/lib/json/json.ts'

describe('measuring a value', () => {
  test.each([
    'null',
    'true',
    '-1.5',
    '1.0',
    '""',
    '"abc"',
    '[]',
    '{}',
    '[1]',
    '[1,[2,"x"],{}]',
    '{"a":1}',
    '{"a":{"b":[null]},"c":"d"}',
  ])('%s has the length of its text', text => {
    expect(measureJson(parseJson(text), 1_000)).toBe(text.length)
  })

  test.each(['[1,[2,"x"],{}]', '{"a":1}', '{"a":{"b":[null]},"c":"d"}', '[[[]],{"a":[{}]}]'])(
    '%s is more than each limit below its length, and than no other',
    text => {
      for (let most = 0; most <= text.length + 1; most += 1) {
        const size = measureJson(parseJson(text), most)
        expect(size > most).toBe(text.length > most)
        expect(size).toBeLessThanOrEqual(text.length)
      }
    },
  )

  test('stops soon after the limit, however large the value', () => {
    const text = 'x'.repeat(100)
    const wide: Json = Array.from({ length: 1_000 }, () => text)
    const shared: Json = Array.from({ length: 1_000 }, () => wide)
    const members: Json = new Map(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, wide]))
    for (const value of [wide, shared, new Map([['a', shared]]), members]) {
      const size = measureJson(value, 500)
      expect(size).toBeGreaterThan(500)
      expect(size).toBeLessThan(800)
    }
  })
})
