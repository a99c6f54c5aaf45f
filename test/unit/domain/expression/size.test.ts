import { describe, expect, test } from 'bun:test'
import { measureJson } from '../../../../src/domain/expression/size.ts'
import { parseJson } from '../../../../src/domain/json-parse.ts'
import type { Json } from '../../../../src/domain/json.ts'

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

  test('stops soon after the limit, however large the value', () => {
    const text = 'x'.repeat(100)
    const wide: Json = Array.from({ length: 1_000 }, () => text)
    const shared: Json = Array.from({ length: 1_000 }, () => wide)
    for (const value of [wide, shared, new Map([['a', shared]])]) {
      const size = measureJson(value, 500)
      expect(size).toBeGreaterThan(500)
      expect(size).toBeLessThan(800)
    }
  })
})
