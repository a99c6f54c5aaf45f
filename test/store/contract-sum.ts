/**
 * The part of the store contract about the sum over all rows.
 *
 * @module
 */
import { describe, expect, test } from 'bun:test'
import type { Subject } from './subject.ts'
import { expectFault, inserted, insertOf, logOf, replaceOf, rowOf, written } from './rows.ts'
import { expectSum, sumFindings, sumSealer } from './sums.ts'

function describePruned(subject: Subject['store']): void {
  describe('the sum over all rows', () => {
    test('goes on where the log is pruned, also whole', async () => {
      const store = subject()
      store.keepSum(sumSealer)
      for (const number of [1, 2, 3]) await written(store, logOf(number, 2))
      await written(store, insertOf({ uniques: [1] }))
      for (const below of [3, 3, 4, 100]) {
        await written(store, { pruneLog: below })
        await expectSum(store)
        await written(store, { pruneLog: below }, logOf(below))
        await expectSum(store)
      }
      const { from, next } = await store.logRange()
      expect([from > 6, next]).toEqual([true, 10])
    })
  })
}

export function describeSum({ store: subject, reopen }: Subject): void {
  describe('the sum over all rows', () => {
    test('is that of the rows after any change, and of the entries of the log', async () => {
      const store = subject()
      store.keepSum(sumSealer)
      const ordinal = await inserted(store, { uniques: [1], terms: [7] })
      await expectSum(store)
      await written(store, insertOf({ uniques: [2] }), logOf(1))
      await expectSum(store)
      await written(store, replaceOf(ordinal, { uniques: [1, 3], version: 2 }), logOf(2, 3))
      await expectSum(store)
      const resealed = rowOf({ uniques: [1, 3], version: 2, parts: [Uint8Array.of(9)] })
      await written(store, { reseal: resealed, ordinal })
      await expectSum(store)
      await written(store, logOf(5, 2))
      await written(store, { remove: ordinal }, insertOf({ uniques: [1] }))
      await written(store, { require: ordinal + 1, ifVersion: 1 }, { bumpGeneration: true })
      await expectSum(store)
    })

    test('takes nothing from what is refused, nor from a row that is not there', async () => {
      const store = subject()
      store.keepSum(sumSealer)
      const ordinal = await inserted(store, { uniques: [1] })
      const outcomes = await Promise.all([
        store.write([insertOf({ uniques: [5] }), insertOf({ uniques: [1] }), logOf(1)]),
        store.write([{ remove: ordinal, ifVersion: 9 }, logOf(2)]),
        store.write([{ remove: ordinal + 5 }, logOf(3)]),
      ])
      expect(outcomes.map(({ ok }) => ok)).toEqual([false, false, true])
      await expectSum(store)
    })

    test('goes on in another process', async () => {
      let store = subject()
      for (let number = 0; number < 3; number += 1) {
        store.keepSum(sumSealer)
        await written(store, insertOf({ uniques: [number] }), logOf(number))
        await expectSum(store)
        store = await reopen()
      }
      await expectSum(store)
    })

    test('is missing where rows were written without it', async () => {
      const store = subject()
      await inserted(store, { uniques: [1] })
      expect(await sumFindings(store)).toEqual(['sum_missing'])
    })

    test('is not left behind by a process without its keys', async () => {
      const first = subject()
      first.keepSum(sumSealer)
      const ordinal = await inserted(first, { uniques: [1] })
      const store = await reopen()
      await written(store, { require: ordinal, ifVersion: 1 }, { bumpGeneration: true })
      for (const change of [insertOf({ uniques: [2] }), { remove: ordinal }, logOf(1)]) {
        await expectFault(store.write([change]), 'internal')
      }
      await expectSum(store)
      store.keepSum(sumSealer)
      await inserted(store, { uniques: [2] })
      await expectSum(store)
    })
  })
  describePruned(subject)
}
