/**
 * Drawn entries in drawn bundles, and drawn questions to them, which are answered as a filter over
 * all entries would.
 * @module
 */
import { expect } from 'bun:test'
import * as fc from 'fast-check'
import { sealBundle } from '../../src/audit/bundle.ts'
import type { AuditEntry } from '../../src/audit/entry.ts'
import { matchesEntry, type EntryFilter } from '../../src/audit/entry-filter.ts'
import { findBelow, findPage } from '../../src/audit/find-entries.ts'
import { indexNext } from '../../src/audit/search-index.ts'
import { createKeyring } from '../../src/crypto/keyring-format.ts'
import { makeKeys } from '../../src/crypto/keyring.ts'
import { pauses } from '../../src/lib/work.ts'
import { bundleEntriesMax, leafBytes } from '../../src/limits/work-limits.ts'
import { elapsedMs, randomBytes } from '../../src/server/process/system.ts'
import type { Store } from '../../src/store/contract.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from './folders.ts'
import { cases } from './thorough.ts'

const keys = makeKeys(createKeyring(randomBytes, 1))
export const startMs = Date.UTC(2026, 0, 1)
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

export const reader = (store: Store) => ({
  store,
  keys,
  randomBytes,
  elapsedMs,
  pause: pauses(elapsedMs),
})

/** Indexes the next slice of a log in a process that ends amid it: behind its mark and a part. */
export async function indexHalf(store: Store): Promise<void> {
  let writes = 0
  const write: Store['write'] = async changes => {
    writes += 1
    if (writes === 3) throw new Error('the process ends here')
    return store.write(changes)
  }
  const indexing = indexNext({ ...reader(store), store: { ...store, write } })
  await expect(indexing).rejects.toThrow('ends here')
}

/** Removes the bundles below a sequence. @returns that of the oldest entry that is left */
export async function removeBelow(store: Store, below: number): Promise<number> {
  await store.write([{ pruneLog: below }])
  const { from } = await store.logRange()
  expect(from).toBeGreaterThan(below - bundleEntriesMax)
  return from
}

/** Writes entries in bundles of drawn lengths. */
export async function append(
  store: Store,
  entries: readonly AuditEntry[],
  lengths: readonly number[],
) {
  let at = 0
  for (let turn = 0; at < entries.length; turn += 1) {
    const length = Math.min(lengths[turn % lengths.length] ?? 1, bundleEntriesMax)
    const bundle = sealBundle(keys, randomBytes, entries.slice(at, at + length))
    await store.write([{ log: bundle }])
    at += length
  }
}

export async function pageOf(
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
export async function walkOf(store: Store, filter: EntryFilter, limit: number) {
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
console.log(`seed of test/support/log-questions.ts: ${seed}`)

export interface Log {
  readonly store: Store
  readonly entries: readonly AuditEntry[]
  /** Sequence of the first of them; default: 0. */
  readonly first?: number
}

export const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)

export const entryOf = (id: string): AuditEntry => ({
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

const openFolder = (): Promise<Store> => openLmdbStore({ path: temporaryFolder() })

/**
 * Runs a test on a log of drawn entries.
 * @param change makes members of a drawn one and its number
 * @param first sequence at which the log begins
 * @param open opens an empty store
 */
export async function onLog(
  count: number,
  run: (log: Log) => Promise<void>,
  change: (entry: AuditEntry, i: number) => Partial<AuditEntry> = () => ({}),
  first = 0,
  open: () => Promise<Store> = openFolder,
): Promise<void> {
  const store = await open()
  if (first > 0) await beginAt(store, first)
  const drawn = fc.sample(fc.tuple(drawnEntry, fc.integer({ min: 1, max: 300 })), {
    seed,
    numRuns: count,
  })
  const entries = drawn.map(([entry], i) => ({
    ...entry,
    atMs: startMs + 10 * i + entry.atMs,
    ...change(entry, i),
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

/**
 * Asks drawn questions, others each time.
 * @param from the first sequence that was not removed
 * @param numRuns how many questions
 */
export const compare = (log: Log, from = 0, numRuns = cases(60, 8)) =>
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
    { seed: seed + (compared += 1), numRuns },
  )
