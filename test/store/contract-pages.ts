/**
 * The store contract: `page` and `due`.
 *
 * @module
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import type { Query, Store } from '../../src/store/contract.ts'
import { expiredKeptMin, expiredKeptMs } from '../../src/store/core/limits.ts'
import { removalOf } from '../../src/records/read-row.ts'
import {
  expectFault,
  inserted,
  insertOf,
  ordinalsOf,
  stored,
  termOf,
  uniqueOf,
  written,
} from './rows.ts'
import type { Subject } from './subject.ts'

const term = (number: number): Query => ({ term: termOf(number) })
const unique = (number: number): Query => ({ unique: uniqueOf(number) })

/** A query and the numbers of the rows that answer it. */
const answers: readonly (readonly [string, Query, readonly number[]])[] = [
  ['a term', term(15), [0, 5, 10, 15, 20, 25, 30]],
  ['a term of no row', term(99), []],
  ['a unique', unique(7), [7]],
  ['a unique of no row', unique(99), []],
  ['all of two terms', { all: [term(12), term(15)] }, [0, 10, 20, 30]],
  ['all of one part', { all: [term(15)] }, [0, 5, 10, 15, 20, 25, 30]],
  ['all with a term of no row', { all: [term(10), term(99)] }, []],
  ['all of a term and a unique', { all: [term(12), unique(8)] }, [8]],
  ['all of a term and a unique without it', { all: [term(12), unique(9)] }, []],
  ['any of nothing', { any: [] }, []],
  ['any of uniques, one of them twice', { any: [unique(3), unique(1), unique(3)] }, [1, 3]],
  [
    'any of overlapping terms',
    { any: [term(15), unique(10), unique(1)] },
    [0, 1, 5, 10, 15, 20, 25, 30],
  ],
  ['any of a unique and a term of no row', { any: [unique(7), term(99)] }, [7]],
  ['one term except another', { from: term(15), except: term(12) }, [5, 15, 25]],
  ['one term except itself', { from: term(15), except: term(15) }, []],
  ['a term except one of no row', { from: term(15), except: term(99) }, [0, 5, 10, 15, 20, 25, 30]],
  ['nothing except a term', { from: { any: [] }, except: term(10) }, []],
  [
    'nested algebra',
    {
      all: [
        { any: [term(13), term(15)] },
        { from: term(10), except: { all: [term(12), term(13)] } },
      ],
    },
    [3, 5, 9, 10, 15, 20, 21, 25, 27],
  ],
]

/** Row i has the unique i, the term 10, and 10 + d for each d of 2, 3, 5 that divides i. */
const sketches = Array.from({ length: 31 }, (_, i) => ({
  uniques: [i],
  terms: [10, ...[2, 3, 5].filter(d => i % d === 0).map(d => 10 + d)],
}))

const writeSketches = (store: Store): Promise<readonly number[]> =>
  written(store, ...sketches.map(insertOf))

const describeQueries = ({ store }: Subject): void => {
  describe('queries', () => {
    test.each(answers)('%s', async (_, query, numbers) => {
      const ordinals = await writeSketches(store())
      const newest = numbers.toSorted((a, b) => b - a).map(number => ordinals[number] ?? -1)
      expect(await ordinalsOf(store(), query)).toEqual({ ordinals: newest, total: newest.length })
    })

    test('a page shows whole rows', async () => {
      const ordinals = await writeSketches(store())
      const page = await store().page(unique(6), { offset: 0, limit: 1, nowMs: 0 })
      const rows = [stored(ordinals[6] ?? -1, { uniques: [6], terms: [10, 12, 13] })]
      expect(page).toEqual({ rows, total: 1 })
    })
  })
}

const describeWindows = ({ store }: Subject): void => {
  describe('windows', () => {
    beforeEach(async () => {
      await writeSketches(store())
    })

    test('every window of a query shows its part, and the same total', async () => {
      const all = (await ordinalsOf(store(), term(12))).ordinals
      expect(all).toHaveLength(16)
      for (const offset of [0, 1, 15, 16, 17, 1_000]) {
        for (const limit of [0, 1, 3, 100]) {
          const found = await ordinalsOf(store(), term(12), { offset, limit })
          expect(found).toEqual({ ordinals: all.slice(offset, offset + limit), total: 16 })
        }
      }
    })

    test('`before` bounds the window and not the total', async () => {
      const all = (await ordinalsOf(store(), term(12))).ordinals
      for (const before of [...all.flatMap(ordinal => [ordinal + 1, ordinal]), 0, -5]) {
        const reachable = all.filter(ordinal => ordinal < before)
        for (const offset of [0, 2, 9]) {
          const found = await ordinalsOf(store(), term(12), { before, offset, limit: 3 })
          expect(found).toEqual({ ordinals: reachable.slice(offset, offset + 3), total: 16 })
        }
      }
    })

    test('an uncounted page shows the same rows and no total', async () => {
      const all = (await ordinalsOf(store(), term(12))).ordinals
      for (const offset of [0, 9, 16]) {
        for (const before of [all[0] ?? 0, all[12] ?? 0]) {
          const window = { before, offset, limit: 3, uncounted: true } as const
          const { ordinals } = await ordinalsOf(store(), term(12), { before, offset, limit: 3 })
          expect(await ordinalsOf(store(), term(12), window)).toEqual({ ordinals, total: 0 })
        }
      }
    })
  })
}

const describeOrdinals = ({ store }: Subject): void => {
  describe('given ordinals', () => {
    test('narrow and widen what digests bound, and those without a row match nothing', async () => {
      const all = await writeSketches(store())
      const pick = (...numbers: number[]) => numbers.map(number => all[number] ?? -1)
      await written(store(), { remove: all[20] ?? -1 })
      const given = { ordinals: [(all.at(-1) ?? 0) + 9, ...pick(20, 15, 14, 3)] }
      const narrowed = await ordinalsOf(store(), { all: [term(12), given] })
      expect(narrowed).toEqual({ ordinals: pick(14), total: 1 })
      const widened = { all: [{ any: [given, term(15)] }, term(10)] }
      const numbers = [30, 25, 15, 14, 10, 5, 3, 0]
      expect(await ordinalsOf(store(), widened)).toEqual({ ordinals: pick(...numbers), total: 8 })
      const without = await ordinalsOf(store(), { from: term(13), except: given })
      expect(without.ordinals).toEqual(pick(30, 27, 24, 21, 18, 12, 9, 6, 0))
      const none = await ordinalsOf(store(), { all: [term(10), { ordinals: [] }] })
      expect(none).toEqual({ ordinals: [], total: 0 })
    })

    test('are refused alone, out of order, twice, and where they are none', async () => {
      const given = { ordinals: [2, 1] }
      const other = { any: [term(10), given] }
      for (const query of [given, other, { all: [given] }, { from: given, except: term(10) }]) {
        await expectFault(ordinalsOf(store(), query), 'internal')
      }
      for (const ordinals of [[1, 2], [1, 1], [-1], [1.5], [2 ** 48]]) {
        await expectFault(ordinalsOf(store(), { all: [term(10), { ordinals }] }), 'internal')
      }
    })
  })
}

const describeManyDeadlines = ({ store }: Subject): void => {
  describe('many deadlines', () => {
    test('many rows that expire one after the other leave pages as few do', async () => {
      const forever = await inserted(store(), { uniques: [0], terms: [7] })
      const sketches = Array.from({ length: expiredKeptMin + 100 }, (_, i) => ({
        uniques: [i + 1],
        terms: [7],
        deadlineMs: 10_000 + i,
      }))
      await written(store(), ...sketches.map(insertOf))
      const found = (nowMs: number) => ordinalsOf(store(), term(7), { nowMs, limit: 2 })
      const left = { ordinals: [forever], total: 1 }
      expect((await found(10_000)).total).toBe(sketches.length)
      expect((await found(10_050)).total).toBe(sketches.length - 50)
      expect(await found(20_000)).toEqual(left)
      expect(await found(20_001)).toEqual(left)
      // Their commit took longer than from their deadline to a page.
      await inserted(store(), { uniques: [9_001], terms: [7], deadlineMs: 10_001 })
      await inserted(store(), { uniques: [9_002], terms: [7], deadlineMs: 19_999 })
      const lasting = await inserted(store(), { uniques: [9_003], terms: [7] })
      const lefts = { ordinals: [lasting, forever], total: 2 }
      expect(await found(20_002)).toEqual(lefts)
      expect(await found(20_003)).toEqual(lefts)
      await written(store(), ...(await store().due(20_003, 1_000)).map(removalOf))
      expect(await found(20_004)).toEqual(lefts)
      expect(await found(20_000 + expiredKeptMs)).toEqual(lefts)
    })
  })
}

const describeDeadlines = ({ store }: Subject): void => {
  describe('deadlines', () => {
    test('a row is out of pages and totals from its deadline on', async () => {
      const forever = await inserted(store(), { uniques: [1], terms: [7] })
      const ending = await inserted(store(), { uniques: [2], terms: [7], deadlineMs: 1_000 })
      const found = (nowMs: number) => ordinalsOf(store(), term(7), { nowMs })
      expect(await found(999)).toEqual({ ordinals: [ending, forever], total: 2 })
      expect(await found(1_000)).toEqual({ ordinals: [forever], total: 1 })
      expect(await found(1_001)).toEqual({ ordinals: [forever], total: 1 })
      expect(await found(-1)).toEqual({ ordinals: [ending, forever], total: 2 })
      expect(await found(Number.MAX_SAFE_INTEGER)).toEqual({ ordinals: [forever], total: 1 })
      expect((await ordinalsOf(store(), unique(2), { nowMs: 1_000 })).total).toBe(0)
    })

    test('an offset does not count rows that are gone', async () => {
      const ordinals = await written(
        store(),
        ...[0, 1, 2, 3, 4].map(i =>
          insertOf({ uniques: [i], terms: [7], ...(i % 2 === 1 ? { deadlineMs: 5 } : {}) }),
        ),
      )
      const found = await ordinalsOf(store(), term(7), { nowMs: 5, offset: 1, limit: 1 })
      expect(found).toEqual({ ordinals: [ordinals[2] ?? -1], total: 3 })
    })

    test('due rows come earliest first, up to the limit', async () => {
      const sketches = [300, 100, 200, 100, 2 ** 48 - 1].map((deadlineMs, i) => ({
        uniques: [i],
        deadlineMs,
      }))
      const ordinals = await written(store(), insertOf({ uniques: [9] }), ...sketches.map(insertOf))
      const rows = sketches.map((sketch, i) => stored(ordinals[i + 1] ?? -1, sketch))
      const due = [rows[1], rows[3], rows[2], rows[0]]
      expect(await store().due(99, 10)).toEqual([])
      expect(await store().due(-1, 10)).toEqual([])
      expect(await store().due(100, 10)).toMatchObject(due.slice(0, 2))
      expect(await store().due(300, 10)).toMatchObject(due)
      expect(await store().due(300, 3)).toMatchObject(due.slice(0, 3))
      expect(await store().due(300, 0)).toEqual([])
      expect(await store().due(2 ** 48 - 1, 10)).toHaveLength(5)
    })

    test('a row whose deadline is put off is due later only', async () => {
      const ordinal = await inserted(store(), { uniques: [1], terms: [7], deadlineMs: 100 })
      const sketch = { uniques: [1], terms: [7], deadlineMs: 200, version: 2 }
      await written(store(), {
        replace: { ...stored(ordinal, sketch) },
        ordinal,
        ifVersion: 1,
      })
      expect(await store().due(199, 10)).toEqual([])
      expect(await store().due(200, 10)).toEqual([stored(ordinal, sketch)])
      expect((await ordinalsOf(store(), term(7), { nowMs: 199 })).total).toBe(1)
    })
  })
}

export function describePages(subject: Subject): void {
  describeQueries(subject)
  describeOrdinals(subject)
  describeWindows(subject)
  describeManyDeadlines(subject)
  describeDeadlines(subject)
}
