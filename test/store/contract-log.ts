/**
 * The log of a store: bundles of entries, their sequences, and the values beside them.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { bundleEntriesMax } from '../../src/limits/work-limits.ts'
import type { Change, LogBundle, Store } from '../../src/store/contract.ts'
import { bundleOf, insertOf, replaceOf, rowOf, uniqueOf, written } from './rows.ts'
import type { Subject } from './subject.ts'

const append = (store: Store, ...bundles: readonly LogBundle[]) =>
  store.write(bundles.map(log => ({ log })))

/** Sequence, number of entries and first sealed byte of each bundle. */
const shapesOf = async (store: Store, range: Parameters<Store['bundles']>[0], limit = 100) =>
  (await store.bundles(range, limit)).map(({ first, leaves, sealed }) => [
    first,
    leaves.length,
    sealed[0],
  ])

const key = (...bytes: readonly number[]): Uint8Array => Uint8Array.of(...bytes)

function describeEntries({ store, reopen }: Subject): void {
  describe('the log', () => {
    test('is empty at first', async () => {
      expect(await store().logRange()).toEqual({ from: 0, next: 0 })
      expect(await store().bundles({ from: 0 }, 10)).toEqual([])
      expect(await store().bundles({ before: 10 }, 10)).toEqual([])
    })

    test('numbers entries from 0 without gaps, across writes and openings', async () => {
      await append(store(), bundleOf(1), bundleOf(2, 3))
      const again = await reopen()
      await append(again, bundleOf(7))
      expect(await again.logRange()).toEqual({ from: 0, next: 5 })
      expect(await again.bundles({ from: 0 }, 10)).toEqual([
        { first: 0, ...bundleOf(1) },
        { first: 1, ...bundleOf(2, 3) },
        { first: 4, ...bundleOf(7) },
      ])
    })

    test('numbers the entries of writes that come together', async () => {
      await Promise.all(
        Array.from({ length: 40 }, (_, number) => append(store(), bundleOf(number, 2))),
      )
      const bundles = await store().bundles({ from: 0 }, 100)
      expect(bundles.map(({ first }) => first)).toEqual(Array.from({ length: 40 }, (_, i) => 2 * i))
      const seen = bundles.map(({ sealed }) => sealed[0] ?? -1)
      expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i))
    })

    test('is read a part at a time where its bundles are long', async () => {
      const long = () => ({ leaves: [new Uint8Array(32)], sealed: new Uint8Array(1_500_000) })
      for (let i = 0; i < 4; i += 1) await append(store(), long())
      const firsts = async (range: Parameters<Store['bundles']>[0]) =>
        (await store().bundles(range, 10)).map(({ first }) => first)
      expect(await firsts({ from: 0 })).toEqual([0])
      expect(await firsts({ from: 1 })).toEqual([1])
      expect(await firsts({ from: 3 })).toEqual([3])
      expect(await firsts({ before: 4 })).toEqual([3])
      expect(await firsts({ from: 4 })).toEqual([])
      await append(store(), bundleOf(7), bundleOf(8), bundleOf(9))
      expect(await firsts({ from: 3 })).toEqual([3, 4, 5, 6])
    })

    test('is read from a sequence on, and before one', async () => {
      await append(store(), bundleOf(1), bundleOf(2, 3), bundleOf(7), bundleOf(8, 2))
      expect(await shapesOf(store(), { from: 3 })).toEqual([
        [1, 3, 2],
        [4, 1, 7],
        [5, 2, 8],
      ])
      expect(await shapesOf(store(), { from: 4 }, 1)).toEqual([[4, 1, 7]])
      expect(await shapesOf(store(), { from: 7 })).toEqual([])
      expect(await shapesOf(store(), { before: 5 }, 2)).toEqual([
        [4, 1, 7],
        [1, 3, 2],
      ])
      expect(await shapesOf(store(), { before: 0 })).toEqual([])
    })
  })
}

export function describeLogChanges({ store }: Subject): void {
  describe('changes of the log', () => {
    test('has an entry with the rows of its write, and none of a refused one', async () => {
      const insert: Change = { insert: rowOf({ uniques: [1] }) }
      const landed = await store().write([insert, { log: bundleOf(1) }])
      expect(landed.ok).toBe(true)
      const refused = await store().write([{ log: bundleOf(2) }, insert])
      expect(refused).toMatchObject({ ok: false, reason: 'unique_taken' })
      const both = await Promise.all([
        store().write([insert, { log: bundleOf(3) }]),
        store().write([{ insert: rowOf({ uniques: [4] }) }, { log: bundleOf(4) }]),
      ])
      expect(both.map(({ ok }) => ok)).toEqual([false, true])
      expect(await shapesOf(store(), { from: 0 })).toEqual([
        [0, 1, 1],
        [1, 1, 4],
      ])
      expect((await store().find(uniqueOf(4)))?.version).toBe(1)
    })

    test('has one entry of each write, of which some come with rows that change', async () => {
      const [ordinal = 0] = await written(store(), insertOf({ uniques: [500] }))
      let version = 1
      for (let number = 0; number < 20; number += 1) {
        const log: Change = { log: bundleOf(number) }
        const changing = replaceOf(ordinal, { uniques: [500], version: version + 1 })
        if (number % 3 === 0) await written(store(), changing, log)
        else if (number % 3 === 1) await written(store(), log, insertOf({ uniques: [number] }))
        else await written(store(), { require: ordinal, ifVersion: version }, log)
        if (number % 3 === 0) version += 1
        const [last] = await store().bundles({ before: number + 1 }, 1)
        expect(last).toEqual({ first: number, ...bundleOf(number) })
      }
      const moved = await store().write([{ require: ordinal, ifVersion: 1 }, { log: bundleOf(99) }])
      expect(moved).toEqual({ ok: false, at: 0, reason: 'version_moved' })
      expect(await store().logRange()).toEqual({ from: 0, next: 20 })
    })
  })
}

function describeRequired({ store }: Subject): void {
  describe('the log', () => {
    test('is changed only where a value beside it is still as it was read', async () => {
      const put = (ifValue: Uint8Array | undefined, ...value: readonly number[]) =>
        store().write([
          { requireDerived: key(1), ifValue },
          { derived: key(1), value: key(...value) },
          { log: bundleOf(value[0] ?? 0) },
        ])
      const moved = { ok: false, at: 0, reason: 'version_moved' } as const
      expect(await put(key(9), 9)).toEqual(moved)
      expect((await put(undefined, 1)).ok).toBe(true)
      expect(await put(undefined, 2)).toEqual(moved)
      expect(await put(key(1, 0), 2)).toEqual(moved)
      const race = await Promise.all(Array.from({ length: 20 }, (_, i) => put(key(1), 20 + i)))
      expect(race.filter(({ ok }) => ok)).toHaveLength(1)
      expect(race.filter(({ ok }) => !ok)).toContainEqual(moved)
      const [now] = await store().derived(key(1), key(2), 1)
      expect(now?.value[0]).toBeGreaterThanOrEqual(20)
      await store().write([{ derived: key(1), value: new Uint8Array() }])
      expect(await put(undefined, 3)).toEqual(moved)
      expect((await put(new Uint8Array(), 3)).ok).toBe(true)
      expect(await store().logRange()).toEqual({ from: 0, next: 3 })
    })
  })
}

function describeRest({ store, reopen }: Subject): void {
  describe('the log', () => {
    test('loses whole bundles below a sequence, and no sequence is given again', async () => {
      await append(store(), bundleOf(1), bundleOf(2, 3), bundleOf(7), bundleOf(8, 2))
      await store().write([{ pruneLog: 3 }])
      expect(await store().logRange()).toEqual({ from: 1, next: 7 })
      await store().write([{ pruneLog: 5 }])
      expect(await store().logRange()).toEqual({ from: 5, next: 7 })
      expect(await shapesOf(store(), { from: 0 })).toEqual([[5, 2, 8]])
      expect(await shapesOf(store(), { before: 6 })).toEqual([[5, 2, 8]])
      await store().write([{ pruneLog: 2 }])
      await append(store(), bundleOf(9))
      expect(await store().logRange()).toEqual({ from: 5, next: 8 })
    })

    test.each([8, 100])('loses all of it below %d, which is its end or beyond', async below => {
      await append(store(), bundleOf(1), bundleOf(2, 7))
      await store().write([{ pruneLog: 7 }])
      expect(await store().logRange()).toEqual({ from: 1, next: 8 })
      await store().write([{ log: bundleOf(3) }, { pruneLog: below }])
      expect(await store().logRange()).toEqual({ from: 8, next: 9 })
      expect(await shapesOf(store(), { from: 0 })).toEqual([[8, 1, 3]])
      await store().write([{ pruneLog: 9 }])
      const again = await reopen()
      expect(await again.logRange()).toEqual({ from: 9, next: 9 })
      expect(await again.bundles({ before: 9 }, 10)).toEqual([])
      await append(again, bundleOf(4, 2))
      expect(await again.logRange()).toEqual({ from: 9, next: 11 })
    })

    test('keeps values beside it, in the order of their keys', async () => {
      await store().write([
        { derived: key(2, 1), value: key(21) },
        { derived: key(1), value: key(1) },
        { derived: key(2, 0), value: new Uint8Array(0) },
        { derived: key(3), value: key(3) },
      ])
      const again = await reopen()
      expect(await again.derived(key(1), key(3), 10)).toEqual([
        { key: key(1), value: key(1) },
        { key: key(2, 0), value: new Uint8Array(0) },
        { key: key(2, 1), value: key(21) },
      ])
      expect(await again.derived(key(1), key(3), 1)).toHaveLength(1)
      await again.write([
        { derived: key(1), value: undefined },
        { derived: key(2, 0), value: key(20) },
        { derived: key(2, 1), value: undefined },
        { derived: key(2, 1), value: key(22) },
      ])
      expect(await again.derived(key(0), key(3), 10)).toEqual([
        { key: key(2, 0), value: key(20) },
        { key: key(2, 1), value: key(22) },
      ])
    })
  })
}

export function describeLogRefusals({ store }: Subject): void {
  describe('the log', () => {
    test.each<[string, Change]>([
      ['a bundle without entries', { log: { leaves: [], sealed: key(1) } }],
      ['a bundle of too many entries', { log: bundleOf(0, bundleEntriesMax + 1) }],
      ['a short hash', { log: { leaves: [new Uint8Array(31)], sealed: key(1) } }],
      ['a sequence that is no whole number', { pruneLog: 1.5 }],
      ['an empty key', { derived: key(), value: key(1) }],
      ['a long key', { derived: new Uint8Array(33), value: key(1) }],
    ])('refuses %s', async (_, change) => {
      await expect(store().write([change])).rejects.toMatchObject({ kind: 'internal' })
      expect(await store().logRange()).toEqual({ from: 0, next: 0 })
    })
  })
}

export function describeLog(subject: Subject): void {
  describeEntries(subject)
  describeRequired(subject)
  describeRest(subject)
}
