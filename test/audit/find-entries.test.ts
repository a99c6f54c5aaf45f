/**
 * Entries of the audit log are found by the index and behind it as a filter over all of them would:
 * drawn entries, drawn bundles, drawn questions, and an index that has come anywhere.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { AuditEntry } from '../../src/audit/entry.ts'
import { matchesEntry } from '../../src/audit/entry-filter.ts'
import { findBelow, findPage } from '../../src/audit/find-entries.ts'
import { atSlice, behindChunk, indexKey, spanKind } from '../../src/audit/index-format.ts'
import { indexedBelow, indexNext } from '../../src/audit/search-index.ts'
import {
  bundleEntriesMax,
  logChunkEntries,
  logEntriesOpenedMax,
  logSliceEntries,
} from '../../src/limits/work-limits.ts'
import type { Store } from '../../src/store/contract.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../support/folders.ts'
import {
  append,
  compare,
  entryOf,
  indexHalf,
  onLog,
  pageOf,
  reader,
  removeBelow,
  startMs,
  upTo,
  walkOf,
} from '../support/log-questions.ts'

describe('entries of a log are found as by sight', () => {
  test('with an index that is behind, at its end, and begun anew behind it', () =>
    onLog(2 * logSliceEntries, async log => {
      expect(await indexNext(reader(log.store))).toBe(true)
      expect(await indexedBelow(log.store)).toBe(logSliceEntries)
      await compare(log)
      expect(await indexNext(reader(log.store))).toBe(true)
      expect(await indexNext(reader(log.store))).toBe(false)
      expect(await indexedBelow(log.store)).toBe(2 * logSliceEntries)
      await compare(log)
      const more = log.entries.slice(0, 50)
      await append(log.store, more, [7])
      await compare({ ...log, entries: [...log.entries, ...more] })
    }))

  test('without an index', () => onLog(1_000, compare))

  test('while a slice is being written, and counted once', () =>
    onLog(
      logSliceEntries + 10,
      async log => {
        await indexHalf(log.store)
        await compare(log)
        expect(await indexNext(reader(log.store))).toBe(true)
        await compare(log)
      },
      // More values than one write takes.
      (_, i) => ({ keyId: `key-${i}` }),
    ))

  test('counted once if some are removed while their slice is being written', async () => {
    const store = await openLmdbStore({ path: temporaryFolder() })
    const entries = upTo(2 * logSliceEntries).map(i => ({
      ...entryOf(`entity-${i}`),
      // More values than one write takes.
      keyId: `key-${i}`,
    }))
    await append(store, entries, [50])
    await indexHalf(store)
    await store.write([{ pruneLog: 100 }])
    while (await indexNext(reader(store)));
    for (let i = 0; i < entries.length; i += 20) {
      const filter = { tenantId: 'tenant-1', entityId: `entity-${i}` }
      const sequences = i < 100 ? [] : [i]
      const page = await pageOf(store, filter, { offset: 0, limit: 2 })
      expect([i, page]).toEqual([i, { total: sequences.length, sequences }])
    }
    await store.close()
  })

  test('but for those that were removed, also before they were indexed', () =>
    onLog(5 * logSliceEntries, async log => {
      expect(await indexNext(reader(log.store))).toBe(true)
      await compare(log, await removeBelow(log.store, logSliceEntries - 200))
      const from = await removeBelow(log.store, 3 * logSliceEntries + 100)
      await compare(log, from)
      while (await indexNext(reader(log.store)));
      await compare(log, from)
    }))

  const lastPlace = logSliceEntries - 1

  test.each([
    ['the last instant of a slice on', lastPlace, undefined, [lastPlace]],
    ['just behind it on', logSliceEntries, undefined, []],
    ['before its first instant', undefined, 0, []],
    ['before the second one', undefined, 1, [0]],
    ['the whole of it', 0, logSliceEntries, upTo(logSliceEntries).toReversed()],
    ['all but the last instant', 0, lastPlace, upTo(logSliceEntries - 1).toReversed()],
  ] as const)('from %s', async (_, from, before, expected) => {
    const store = await openLmdbStore({ path: temporaryFolder() })
    const entries = upTo(logSliceEntries).map(i => ({ ...entryOf('one'), atMs: startMs + i }))
    await append(store, entries, [1_000])
    expect(await indexNext(reader(store))).toBe(true)
    const instantOf = (ms: number | undefined) => (ms === undefined ? undefined : startMs + ms)
    const asked = { fromMs: instantOf(from), beforeMs: instantOf(before) }
    const filter = { tenantId: 'tenant-1', entityId: 'one', ...asked }
    const page = await pageOf(store, filter, { offset: 0, limit: logSliceEntries })
    expect(page).toEqual({ total: expected.length, sequences: [...expected] })
    await store.close()
  })

  test('on both sides of the border between two chunks', () =>
    onLog(
      2_000,
      async log => {
        while (await indexNext(reader(log.store)));
        expect(await indexedBelow(log.store)).toBe(logChunkEntries)
        await compare(log, log.first)
      },
      undefined,
      logChunkEntries - 1_000,
    ))

  test('by an id alone, with one value of a whole chunk in the place of each slice', () => {
    const slices = 4
    return onLog(
      slices * logSliceEntries + 500,
      async ({ store, entries }) => {
        while (await indexNext(reader(store)));
        let values = 0
        const derived: Store['derived'] = async (...range) => {
          const read = await store.derived(...range)
          values += read.length
          return read
        }
        const counting = { ...reader(store), store: { ...store, derived } }
        const filter = { tenantId: 'tenant-1', entityId: 'one' }
        const found = await findPage(counting, filter, { offset: 0, limit: 1 }, () => true)
        expect(found).toEqual({ total: entries.filter(each => matchesEntry(filter, each)).length })
        // One tells how far the log is indexed, the other is that of the chunk.
        expect(values).toBe(2)
        await walkOf(counting.store, { ...filter, result: '200' }, 100)
        expect(values).toBeGreaterThanOrEqual(2 + slices)
      },
      (_, i) => (i % 100 === 0 ? entryOf('one') : {}),
      logChunkEntries - slices * logSliceEntries,
    )
  })
})

test('by an id and instants where slices are shorter, for their many ids', () => {
  const idsEach = 100
  const count = 1_000
  const first = logChunkEntries - count
  return onLog(
    count,
    async ({ store }) => {
      while (await indexNext(reader(store)));
      expect(await indexedBelow(store)).toBe(logChunkEntries)
      const spans = await store.derived(
        atSlice(indexKey(spanKind), first - logSliceEntries),
        behindChunk(indexKey(spanKind), 0),
        count,
      )
      expect(spans.length).toBeGreaterThan(1)
      for (let i = 0; i < count; i += 100) {
        const filter = { tenantId: 'tenant-1', entityId: `id-${i}-0` }
        const instants = { fromMs: startMs + 10 * i, beforeMs: startMs + 10 * i + 1 }
        for (const asked of [filter, { ...filter, ...instants }]) {
          const page = await pageOf(store, asked, { offset: 0, limit: 2 })
          expect([i, page]).toEqual([i, { total: 1, sequences: [first + i] }])
        }
      }
    },
    (_, i) => ({
      ...entryOf('none'),
      atMs: startMs + 10 * i,
      entityIds: upTo(idsEach).map(k => `id-${i}-${k}`),
    }),
    first,
  )
})

describe('the index of entries that were removed', () => {
  test('is removed with their chunk', () =>
    onLog(
      2_000,
      async ({ store, first = 0 }) => {
        const chunk = [indexKey(0), atSlice(indexKey(0), logChunkEntries)] as const
        while (await indexNext(reader(store)));
        expect((await store.derived(...chunk, 1)).length).toBe(1)
        await append(store, [entryOf('none'), entryOf('none')], [1])
        await store.write([{ pruneLog: first + 2_001 }])
        while (await indexNext(reader(store)));
        expect(await store.derived(...chunk, 1)).toEqual([])
        expect(await indexedBelow(store)).toBe(logChunkEntries)
      },
      undefined,
      logChunkEntries - 1_000,
    ))
})

describe('a question that the index cannot answer', () => {
  const entry: AuditEntry = {
    atMs: startMs,
    tenantId: 'tenant-1',
    operation: 'getToken',
    entityIds: [],
    result: 200,
  }
  let store: Store
  beforeAll(async () => {
    store = await openLmdbStore({ path: temporaryFolder() })
    const all = Array.from({ length: logEntriesOpenedMax + 2_000 }, (_, i) =>
      i === 5 ? { ...entry, traceId: 'the first' } : entry,
    )
    await append(store, all, [bundleEntriesMax])
    while (await indexNext(reader(store)));
  })
  afterAll(() => store.close())

  // proves C17.9
  test('opens a bounded number of entries, and a walk goes on from there', async () => {
    const filter = { tenantId: 'tenant-1', traceId: 'the first' }
    const take = () => true
    expect(await findPage(reader(store), filter, { offset: 0, limit: 1 }, take)).toEqual({
      refused: 'work',
    })
    const next = await findBelow(reader(store), filter, { before: Infinity, limit: 1 }, take)
    expect(next).toBeGreaterThan(500)
    expect(next).toBeLessThanOrEqual(2_000 + bundleEntriesMax)
    expect(await walkOf(store, filter, 1)).toEqual([5])
  })

  test('is answered by a page that needs less', async () => {
    const filter = { tenantId: 'tenant-1', entityId: 'no such', traceId: 'the first' }
    expect(await pageOf(store, filter, { offset: 0, limit: 1 })).toEqual({
      total: 0,
      sequences: [],
    })
  })
})
