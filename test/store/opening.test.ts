/**
 * Checks before the engine opens a file, and files that are refused.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { open } from 'lmdb'
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assertDataFile, examinePages } from '../../src/store/lmdb/inspect/damaged-pages.ts'
import { copySnapshot } from '../../src/store/lmdb/maintenance/compact-copy.ts'
import { pagesCheckedBytesMax } from '../../src/store/core/limits.ts'
import { openEnvironment, tableNames } from '../../src/store/lmdb/environment.ts'
import { encodeRowKey } from '../../src/store/lmdb/layout.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../support/folders.ts'
import {
  add,
  copyOf,
  damagedCopyOf,
  inLeaf,
  inRecord,
  inRowsRoot,
  makeBusyStore,
  readPages,
  type Change,
  type DataPages,
} from './data-file.ts'
import { expectFault, inserted, rowOf, uniqueOf, written } from './rows.ts'

const made = await makeBusyStore()

const copyOfMade = (): string => copyOf(made)
const damaged = (change: Change): string => damagedCopyOf(made, change)

/** Opening is refused, and the file is as it was. */
async function expectRefused(path: string): Promise<void> {
  const before = readFileSync(join(path, 'data.mdb'))
  await expectFault(openLmdbStore({ path }), 'storage_corrupt')
  expect(readFileSync(join(path, 'data.mdb')).equals(before)).toBe(true)
  expect(examinePages(path).damaged).not.toEqual([])
}

describe('before a store is opened', () => {
  test.each([
    ['a byte', (size: number) => size - 1],
    ['a page', (size: number) => size - 4_096],
    ['a tenth', (size: number) => Math.floor(size * 0.9)],
    ['a quarter', (size: number) => Math.floor(size * 0.75)],
    ['half', (size: number) => Math.floor(size / 2)],
    ['all but two pages', () => 8_192],
    ['all but a page', () => 4_096],
    ['all but a byte', () => 1],
  ])('a file that lost %s is refused', async (_, lengthOf) => {
    const path = copyOfMade()
    const file = join(path, 'data.mdb')
    truncateSync(file, lengthOf(statSync(file).size))
    await expectRefused(path)
  })

  test('a file of anything else is refused', async () => {
    for (const bytes of [Buffer.alloc(20_000), Buffer.alloc(20_000, 'canary'), Buffer.from('x')]) {
      const path = temporaryFolder()
      writeFileSync(join(path, 'data.mdb'), bytes)
      await expectRefused(path)
    }
  })

  const newest =
    (offset: number, by: number): Change =>
    pages =>
      add(pages.bytes, pages.metaAt + offset, by)
  const oldest =
    (offset: number, by: number): Change =>
    pages =>
      add(pages.bytes, pages.at(1) - pages.metaAt + offset, by)

  test.each([
    ['without its magic', newest(24, 1)],
    ['of another version', newest(28, 1)],
    ['of another kind', newest(18, 1)],
    ['of another size', newest(48, 512)],
    ['of another transaction', newest(152, -4)],
    ['of a transaction of the other page', newest(152, 1)],
    ['of a transaction far ahead', newest(154, 2)],
    ['of other flags', newest(52, 2)],
    ['that is the older one, without its magic', oldest(24, 1)],
    ['that is the older one, of another transaction', oldest(152, 4)],
  ])('a meta page %s is refused', async (_, change) => {
    await expectRefused(damaged(change))
  })

  test.each([
    ['root of a table', inRowsRoot(18, 1)],
    ['record of a table', inRecord(40, 1)],
    ['count of free pages', (pages: DataPages) => add(pages.bytes, pages.metaAt + 80, 1)],
  ])('a file with a damaged %s is refused', async (_, change) => {
    await expectRefused(damaged(change))
  })

  test('a file with a page damaged further down is refused, and the page is named', async () => {
    const path = damaged(inLeaf(0, 1))
    const [page] = examinePages(path).damaged
    const fault = await openLmdbStore({ path }).catch((error: unknown) => error)
    expect(String(fault)).toContain(`page ${page} of its file is damaged`)
    await expectRefused(path)
  })

  test('of a large file every page is looked at only after a server that was killed', () => {
    const path = damaged(inLeaf(0, 1))
    truncateSync(join(path, 'data.mdb'), pagesCheckedBytesMax + 4_096)
    assertDataFile(path)
    const [page] = examinePages(path).damaged
    expect(() => assertDataFile(path, true)).toThrow(`page ${page} of its file is damaged`)
    const sound = copyOfMade()
    truncateSync(join(sound, 'data.mdb'), pagesCheckedBytesMax + 4_096)
    assertDataFile(sound, true)
  })

  test('a file that ends before pages that are free is whole', async () => {
    const path = temporaryFolder()
    const store = await openLmdbStore({ path })
    await inserted(store, { uniques: [1] })
    const big = await inserted(store, { uniques: [2], parts: [new Uint8Array(200_000)] })
    await written(store, { remove: big })
    await inserted(store, { uniques: [3] })
    await store.close()
    const { meta } = readPages(path)
    truncateSync(join(path, 'data.mdb'), (meta.lastPage - 9) * meta.pageBytes)
    expect(examinePages(path).damaged).toEqual([])
    const again = await openLmdbStore({ path })
    expect((await again.find(uniqueOf(3)))?.uniques).toEqual(rowOf({ uniques: [3] }).uniques)
    await inserted(again, { uniques: [4], parts: [new Uint8Array(200_000)] })
    expect(await again.integrity()).toEqual([])
    await again.close()
    expect(examinePages(path).damaged).toEqual([])
  })

  test('a copy of a moment is refused for a damaged page, which it names', async () => {
    const path = damaged(inLeaf(0, 1))
    const [page] = examinePages(path).damaged
    const to = join(temporaryFolder(), 'copy')
    const fault = await copySnapshot(path, to).catch((error: unknown) => error)
    expect(String(fault)).toContain(`page ${page} of its file is damaged`)
  })

  test('a copy of a moment is made of a store that is written to meanwhile', async () => {
    const path = copyOfMade()
    const store = await openLmdbStore({ path })
    await inserted(store, { uniques: [500] })
    const to = join(temporaryFolder(), 'copy')
    const copied = copySnapshot(path, to)
    for (let number = 501; number < 510; number += 1) await inserted(store, { uniques: [number] })
    await copied
    await store.close()
    const copy = await openLmdbStore({ path: to })
    expect((await copy.find(uniqueOf(500)))?.uniques).toEqual(rowOf({ uniques: [500] }).uniques)
    expect(await copy.integrity()).toEqual([])
    await copy.close()
  })

  test.each([0, 1, 3])('a store that has got %d of its tables gets the others', async count => {
    const path = temporaryFolder()
    const root = open({ path, noSubdir: false, overlappingSync: false })
    for (const name of tableNames.slice(0, count)) root.openDB({ name })
    await root.close()
    expect(examinePages(path).damaged).toEqual([])
    const store = await openLmdbStore({ path })
    await inserted(store, { uniques: [1] })
    expect(await store.integrity()).toEqual([])
    await store.close()
    expect(examinePages(path).damaged).toEqual([])
  })

  test('a folder without a database gets a new one', async () => {
    const path = temporaryFolder()
    const store = await openLmdbStore({ path })
    await inserted(store, { uniques: [1] })
    await store.close()
    expect(examinePages(path).damaged).toEqual([])
  })

  test('a run of pages that is longer than its data needs is whole', async () => {
    const path = temporaryFolder()
    const { root, rows } = openEnvironment(path)
    const key = encodeRowKey(1)
    root.transactionSync(() => {
      rows.putSync(key, new Uint8Array(40_000))
      rows.putSync(key, new Uint8Array(9_000))
    })
    await root.close()
    const { damaged: pages } = examinePages(path)
    expect(pages).toEqual([])
    expect(() => assertDataFile(path)).not.toThrow()
  })

  test("the engine's own copy is whole", async () => {
    const path = temporaryFolder()
    const environment = openEnvironment(copyOfMade())
    await environment.root.backup(path, false)
    await environment.root.close()
    expect(examinePages(path).damaged).toEqual([])
  })
})
