/**
 * The store contract: `find`, `write` and `generation`.
 *
 * @module
 */
import type { Digest, Store } from '../../src/store/contract.ts'
import { describe, expect, test } from 'bun:test'
import {
  expectFault,
  inserted,
  insertOf,
  ordinalsOf,
  replaceOf,
  rowOf,
  stored,
  termOf,
  uniqueOf,
  written,
} from './rows.ts'
import { describeGlances } from './contract-glances.ts'
import type { Subject } from './subject.ts'

/** An engine may refuse at once. */
const findLater = async (store: Store, unique: Digest): Promise<unknown> => store.find(unique)

const describeSingleChanges = ({ store }: Subject): void => {
  describe('one change', () => {
    test('an inserted row is found by each of its uniques, and by no other', async () => {
      const sketch = { uniques: [1, 2], terms: [7], deadlineMs: 2 ** 47 }
      const ordinal = await inserted(store(), sketch)
      expect(await store().find(uniqueOf(1))).toEqual(stored(ordinal, sketch))
      expect(await store().find(uniqueOf(2))).toEqual(stored(ordinal, sketch))
      expect(await store().find(uniqueOf(3))).toBeUndefined()
    })

    test('parts come back byte for byte, the empty and the large ones too', async () => {
      const parts = [new Uint8Array(0), new Uint8Array(300_000).fill(9), Uint8Array.of(0, 255)]
      await inserted(store(), { uniques: [1], parts })
      expect((await store().find(uniqueOf(1)))?.parts).toEqual(parts)
    })

    test('ordinals grow, and one of a removed row is not used again', async () => {
      const first = await inserted(store(), { uniques: [1] })
      const second = await inserted(store(), { uniques: [2] })
      await written(store(), { remove: second })
      const third = await inserted(store(), { uniques: [3] })
      expect([second, third]).toEqual([first + 1, first + 2])
    })

    test('a replaced row keeps its ordinal and changes all else', async () => {
      const ordinal = await inserted(store(), { uniques: [1, 2], terms: [7, 8], deadlineMs: 50 })
      const sketch = { uniques: [1, 3], terms: [8, 9], version: 2, parts: [Uint8Array.of(5)] }
      expect(await written(store(), replaceOf(ordinal, sketch))).toEqual([ordinal])
      expect(await store().find(uniqueOf(1))).toEqual(stored(ordinal, sketch))
      expect(await store().find(uniqueOf(3))).toEqual(stored(ordinal, sketch))
      expect(await store().find(uniqueOf(2))).toBeUndefined()
      expect(await ordinalsOf(store(), { term: termOf(7) })).toEqual({ ordinals: [], total: 0 })
      for (const term of [8, 9]) {
        const found = await ordinalsOf(store(), { term: termOf(term) }, { nowMs: 100 })
        expect(found).toEqual({ ordinals: [ordinal], total: 1 })
      }
      expect(await store().due(100, 10)).toEqual([])
    })

    test('a removed row leaves nothing behind', async () => {
      const ordinal = await inserted(store(), { uniques: [1, 2], terms: [7], deadlineMs: 50 })
      expect(await written(store(), { remove: ordinal, ifVersion: 1 })).toEqual([])
      expect(await store().find(uniqueOf(1))).toBeUndefined()
      expect(await store().find(uniqueOf(2))).toBeUndefined()
      expect(await ordinalsOf(store(), { term: termOf(7) })).toEqual({ ordinals: [], total: 0 })
      expect(await store().due(100, 10)).toEqual([])
      await inserted(store(), { uniques: [2] })
    })

    test('to remove an absent row is no fault, unless a version is asked for', async () => {
      expect(await store().write([{ remove: 999 }])).toEqual({ ok: true, ordinals: [] })
      const refused = { ok: false, at: 0, reason: 'version_moved' } as const
      expect(await store().write([{ remove: 999, ifVersion: 1 }])).toEqual(refused)
    })

    test('a write of nothing is accepted', async () => {
      expect(await store().write([])).toEqual({ ok: true, ordinals: [] })
    })
  })
}

const describeNumbers = ({ store }: Subject): void => {
  describe('numbers of the store', () => {
    test('the generation moves with every bump, and with nothing else', async () => {
      const before = await store().generation()
      await inserted(store(), { uniques: [1] })
      expect(await store().generation()).toBe(before)
      await written(store(), { bumpGeneration: true }, { bumpGeneration: true })
      await written(store(), { bumpGeneration: true })
      expect(await store().generation()).toBe(before + 3)
    })
  })
}

const describeUniques = ({ store }: Subject): void => {
  describe('checks of uniques', () => {
    test('a unique that is taken refuses insert and replace, and names its holder', async () => {
      const holder = await inserted(store(), { uniques: [1, 2] })
      const other = await inserted(store(), { uniques: [3] })
      const taken = { ok: false, reason: 'unique_taken', unique: uniqueOf(2), ordinal: holder }
      const insert = await store().write([
        insertOf({ uniques: [4] }),
        insertOf({ uniques: [5, 2] }),
      ])
      expect(insert).toMatchObject({ ...taken, at: 1 })
      const replace = replaceOf(other, { uniques: [3, 2], version: 2 })
      expect(await store().write([replace])).toMatchObject({ ...taken, at: 0 })
      expect((await store().find(uniqueOf(3)))?.version).toBe(1)
    })

    test('two inserts of one unique in one write refuse each other', async () => {
      const outcome = await store().write([insertOf({ uniques: [1] }), insertOf({ uniques: [1] })])
      expect(outcome).toMatchObject({ ok: false, at: 1, reason: 'unique_taken' })
      expect(await store().find(uniqueOf(1))).toBeUndefined()
    })

    test('a unique that one change gives up, the next may take', async () => {
      const old = await inserted(store(), { uniques: [1], terms: [7] })
      const [taker] = await written(
        store(),
        { remove: old, ifVersion: 1 },
        insertOf({ uniques: [1], terms: [7] }),
      )
      expect((await store().find(uniqueOf(1)))?.ordinal).toBe(taker ?? -1)
      expect(await ordinalsOf(store(), { term: termOf(7) })).toEqual({
        ordinals: [taker ?? -1],
        total: 1,
      })
    })
  })
}

const describeNames = ({ store }: Subject): void => {
  describe('checks of first uniques', () => {
    test('another first unique refuses remove and require', async () => {
      const ordinal = await inserted(store(), { uniques: [1, 2] })
      const refused = { ok: false, at: 0, reason: 'version_moved' } as const
      const ifVersion = 1
      for (const ifUnique of [uniqueOf(2), uniqueOf(3)]) {
        expect(await store().write([{ remove: ordinal, ifVersion, ifUnique }])).toEqual(refused)
        expect(await store().write([{ require: ordinal, ifVersion, ifUnique }])).toEqual(refused)
      }
      const ifUnique = uniqueOf(1)
      await written(store(), { require: ordinal, ifVersion, ifUnique })
      await written(store(), { remove: ordinal, ifVersion, ifUnique })
      expect(await store().find(uniqueOf(1))).toBeUndefined()
    })
  })
}

const describeVersions = ({ store }: Subject): void => {
  describe('checks of versions', () => {
    test('a version that moved refuses replace, remove and require', async () => {
      const ordinal = await inserted(store(), { uniques: [1] })
      await written(store(), replaceOf(ordinal, { uniques: [1], version: 2 }))
      const refused = { ok: false, at: 0, reason: 'version_moved' } as const
      const stale = replaceOf(ordinal, { uniques: [1], version: 2 })
      expect(await store().write([stale])).toEqual(refused)
      expect(await store().write([{ remove: ordinal, ifVersion: 1 }])).toEqual(refused)
      expect(await store().write([{ require: ordinal, ifVersion: 1 }])).toEqual(refused)
      expect(await store().write([{ require: ordinal + 1, ifVersion: 1 }])).toEqual(refused)
      expect(await written(store(), { require: ordinal, ifVersion: 2 })).toEqual([])
    })

    test('changes of one write see those before them', async () => {
      const ordinal = await inserted(store(), { uniques: [1] })
      const ordinals = await written(
        store(),
        replaceOf(ordinal, { uniques: [1, 2], version: 2 }),
        { require: ordinal, ifVersion: 2 },
        replaceOf(ordinal, { uniques: [1], version: 3 }),
        insertOf({ uniques: [2] }),
      )
      expect(ordinals).toEqual([ordinal, ordinal, ordinal + 1])
      expect((await store().find(uniqueOf(1)))?.version).toBe(3)
    })

    test('of a row that one write changes twice, only the last state is left', async () => {
      const ordinal = await inserted(store(), { uniques: [1, 2], terms: [7, 8], deadlineMs: 10 })
      const last = { uniques: [1, 4], terms: [8, 9], deadlineMs: 30, version: 3 }
      await written(
        store(),
        replaceOf(ordinal, { uniques: [1, 3], terms: [8], deadlineMs: 20, version: 2 }),
        replaceOf(ordinal, last),
      )
      expect(await store().find(uniqueOf(4))).toEqual(stored(ordinal, last))
      for (const unique of [2, 3]) expect(await store().find(uniqueOf(unique))).toBeUndefined()
      const counts = [7, 8, 9].map(async term => {
        const { total } = await ordinalsOf(store(), { term: termOf(term) })
        return total
      })
      expect(await Promise.all(counts)).toEqual([0, 1, 1])
      expect(await store().due(29, 10)).toEqual([])
      expect(await store().due(30, 10)).toEqual([stored(ordinal, last)])
    })

    test('a refusal in the last change undoes all before it', async () => {
      const ordinal = await inserted(store(), { uniques: [1], terms: [7], deadlineMs: 50 })
      const before = await store().find(uniqueOf(1))
      const generation = await store().generation()
      const outcome = await store().write([
        insertOf({ uniques: [2], terms: [7] }),
        replaceOf(ordinal, { uniques: [1, 3], terms: [8], version: 2 }),
        { bumpGeneration: true },
        { remove: ordinal },
        { require: ordinal, ifVersion: 2 },
      ])
      expect(outcome).toEqual({ ok: false, at: 4, reason: 'version_moved' })
      expect(await store().find(uniqueOf(1))).toEqual(before)
      for (const unique of [2, 3]) expect(await store().find(uniqueOf(unique))).toBeUndefined()
      const kept = { ordinals: [ordinal], total: 1 }
      expect(await ordinalsOf(store(), { term: termOf(7) })).toEqual(kept)
      expect(await ordinalsOf(store(), { term: termOf(8) })).toEqual({ ordinals: [], total: 0 })
      expect(await store().generation()).toBe(generation)
      expect(await inserted(store(), { uniques: [2] })).toBe(ordinal + 1)
    })
  })
}

const describeBadCalls = ({ store }: Subject): void => {
  describe('bad calls', () => {
    const row = rowOf({ uniques: [1], terms: [7] })
    const seven = termOf(7)
    test.each([
      ['a row without uniques', { insert: { ...row, uniques: [] } }],
      ['a unique of a wrong length', { insert: { ...row, uniques: [seven] } }],
      ['a term of a wrong length', { insert: { ...row, terms: [uniqueOf(7)] } }],
      ['a term twice', { insert: { ...row, terms: [seven, Uint8Array.from(seven)] } }],
      ['a unique twice', { insert: { ...row, uniques: [uniqueOf(1), uniqueOf(1)] } }],
      ['an insert at version 2', { insert: { ...row, version: 2 } }],
      ['a replace that skips a version', { replace: row, ordinal: 1, ifVersion: 1 }],
      ['half a millisecond', { insert: { ...row, deadlineMs: 0.5 } }],
      ['a deadline before 1970', { insert: { ...row, deadlineMs: -1 } }],
      ['too many parts', { insert: { ...row, parts: Array(17).fill(seven) } }],
      ['too many bytes', { insert: { ...row, parts: [new Uint8Array(3_000_000)] } }],
      ['an ordinal that is none', { remove: -1 }],
    ])('%s refuses itself and harms no other write', async (_, change) => {
      const bad = store().write([insertOf({ uniques: [2] }), change])
      const good = inserted(store(), { uniques: [3] })
      await expectFault(bad, 'internal')
      await good
      expect(await store().find(uniqueOf(2))).toBeUndefined()
    })

    test('a replace under another first unique is refused as of another row', async () => {
      const ordinal = await inserted(store(), { uniques: [1, 2] })
      const bad = store().write([replaceOf(ordinal, { uniques: [2, 1], version: 2 })])
      const good = inserted(store(), { uniques: [3] })
      expect(await bad).toEqual({ ok: false, at: 0, reason: 'version_moved' })
      await good
      expect((await store().find(uniqueOf(2)))?.version).toBe(1)
    })

    test('queries without a bound, or with digests of a wrong length, are refused', async () => {
      await expectFault(ordinalsOf(store(), { all: [] }), 'internal')
      await expectFault(ordinalsOf(store(), { any: [{ all: [] }] }), 'internal')
      await expectFault(ordinalsOf(store(), { term: uniqueOf(1) }), 'internal')
      await expectFault(ordinalsOf(store(), { unique: termOf(1) }), 'internal')
      await expectFault(findLater(store(), termOf(1)), 'internal')
    })

    test('windows of no whole numbers, or of too many rows, are refused', async () => {
      const query = { term: seven }
      for (const window of [{ offset: -1 }, { limit: 1.5 }, { limit: 1_001 }, { before: NaN }]) {
        await expectFault(ordinalsOf(store(), query, window), 'internal')
      }
      await expectFault(ordinalsOf(store(), query, { nowMs: Infinity }), 'internal')
      await expectFault(store().due(0, -1), 'internal')
    })
  })
}

const describeRaces = ({ store }: Subject): void => {
  describe('many writers', () => {
    test('of 50 racing inserts of one unique exactly one wins', async () => {
      const race = Array.from({ length: 50 }, (_, i) =>
        store().write([insertOf({ uniques: [i + 100, 1], terms: [7] })]),
      )
      const outcomes = await Promise.all(race)
      const winners = outcomes.flatMap(outcome => (outcome.ok ? outcome.ordinals : []))
      expect(winners).toHaveLength(1)
      expect((await store().find(uniqueOf(1)))?.ordinal).toBe(winners[0] ?? -1)
      expect(await ordinalsOf(store(), { term: termOf(7) })).toEqual({
        ordinals: winners,
        total: 1,
      })
      for (const outcome of outcomes.filter(({ ok }) => !ok)) {
        expect(outcome).toMatchObject({ at: 0, reason: 'unique_taken', ordinal: winners[0] })
      }
    })

    test('of 50 racing replaces of one version exactly one wins', async () => {
      const ordinal = await inserted(store(), { uniques: [1] })
      const race = Array.from({ length: 50 }, () =>
        store().write([replaceOf(ordinal, { uniques: [1], version: 2 })]),
      )
      const outcomes = await Promise.all(race)
      expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1)
      expect((await store().find(uniqueOf(1)))?.version).toBe(2)
    })

    test('writes without a wait between them are decided in their order', async () => {
      const ordinal = await inserted(store(), { uniques: [1] })
      const outcomes = await Promise.all([
        store().write([insertOf({ uniques: [2] })]),
        store().write([insertOf({ uniques: [2] })]),
        store().write([replaceOf(ordinal, { uniques: [1, 3], version: 2 })]),
        store().write([{ remove: ordinal, ifVersion: 2 }]),
        store().write([insertOf({ uniques: [1, 3] })]),
      ])
      expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true, true, true])
    })
  })
}

const describeDurability = ({ store, reopen }: Subject): void => {
  describe('a written row', () => {
    test('is seen by the read that follows it', async () => {
      const loops = Array.from({ length: 8 }, async (_, loop) => {
        for (let i = 0; i < 20; i += 1) {
          const sketch = { uniques: [loop * 100 + i], terms: [loop] }
          const ordinal = await inserted(store(), sketch)
          expect(await store().find(uniqueOf(loop * 100 + i))).toEqual(stored(ordinal, sketch))
          expect((await ordinalsOf(store(), { term: termOf(loop) })).total).toBe(i + 1)
        }
      })
      await Promise.all(loops)
    })

    test('is there after closing and opening again', async () => {
      const kept = { uniques: [1, 2], terms: [7], deadlineMs: 50 }
      const ordinal = await inserted(store(), kept)
      const removed = await inserted(store(), { uniques: [3], terms: [7] })
      await written(store(), { remove: removed }, { bumpGeneration: true })
      const generation = await store().generation()
      const again = await reopen()
      expect(await again.find(uniqueOf(2))).toEqual(stored(ordinal, kept))
      expect(await again.find(uniqueOf(3))).toBeUndefined()
      expect(await ordinalsOf(again, { term: termOf(7) })).toEqual({
        ordinals: [ordinal],
        total: 1,
      })
      expect(await again.due(50, 10)).toEqual([stored(ordinal, kept)])
      expect(await again.generation()).toBe(generation)
      expect(await inserted(again, { uniques: [3] })).toBe(removed + 1)
    })

    test('closing waits for writes that were queued, and refuses all later calls', async () => {
      const queued = Array.from({ length: 20 }, (_, i) => inserted(store(), { uniques: [i] }))
      const closed = store()
      await closed.close()
      await Promise.all(queued)
      await expectFault(closed.write([insertOf({ uniques: [99] })]), 'unavailable')
      await expectFault(findLater(closed, uniqueOf(1)), 'unavailable')
      await expectFault(ordinalsOf(closed, { term: termOf(7) }), 'unavailable')
      await expectFault(closed.due(0, 1), 'unavailable')
      await expectFault(
        Promise.try(() => closed.generation()),
        'unavailable',
      )
      await closed.close()
      const again = await reopen()
      expect(await again.find(uniqueOf(19))).toBeDefined()
      expect(await again.find(uniqueOf(99))).toBeUndefined()
    })
  })
}

export function describeWrites(subject: Subject): void {
  describeSingleChanges(subject)
  describeGlances(subject)
  describeNumbers(subject)
  describeUniques(subject)
  describeNames(subject)
  describeVersions(subject)
  describeBadCalls(subject)
  describeRaces(subject)
  describeDurability(subject)
}
