/**
 * Entries that writes bring to the log of a store: sealed together, once all is decided.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { ApiError } from '../../src/lib/errors.ts'
import { bundleEntriesWanted } from '../../src/limits/work-limits.ts'
import type { UnsealedEntry, Store } from '../../src/store/contract.ts'
import { bundleOf, insertOf, makeNumberedEntries, uniqueOf, written } from './rows.ts'
import type { Subject } from './subject.ts'

/** Numbers of the entries of each bundle. */
const bundled = async (store: Store): Promise<readonly (readonly number[])[]> =>
  (await store.bundles({ from: 0 }, 100)).map(({ sealed }) => [...sealed])

export function describeLogEntries({ store }: Subject): void {
  describe('entries of writes', () => {
    test('are sealed together with those of their commit, but for refused writes', async () => {
      const entryOf = makeNumberedEntries()
      const insert = (number: number) => insertOf({ uniques: [number] })
      const numbers = Array.from({ length: 40 }, (_, i) => i)
      const outcomes = await Promise.all(
        // Every fourth wants the unique of the one before it.
        numbers.map(i => store().write([insert(i % 4 === 3 ? i - 1 : i), entryOf(i)])),
      )
      expect(outcomes.map(({ ok }) => ok)).toEqual(numbers.map(i => i % 4 !== 3))
      const all = await bundled(store())
      expect(all.flat()).toEqual(numbers.filter(i => i % 4 !== 3))
      expect(all.length).toBeLessThan(20)
      expect(await store().logRange()).toEqual({ from: 0, next: 30 })
    })

    test('come behind the bundles of their write, only beside others of their seal', async () => {
      const [entryOf, otherOf] = [makeNumberedEntries(), makeNumberedEntries()]
      await store().write([entryOf(1), { log: bundleOf(9) }, entryOf(2), otherOf(3), otherOf(4)])
      expect(await bundled(store())).toEqual([
        [9, 9, 9],
        [1, 2],
        [3, 4],
      ])
      expect(await store().logRange()).toEqual({ from: 0, next: 5 })
    })

    test('are sealed in several bundles if they are many or long', async () => {
      const entryOf = makeNumberedEntries()
      const many = Array.from({ length: bundleEntriesWanted + 2 }, () => entryOf(1))
      await store().write(many)
      const longest = 2 * 1024 * 1024
      await store().write([entryOf(2, longest), entryOf(3, longest), entryOf(4), entryOf(5)])
      const lengths = (await bundled(store())).map(each => each.length)
      expect(lengths).toEqual([bundleEntriesWanted, 2, 1, 1, 2])
    })

    const sealed = (): never => {
      throw new ApiError('unavailable', 'the vault is sealed')
    }
    test.each<[string, UnsealedEntry['seal'], string]>([
      ['cannot be sealed', sealed, 'unavailable'],
      ['are sealed as no bundle', () => ({ leaves: [], sealed: new Uint8Array(1) }), 'internal'],
    ])('that %s keep their write from landing', async (_, seal, kind) => {
      const write = store().write([insertOf({ uniques: [1] }), { entry: { bytes: 1, seal } }])
      await expect(write).rejects.toMatchObject({ kind })
      expect(await store().find(uniqueOf(1))).toBeUndefined()
      expect(await store().logRange()).toEqual({ from: 0, next: 0 })
      await written(store(), insertOf({ uniques: [1] }), makeNumberedEntries()(1))
      expect(await store().logRange()).toEqual({ from: 0, next: 1 })
    })
  })
}
