/**
 * The search index of the log compared with its entries: any value that was changed or taken away
 * is told of, and an index that was given up is made anew.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { unfoundEntries } from '../../src/audit/check-index.ts'
import {
  atSlice,
  bucketKey,
  chunkBucketKey,
  encodePlaces,
  encodeCount,
  encodeSpan,
  generationKey,
  indexEnd,
  indexKey,
  progressKey,
  spanKind,
} from '../../src/audit/index-format.ts'
import { giveUpIndex, indexedBelow, indexNext } from '../../src/audit/search-index.ts'
import { logChunkEntries, logSliceEntries } from '../../src/limits/work-limits.ts'
import type { DerivedValue, Store } from '../../src/store/contract.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../support/folders.ts'
import {
  append,
  compare,
  entryOf,
  indexHalf,
  onLog,
  reader,
  upTo,
} from '../support/log-questions.ts'

async function unfound(store: Store): Promise<number[]> {
  const found: number[] = []
  for await (const sequence of unfoundEntries(reader(store))) found.push(sequence)
  return found
}

async function indexAll(store: Store): Promise<void> {
  while (await indexNext(reader(store)));
}

/** All values of the index but how far it has come, oldest chunk first. */
const valuesOf = (store: Store): Promise<readonly DerivedValue[]> =>
  store.derived(indexKey(0), indexEnd, 100_000)

const put = (store: Store, derived: Uint8Array, value: Uint8Array | undefined) =>
  store.write([{ derived, value }])

/** A log of two whole slices and some entries behind them, which are not indexed. */
const onIndexed = (run: (store: Store) => Promise<void>) =>
  onLog(2 * logSliceEntries + 9, async ({ store }) => {
    await indexAll(store)
    await run(store)
  })

describe('an index as it was made finds all', () => {
  test('as far as it has come, and of a log without one', () =>
    onLog(3 * logSliceEntries, async ({ store }) => {
      expect(await unfound(store)).toEqual([])
      await indexNext(reader(store))
      expect(await unfound(store)).toEqual([])
      await indexHalf(store).catch(() => {})
      expect(await unfound(store)).toEqual([])
      await indexAll(store)
      expect(await unfound(store)).toEqual([])
    }))

  test.each([100, logSliceEntries, 2 * logSliceEntries - 1, 2 * logSliceEntries + 5])(
    'also where the oldest %i entries were removed',
    below =>
      onIndexed(async store => {
        await store.write([{ pruneLog: below }])
        expect(await unfound(store)).toEqual([])
      }),
  )

  test('also where it is given up, and made anew, while it is compared', () =>
    onIndexed(async store => {
      let hasBegun = false
      const bundles: Store['bundles'] = async (range, limit) => {
        if (!hasBegun) {
          hasBegun = true
          await giveUpIndex(store)
          await indexNext(reader(store))
        }
        return store.bundles(range, limit)
      }
      expect(await unfound({ ...store, bundles })).toEqual([])
      expect(hasBegun).toBe(true)
    }))

  test('and where some were removed before they were indexed', () =>
    onLog(3 * logSliceEntries, async ({ store }) => {
      await store.write([{ pruneLog: logSliceEntries + 100 }])
      await indexAll(store)
      expect(await unfound(store)).toEqual([])
    }))
})

describe('of an index that was changed, the slice is told', () => {
  test('whichever value was taken away', () =>
    onIndexed(async store => {
      const values = await valuesOf(store)
      expect(values.length).toBeGreaterThan(50)
      const told = new Set<number>()
      for (const { key, value } of values) {
        await put(store, key, undefined)
        const found = await unfound(store)
        expect(found.length).toBeGreaterThan(0)
        for (const sequence of found) told.add(sequence)
        await put(store, key, value)
      }
      expect(told).toEqual(new Set([0, logSliceEntries]))
      expect(await unfound(store)).toEqual([])
    }))

  test('whichever value has other bytes, also of a slice that was removed in part', () =>
    onIndexed(async store => {
      await store.write([{ pruneLog: 100 }])
      const { from } = await store.logRange()
      for (const { key, value } of await valuesOf(store)) {
        // Places that are no places any more, or the bucket of nothing.
        await put(store, key, Uint8Array.of(9))
        const told = await unfound(store)
        // Its only entry may be one of those that were removed.
        if (told.length > 0) expect([from, logSliceEntries]).toContain(told[0] ?? -1)
        else expect(key.subarray(-2)).toEqual(Uint8Array.of(0, 0))
        await put(store, key, value)
      }
    }))

  test('of which a list lacks one place, a bucket one id, a span one instant', () =>
    onIndexed(async store => {
      for (const { key, value } of await valuesOf(store)) {
        const isSpan = key[4] === spanKind
        const isBitmap = value.length === logSliceEntries / 8
        const less = isSpan
          ? encodeSpan({ earliestMs: 0, latestMs: 1 })
          : isBitmap
            ? new Uint8Array(value.length)
            : value.subarray(key[4] === 1 ? 8 : 2)
        await put(store, key, less)
        expect((await unfound(store)).length).toBe(1)
        await put(store, key, value)
      }
    }))

  test('if it tells to have come further, or has an instant for nothing', () =>
    onIndexed(async store => {
      const { next } = await store.logRange()
      await put(store, progressKey, encodeCount(next))
      expect(await unfound(store)).toEqual([2 * logSliceEntries])
      await put(store, progressKey, encodeCount(next + 1))
      expect(await unfound(store)).toEqual([next, 2 * logSliceEntries])
      await put(store, progressKey, encodeCount(2 * logSliceEntries))
      const span = atSlice(indexKey(spanKind), 500)
      await put(store, span, encodeSpan({ earliestMs: 0, latestMs: 1 }))
      expect(await unfound(store)).toEqual([0, 500])
    }))

  test('if it has keys and values that are none', () =>
    onIndexed(async store => {
      const { next } = await store.logRange()
      const long = Uint8Array.of(...indexKey(spanKind), 0)
      await put(store, long, new Uint8Array(12))
      expect(await unfound(store)).toEqual([0])
      await put(store, long, undefined)
      await put(store, atSlice(bucketKey(7), 700), new Uint8Array(9))
      await put(store, chunkBucketKey(7, 0), new Uint8Array(8))
      expect(await unfound(store)).toEqual([0])
      await put(store, generationKey, Uint8Array.of(1))
      await put(store, progressKey, Uint8Array.of(1))
      expect(await unfound(store)).toContain(next)
      await giveUpIndex(store)
      await indexAll(store)
      expect(await unfound(store)).toEqual([])
      expect(await indexedBelow(store)).toBe(2 * logSliceEntries)
    }))

  test('if what a whole chunk has is not that of its slices', () =>
    onIndexed(async store => {
      await put(store, chunkBucketKey(7, 0), new Uint8Array(8))
      expect(await unfound(store)).toEqual([0])
    }))
})

describe('an index that is given up', () => {
  test('is emptied of all that was put there, and made anew', () =>
    onLog(2 * logSliceEntries, async log => {
      const { store } = log
      await indexAll(store)
      const values = await valuesOf(store)
      await put(store, values[5]?.key ?? indexKey(9), undefined)
      await put(store, chunkBucketKey(7, 0), new Uint8Array(8))
      const other = atSlice(indexKey(77), 3)
      await put(store, other, encodePlaces([1]))
      await giveUpIndex(store)
      expect(await indexedBelow(store)).toBe(0)
      await compare(log)
      await indexAll(store)
      expect(await valuesOf(store)).toEqual(values)
      expect(await unfound(store)).toEqual([])
      await compare(log)
    }))

  test('begins with the oldest chunk that is kept', async () => {
    const store = await openLmdbStore({ path: temporaryFolder() })
    await append(
      store,
      upTo(2_000).map(i => entryOf(`entity-${i}`)),
      [50],
    )
    await indexAll(store)
    await giveUpIndex(store)
    let writes = 0
    const write: Store['write'] = changes => {
      writes += 1
      return store.write(changes)
    }
    const logRange = () => ({ from: 3 * logChunkEntries + 5, next: 3 * logChunkEntries + 5 })
    while (await indexNext({ ...reader(store), store: { ...store, write, logRange } }));
    expect(await indexedBelow(store)).toBe(3 * logChunkEntries)
    expect(await valuesOf(store)).toEqual([])
    expect(writes).toBeLessThan(10)
    await store.close()
  })

  test('takes no slice that was being written, and goes on after a crash', () =>
    onLog(
      2 * logSliceEntries,
      async log => {
        const { store } = log
        let writes = 0
        const write: Store['write'] = async changes => {
          writes += 1
          if (writes === 3) await giveUpIndex(store)
          return store.write(changes)
        }
        await indexNext({ ...reader(store), store: { ...store, write } })
        expect(writes).toBe(3)
        expect(await indexedBelow(store)).toBe(0)
        expect((await valuesOf(store)).length).toBeGreaterThan(0)
        await indexAll(store)
        expect(await unfound(store)).toEqual([])
        await compare(log)
      },
      // More values than one write takes.
      (_, i) => ({ keyId: `key-${i}` }),
    ))

  test('is not emptied by two processes at once once one has begun anew', () =>
    onLog(logSliceEntries, async ({ store }) => {
      await indexAll(store)
      await giveUpIndex(store)
      let others = 0
      const write: Store['write'] = async changes => {
        if (others === 0) {
          others += 1
          await indexAll(store)
        }
        return store.write(changes)
      }
      // It has read which values there are, and the other one makes them again before it writes.
      await indexNext({ ...reader(store), store: { ...store, write } })
      expect(others).toBe(1)
      expect(await indexedBelow(store)).toBe(logSliceEntries)
      expect(await unfound(store)).toEqual([])
    }))
})
