import { describe, expect, test } from 'bun:test'
import type { Store } from '../../src/store/contract.ts'
import {
  encodeDeadline,
  encodeDeadlineKey,
  encodeRowKey,
  encodeRowVersion,
  encodeTermKey,
} from '../../src/store/lmdb/layout.ts'
import { copyToBitmap } from '../../src/store/core/place-set.ts'
import { encodeRow } from '../../src/store/core/row-format.ts'
import {
  openEnvironment,
  type LmdbEnvironment,
  type LmdbTable,
} from '../../src/store/lmdb/environment.ts'
import type { StoreFinding } from '../../src/store/operated.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../support/folders.ts'
import { foldAll } from './fold.ts'
import {
  expectFault,
  inserted,
  insertOf,
  ordinalsOf,
  replaceOf,
  rowOf,
  termOf,
  uniqueOf,
  written,
} from './rows.ts'
import { changeState, tamper } from './tamper.ts'

/**
 * Row 1: unique 1, terms 7 and 8, deadline 50, replaced once. Row 2: unique 2, term 7. Row 3:
 * unique 3, inserted and removed.
 */
async function makeTail(): Promise<string> {
  const path = temporaryFolder()
  const store = await openLmdbStore({ path })
  const first = await inserted(store, { uniques: [1], terms: [7, 8], deadlineMs: 50 })
  await inserted(store, { uniques: [2], terms: [7] })
  await written(
    store,
    replaceOf(first, { uniques: [1], terms: [7, 8], deadlineMs: 50, version: 2 }),
  )
  await written(store, { remove: await inserted(store, { uniques: [3], terms: [7] }) })
  await store.close()
  return path
}

async function makeStore(): Promise<string> {
  const path = await makeTail()
  await foldAll(path)
  return path
}

const shortenValue = (table: LmdbTable, key: Uint8Array): void => {
  const value = table.getBinary(key)
  if (value === undefined) throw new Error('expected an entry to damage')
  table.putSync(key, value.subarray(0, value.length - 1))
}

const sevenKey = encodeTermKey(termOf(7), 0)
const fiftyKey = encodeDeadlineKey(encodeDeadline(50), 0)
const oldRow = encodeRow(rowOf({ uniques: [1], terms: [7, 8], deadlineMs: 50, version: 1 }))
const findOne = async (store: Store): Promise<unknown> => store.find(uniqueOf(1))
const pageSeven = (store: Store): Promise<unknown> => ordinalsOf(store, { term: termOf(7) })
const dueNow = (store: Store): Promise<unknown> => store.due(50, 10)
const removeOne = (store: Store): Promise<unknown> => store.write([{ remove: 1 }])
const requireOne = (store: Store): Promise<unknown> => store.write([{ require: 1, ifVersion: 1 }])
const insertSeven = (store: Store): Promise<unknown> =>
  store.write([insertOf({ uniques: [30], terms: [7] })])

interface Damage {
  readonly says: string
  readonly change: (environment: LmdbEnvironment) => void
  readonly breaks: readonly ((store: Store) => Promise<unknown>)[]
  readonly finds: readonly StoreFinding[]
}

const damages: readonly Damage[] = [
  {
    says: 'a row that is put back to its older version',
    change: ({ rows }) => rows.putSync(encodeRowKey(1), oldRow),
    breaks: [findOne, pageSeven, removeOne, requireOne],
    finds: [
      { kind: 'unique_missing', ordinal: 1 },
      { kind: 'unique_orphan', ordinal: 1 },
    ],
  },
  {
    says: 'a row that is gone',
    change: ({ rows }) => rows.removeSync(encodeRowKey(1)),
    breaks: [findOne, pageSeven],
    finds: [
      { kind: 'unique_orphan', ordinal: 1 },
      { kind: 'term_orphan', ordinal: 1 },
      { kind: 'term_orphan', ordinal: 1 },
      { kind: 'deadline_orphan', ordinal: 1 },
    ],
  },
  {
    says: 'a row under the ordinal of another',
    change: ({ rows }) => rows.putSync(encodeRowKey(1), rows.getBinary(encodeRowKey(2)) ?? oldRow),
    breaks: [findOne, pageSeven, removeOne],
    finds: [
      { kind: 'unique_missing', ordinal: 1 },
      { kind: 'unique_orphan', ordinal: 1 },
      { kind: 'term_orphan', ordinal: 1 },
      { kind: 'deadline_orphan', ordinal: 1 },
    ],
  },
  {
    says: 'a row that is cut short',
    change: ({ rows }) => shortenValue(rows, encodeRowKey(1)),
    breaks: [findOne, pageSeven, removeOne],
    finds: [
      { kind: 'row_damaged', ordinal: 1 },
      { kind: 'unique_orphan', ordinal: 1 },
      { kind: 'term_orphan', ordinal: 1 },
      { kind: 'term_orphan', ordinal: 1 },
      { kind: 'deadline_orphan', ordinal: 1 },
    ],
  },
  {
    says: 'a unique that leads to another row',
    change: ({ uniques }) =>
      uniques.putSync(uniqueOf(1), encodeRowVersion({ ordinal: 2, version: 1 })),
    breaks: [findOne, pageSeven, removeOne],
    finds: [
      { kind: 'unique_missing', ordinal: 1 },
      { kind: 'unique_orphan', ordinal: 2 },
    ],
  },
  {
    says: 'a unique that is gone',
    change: ({ uniques }) => uniques.removeSync(uniqueOf(1)),
    breaks: [pageSeven, removeOne],
    finds: [{ kind: 'unique_missing', ordinal: 1 }],
  },
  {
    says: 'a unique that is cut short',
    change: ({ uniques }) => shortenValue(uniques, uniqueOf(1)),
    breaks: [findOne, pageSeven, removeOne],
    finds: [{ kind: 'unique_missing', ordinal: 1 }, { kind: 'unique_damaged' }],
  },
  {
    says: 'a term that claims a row which does not have it',
    change: ({ terms }) => terms.putSync(encodeTermKey(termOf(8), 0), Uint8Array.of(1, 0, 2, 0)),
    breaks: [store => ordinalsOf(store, { term: termOf(8) })],
    finds: [{ kind: 'term_orphan', ordinal: 2 }],
  },
  {
    says: 'a term that lost a row',
    change: ({ terms }) => terms.putSync(sevenKey, Uint8Array.of(2, 0)),
    breaks: [
      store => ordinalsOf(store, { from: { unique: uniqueOf(1) }, except: { term: termOf(7) } }),
    ],
    finds: [{ kind: 'term_missing', ordinal: 1 }],
  },
  {
    says: 'a chunk that is cut short',
    change: ({ terms }) => shortenValue(terms, sevenKey),
    breaks: [pageSeven, removeOne],
    finds: [
      { kind: 'term_missing', ordinal: 1 },
      { kind: 'term_missing', ordinal: 2 },
      { kind: 'term_damaged', ordinal: 0 },
    ],
  },
  {
    says: 'a chunk in the wrong form',
    change: ({ terms }) =>
      terms.putSync(sevenKey, new Uint8Array(copyToBitmap(Uint16Array.of(1, 2)).buffer)),
    breaks: [],
    finds: [{ kind: 'term_damaged', ordinal: 0 }],
  },
  {
    says: 'a deadline that lost a row',
    change: ({ deadlines }) => deadlines.removeSync(fiftyKey),
    breaks: [store => ordinalsOf(store, { term: termOf(7) }, { nowMs: 50 })],
    finds: [{ kind: 'deadline_missing', ordinal: 1 }],
  },
  {
    says: 'a deadline of a row that never ends',
    change: ({ deadlines }) => deadlines.putSync(fiftyKey, Uint8Array.of(1, 0, 2, 0)),
    breaks: [],
    finds: [{ kind: 'deadline_orphan', ordinal: 2 }],
  },
]

describe('a store that was changed behind its back', () => {
  test('is whole before', async () => {
    const store = await openLmdbStore({ path: await makeStore() })
    for (const call of [findOne, pageSeven, dueNow, insertSeven, requireOne, removeOne]) {
      await call(store)
      expect(await store.integrity()).toEqual([])
    }
    await store.close()
  })

  // proves S10
  test.each(damages)('$says: is refused where it is met, and found', async damage => {
    const path = await makeStore()
    await tamper(path, damage.change)
    const store = await openLmdbStore({ path })
    for (const call of damage.breaks) await expectFault(call(store), 'storage_corrupt')
    expect(await store.integrity()).toEqual(damage.finds)
    // A damaged row stops nothing else.
    await inserted(store, { uniques: [9], terms: [9] })
    expect((await store.find(uniqueOf(2)))?.ordinal).toBe(2)
    await store.close()
  })

  test('a damaged row is not due, and keeps no other from ending', async () => {
    const path = await makeStore()
    const before = await openLmdbStore({ path })
    const other = await inserted(before, { uniques: [4], terms: [7], deadlineMs: 60 })
    await before.close()
    await tamper(path, ({ rows }) => shortenValue(rows, encodeRowKey(1)))
    const store = await openLmdbStore({ path })
    expect((await store.due(100, 1)).map(({ ordinal }) => ordinal)).toEqual([other])
    await store.close()
  })

  test('nor is a row that one unique does not lead to: it could not be removed', async () => {
    const path = await makeStore()
    const before = await openLmdbStore({ path })
    const held = await inserted(before, { uniques: [4, 5], terms: [7], deadlineMs: 60 })
    const other = await inserted(before, { uniques: [6], terms: [7], deadlineMs: 70 })
    expect((await before.due(60, 9)).map(({ ordinal }) => ordinal)).toEqual([1, held])
    await before.close()
    await foldAll(path)
    await tamper(path, ({ uniques }) => uniques.removeSync(uniqueOf(5)))
    const store = await openLmdbStore({ path })
    expect((await store.due(100, 9)).map(({ ordinal }) => ordinal)).toEqual([1, other])
    await expectFault(store.write([{ remove: held }]), 'storage_corrupt')
    await store.close()
  })

  test('reads that break off give their reader slots back', async () => {
    const path = await makeStore()
    await tamper(path, ({ rows }) => rows.removeSync(encodeRowKey(1)))
    const store = await openLmdbStore({ path })
    const environment = openEnvironment(path)
    const readers = (): unknown =>
      Object.entries(environment.root.getStats()).find(([name]) => name === 'numReaders')?.[1]
    await findOne(store).catch(() => {})
    const before = readers()
    expect(before).toBeGreaterThan(0)
    for (let turn = 0; turn < 20; turn += 1) {
      await expectFault(pageSeven(store), 'storage_corrupt')
      await Bun.sleep(0)
    }
    expect(readers()).toBe(before)
    await Promise.all([store.close(), environment.root.close()])
  })

  test('a next ordinal that was put back gives no ordinal twice', async () => {
    const path = await makeStore()
    await tamper(path, changeState({ nextOrdinal: 2, foldedTo: 2, foldingTo: 2 }))
    await expectFault(openLmdbStore({ path }), 'storage_corrupt')
  })

  test('a row beyond the next ordinal is told before one is put in front of it', async () => {
    const path = await makeStore()
    const store = await openLmdbStore({ path })
    await tamper(path, ({ rows }) => rows.putSync(encodeRowKey(1_000), oldRow))
    await expectFault(inserted(store, { uniques: [30] }), 'storage_corrupt')
    expect(await store.find(uniqueOf(30))).toBeUndefined()
    await store.close()
  })

  test('a next ordinal that is put back while open stops inserts, and reads go on', async () => {
    const path = await makeStore()
    const store = await openLmdbStore({ path })
    await tamper(path, changeState({ nextOrdinal: 2, foldedTo: 2, foldingTo: 2 }))
    await expectFault(inserted(store, { uniques: [30] }), 'storage_corrupt')
    expect(await store.integrity()).toContainEqual({ kind: 'meta_damaged' })
    expect((await store.find(uniqueOf(2)))?.ordinal).toBe(2)
    await store.close()
  })

  test.each([
    [
      'of an unknown format',
      (meta: LmdbTable, key: Uint8Array) => meta.putSync(key, encodeDeadline(1)),
    ],
    ['without a format', (meta: LmdbTable, key: Uint8Array) => meta.removeSync(key)],
  ])('a store %s is not opened', async (_, change) => {
    const path = await makeStore()
    await tamper(path, ({ meta }) => {
      change(meta, new TextEncoder().encode('format'))
    })
    await expectFault(openLmdbStore({ path }), 'storage_corrupt')
  })
})
