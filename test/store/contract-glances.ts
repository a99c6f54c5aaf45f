/**
 * The store contract: `glance`.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { inserted, stored, uniqueOf } from './rows.ts'
import type { Subject } from './subject.ts'

export function describeGlances({ store }: Subject): void {
  describe('a glance', () => {
    test('gives of a long row its first parts alone, whatever stands behind them', async () => {
      const [head, record] = [new Uint8Array(63).fill(1), new Uint8Array(300).fill(2)]
      for (const [index, bytes] of [50_000, 500_000].entries()) {
        const [unique, terms] = [index + 1, [7, 8]]
        const parts = [head, record, new Uint8Array(bytes).fill(3)]
        const ordinal = await inserted(store(), { uniques: [unique], terms, parts })
        const first = stored(ordinal, { uniques: [unique], terms, parts: [head, record] })
        expect(await store().glance(uniqueOf(unique), 2)).toEqual({
          ...first,
          partCount: 3,
          partBytes: 363 + bytes,
        })
      }
      expect(await store().glance(uniqueOf(9), 2)).toBeUndefined()
    })

    test('gives a short row whole', async () => {
      const sketch = { uniques: [1], parts: [Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)] }
      const row = stored(await inserted(store(), sketch), sketch)
      expect(await store().glance(uniqueOf(1), 1)).toEqual(row)
    })

    test('gives no long parts but the first, behind a header that is long', async () => {
      const terms = Array.from({ length: 500 }, (_, index) => index)
      const parts = [new Uint8Array(63), new Uint8Array(90_000).fill(2), new Uint8Array(90_000)]
      const row = stored(await inserted(store(), { uniques: [1], terms, parts }), {
        uniques: [1],
        terms,
        parts: parts.slice(0, 1),
      })
      expect(await store().glance(uniqueOf(1), 2)).toEqual({
        ...row,
        partCount: 3,
        partBytes: 180_063,
      })
    })

    test('gives a first part that is as long as it is', async () => {
      const parts = [new Uint8Array(90_000).fill(1), Uint8Array.of(2)]
      const sketch = { uniques: [1], terms: [7] }
      const ordinal = await inserted(store(), { ...sketch, parts })
      const row = stored(ordinal, { ...sketch, parts: parts.slice(0, 1) })
      expect(await store().glance(uniqueOf(1), 2)).toEqual({
        ...row,
        partCount: 2,
        partBytes: 90_001,
      })
    })
  })
}
