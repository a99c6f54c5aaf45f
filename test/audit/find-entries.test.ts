/**
 * Entries of the audit log are found by the index and behind it as a filter over all of them would:
 * drawn entries, drawn bundles, drawn questions, and an index that has come anywhere.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { sealBundle } from '../../src/audit/bundle.ts'
import type { AuditEntry } from '../../src/audit/entry.ts'
import { matchesEntry, type EntryFilter } from '../../src/audit/entry-filter.ts'
import { findBelow, findPage } from '../../src/audit/find-entries.ts'
import { atSlice, indexKey } from '../../src/audit/index-format.ts'
import { indexedBelow, indexNext } from '../../src/audit/search-index.ts'
import { createKeyring } from '../../src/crypto/keyring-format.ts'
import { makeKeys } from '../../src/crypto/keyring.ts'
import {
  bundleEntriesMax,
  leafBytes,
  logChunkEntries,
  logEntriesOpenedMax,
  logSliceEntries,
} from '../../src/limits/work-limits.ts'
import { elapsedMs, randomBytes } from '../../src/server/process/system.ts'
import type { Store } from '../../src/store/contract.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../support/folders.ts'
import { cases } from '../support/thorough.ts'

const keys = makeKeys(createKeyring(randomBytes, 1))
const startMs = Date.UTC(2026, 0, 1)
const longId = `${'é'.repeat(399)}\u2028`
const entityIds = ['card-1', 'card-2', 'a"b', '\u2028', longId, '', '__proto__']
const actors = ['0e3a9d3c-5d0f-4ac5-b4cb-3f0f2c7c5a44', '1e3a9d3c-5d0f-4ac5-b4cb-3f0f2c7c5a44']
const tenants = ['tenant-1', 'tenant-2']

const some = <T>(...values: readonly T[]) => fc.constantFrom(...values)
const maybe = <T>(...values: readonly T[]) => fc.constantFrom(...values, undefined)

const drawnEntry: fc.Arbitrary<AuditEntry> = fc.record({
  // Some entries are written later than others that happened after them.
  atMs: fc.integer({ min: -20_000, max: 0 }),
  tenantId: maybe(...tenants, 'tenant-1'),
  actorId: maybe(...actors),
  keyId: maybe('key-1', 'key-2'),
  operation: some('getToken', 'createToken', 'getToken'),
  entityType: maybe('token', 'application'),
  entityIds: fc.array(some(...entityIds), { maxLength: 3 }),
  transform: maybe('reveal', 'mask'),
  result: some(200, 200, 404),
  traceId: maybe('trace-1', 'trace-2'),
  from: maybe('192.0.2.1', '192.0.2.2'),
})

/** Each filter is mostly absent, or none would match, and the index would decide too rarely. */
const seldom = <T>(drawn: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: drawn })
const asked = <T>(...values: readonly T[]) => seldom(fc.constantFrom(...values))

const drawnFilter = (lastMs: number): fc.Arbitrary<EntryFilter> =>
  fc.record({
    tenantId: some(...tenants),
    entityId: asked(...entityIds, 'no such'),
    entityType: asked('token', 'application', 'no such'),
    actorId: asked(...actors),
    keyId: asked('key-1', 'key-2'),
    operation: asked('getToken', 'createToken', 'GETTOKEN'),
    transform: asked('reveal', 'mask'),
    result: asked('200', '404', '0200'),
    traceId: asked('trace-1', 'trace-2'),
    from: asked('192.0.2.1', '192.0.2.2'),
    fromMs: seldom(fc.integer({ min: startMs - 1, max: lastMs + 1 })),
    beforeMs: seldom(fc.integer({ min: startMs - 1, max: lastMs + 1 })),
  })

const reader = (store: Store) => ({ store, keys, elapsedMs })

/** Writes entries in bundles of drawn lengths. */
async function append(store: Store, entries: readonly AuditEntry[], lengths: readonly number[]) {
  let at = 0
  for (let turn = 0; at < entries.length; turn += 1) {
    const length = Math.min(lengths[turn % lengths.length] ?? 1, bundleEntriesMax)
    const bundle = sealBundle(keys, randomBytes, entries.slice(at, at + length))
    await store.write([{ log: bundle }])
    at += length
  }
}

async function pageOf(
  store: Store,
  filter: EntryFilter,
  window: { offset: number; limit: number },
) {
  const sequences: number[] = []
  const found = await findPage(reader(store), filter, window, ({ sequence }) => {
    sequences.push(sequence)
    return true
  })
  return { ...found, sequences }
}

/** All stretches of a walk. */
async function walkOf(store: Store, filter: EntryFilter, limit: number) {
  const sequences: number[] = []
  for (let before: number | undefined = Infinity; before !== undefined;) {
    let count = 0
    const next: number | undefined = await findBelow(
      reader(store),
      filter,
      { before, limit },
      ({ sequence }) => {
        count += 1
        sequences.push(sequence)
        return true
      },
    )
    expect(count).toBeLessThanOrEqual(limit)
    if (next !== undefined) expect(next).toBeLessThan(before)
    before = next
  }
  return sequences
}

const seed = Math.floor(Math.random() * 2 ** 31)
console.log(`seed of test/audit/find-entries.test.ts: ${seed}`)

interface Log {
  readonly store: Store
  readonly entries: readonly AuditEntry[]
  /** Sequence of the first of them; default: 0. */
  readonly first?: number
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)

const entryOf = (id: string): AuditEntry => ({
  atMs: startMs,
  tenantId: 'tenant-1',
  operation: 'getToken',
  entityIds: [id],
  result: 200,
})

/** Has a log begin at a sequence, as if all before it had been removed. */
async function beginAt(store: Store, sequence: number): Promise<void> {
  const leaf = new Uint8Array(leafBytes)
  for (let left = sequence; left > 0; left -= bundleEntriesMax) {
    const leaves = Array.from({ length: Math.min(left, bundleEntriesMax) }, () => leaf)
    await store.write([{ log: { leaves, sealed: Uint8Array.of(1) } }])
  }
  await store.write([{ pruneLog: sequence }])
}

/**
 * Runs a test on a log of drawn entries.
 * @param idsOf makes ids of the drawn ones and a number
 * @param first sequence at which the log begins
 */
async function onLog(
  count: number,
  run: (log: Log) => Promise<void>,
  idsOf: (ids: readonly string[], i: number) => readonly string[] = ids => ids,
  first = 0,
): Promise<void> {
  const store = await openLmdbStore({ path: temporaryFolder() })
  if (first > 0) await beginAt(store, first)
  const drawn = fc.sample(fc.tuple(drawnEntry, fc.integer({ min: 1, max: 300 })), {
    seed,
    numRuns: count,
  })
  const entries = drawn.map(([entry], i) => ({
    ...entry,
    atMs: startMs + 10 * i + entry.atMs,
    entityIds: idsOf(entry.entityIds, i),
  }))
  const lengths = drawn.map(([, length]) => length)
  await append(store, entries, lengths)
  await run({ store, entries, first })
  await store.close()
}

/** Sequences that an auditor would find who read all entries. */
const foundBySight = ({ entries, first = 0 }: Log, filter: EntryFilter, from: number) =>
  entries
    .flatMap((entry, i) => (first + i >= from && matchesEntry(filter, entry) ? [first + i] : []))
    .toReversed()

let compared = 0

/** Asks drawn questions, others each time. @param from the first sequence that was not removed */
const compare = (log: Log, from = 0) =>
  fc.assert(
    fc.asyncProperty(
      drawnFilter(startMs + 10 * log.entries.length),
      fc.integer({ min: 1, max: 100 }),
      fc.nat(2_000),
      async (filter, size, offset) => {
        const { store } = log
        const expected = foundBySight(log, filter, from)
        const page = await pageOf(store, filter, { offset, limit: size })
        expect(page).toEqual({
          total: expected.length,
          sequences: expected.slice(offset, offset + size),
        })
        const limit = Math.max(1, Math.ceil(expected.length / 4))
        expect(await walkOf(store, filter, limit)).toEqual(expected)
      },
    ),
    { seed: seed + (compared += 1), numRuns: cases(60, 8) },
  )

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
        let writes = 0
        const write: Store['write'] = async changes => {
          writes += 1
          if (writes === 2) throw new Error('the process ends here')
          return log.store.write(changes)
        }
        const ending = { ...reader(log.store), store: { ...log.store, write } }
        expect(indexNext(ending)).rejects.toThrow('ends here')
        await compare(log)
        expect(await indexNext(reader(log.store))).toBe(true)
        await compare(log)
      },
      // More values than one write takes.
      (ids, i) => [...ids, `entity-${i}`],
    ))

  test('counted once if some are removed while their slice is being written', async () => {
    const store = await openLmdbStore({ path: temporaryFolder() })
    const entries = upTo(2 * logSliceEntries).map(i => entryOf(`entity-${i}`))
    await append(store, entries, [50])
    let writes = 0
    const write: Store['write'] = async changes => {
      writes += 1
      if (writes === 2) throw new Error('the process ends here')
      return store.write(changes)
    }
    expect(indexNext({ ...reader(store), store: { ...store, write } })).rejects.toThrow('ends here')
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
      const remove = async (below: number) => {
        await log.store.write([{ pruneLog: below }])
        const { from } = await log.store.logRange()
        expect(from).toBeGreaterThan(below - bundleEntriesMax)
        return from
      }
      expect(await indexNext(reader(log.store))).toBe(true)
      await compare(log, await remove(logSliceEntries - 200))
      const from = await remove(3 * logSliceEntries + 100)
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
      ids => ids,
      logChunkEntries - 1_000,
    ))
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
      ids => ids,
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
