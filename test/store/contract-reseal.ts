/**
 * The store contract: `reseal`, and the walk that it goes with.
 *
 * @module
 */
import { describe, expect, test } from 'bun:test'
import {
  expectFault,
  inserted,
  ordinalsOf,
  replaceOf,
  rowOf,
  stored,
  termOf,
  uniqueOf,
  written,
} from './rows.ts'
import type { Subject } from './subject.ts'

export const describeReseal = ({ store }: Subject): void => {
  describe('sealing rows anew', () => {
    test('a resealed row has other parts, and all else as it was', async () => {
      const sketch = { uniques: [1, 2], terms: [7], deadlineMs: 2 ** 47 }
      const ordinal = await inserted(store(), sketch)
      const other = { ...sketch, parts: [Uint8Array.of(9), new Uint8Array(5_000)] }
      expect(await written(store(), { reseal: rowOf(other), ordinal })).toEqual([])
      expect(await store().find(uniqueOf(1))).toEqual(stored(ordinal, other))
      expect(await store().find(uniqueOf(2))).toEqual(stored(ordinal, other))
      const found = await ordinalsOf(store(), { term: termOf(7) })
      expect(found).toEqual({ ordinals: [ordinal], total: 1 })
      expect(await store().due(2 ** 47, 1)).toEqual([stored(ordinal, other)])
    })

    test('a row that was moved meanwhile is not resealed', async () => {
      const ordinal = await inserted(store(), { uniques: [1] })
      await written(store(), replaceOf(ordinal, { uniques: [1], version: 2 }))
      const refused = { ok: false, at: 0, reason: 'version_moved' } as const
      const reseal = rowOf({ uniques: [1] })
      expect(await store().write([{ reseal, ordinal }])).toEqual(refused)
      expect(await store().write([{ reseal, ordinal: ordinal + 1 }])).toEqual(refused)
      expect(await store().find(uniqueOf(1))).toMatchObject({ version: 2 })
    })

    test('rows are walked oldest first, from an ordinal on', async () => {
      const first = await inserted(store(), { uniques: [1] })
      const second = await inserted(store(), { uniques: [2], deadlineMs: 1 })
      const third = await inserted(store(), { uniques: [3] })
      await written(store(), { remove: second })
      const ordinals = async (from: number, limit: number) =>
        (await store().rowsFrom(from, limit)).map(({ ordinal }) => ordinal)
      expect(await ordinals(0, 10)).toEqual([first, third])
      expect(await ordinals(0, 1)).toEqual([first])
      expect(await ordinals(first + 1, 10)).toEqual([third])
      expect(await ordinals(third + 1, 10)).toEqual([])
      expect(await store().rowsFrom(third, 1)).toEqual([stored(third, { uniques: [3] })])
    })

    test.each([
      ['another unique', { uniques: [1, 2], terms: [7] }],
      ['another term', { uniques: [1], terms: [7, 8] }],
      ['a deadline', { uniques: [1], terms: [7], deadlineMs: 5 }],
    ])('a reseal with %s refuses itself and harms no other', async (_, sketch) => {
      const ordinal = await inserted(store(), { uniques: [1], terms: [7] })
      const bad = store().write([{ reseal: rowOf(sketch), ordinal }])
      const good = inserted(store(), { uniques: [3] })
      await expectFault(bad, 'internal')
      await good
      expect(await store().find(uniqueOf(1))).toEqual(stored(ordinal, { uniques: [1], terms: [7] }))
    })

    test('a row is not moved and resealed in one write', async () => {
      const ordinal = await inserted(store(), { uniques: [1] })
      const reseal = rowOf({ uniques: [1], version: 2 })
      const replace = replaceOf(ordinal, { uniques: [1], version: 2 })
      await expectFault(store().write([replace, { reseal, ordinal }]), 'internal')
      expect(await store().find(uniqueOf(1))).toMatchObject({ version: 1 })
    })
  })
}
