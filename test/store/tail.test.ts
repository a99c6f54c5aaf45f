/**
 * The tail: rows that nothing in the index leads to yet, and their folds.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { openEnvironment, tableNames } from '../../src/store/lmdb/environment.ts'
import { type StoreState } from '../../src/store/lmdb/store-state.ts'
import { openLmdbStore, type LmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { foldMovesMax } from '../../src/store/core/limits.ts'
import { temporaryFolder } from '../support/folders.ts'
import { foldAll } from './fold.ts'
import { inserted, insertOf, ordinalsOf, replaceOf, termOf, uniqueOf, written } from './rows.ts'

type TableName = (typeof tableNames)[number]

async function entriesOf(path: string): Promise<Record<TableName, number>> {
  const environment = openEnvironment(path)
  const counts = tableNames.map(name => [name, environment[name]?.getKeysCount() ?? 0] as const)
  await environment.root.close()
  return Object.fromEntries(counts) as Record<TableName, number>
}

/**
 * Waits until the rows before an ordinal are folded and the folds of an open store rest, as no
 * write continues them.
 */
async function untilFolded(store: LmdbStore, before: number): Promise<StoreState> {
  for (;;) {
    const state = store.state()
    const isResting = state.foldingTo === state.foldedTo && state.movesFrom >= state.movesOfFold
    if (isResting && state.foldedTo >= before) return state
    await Bun.sleep(5)
  }
}

describe('a row that is inserted', () => {
  test('is appended to its table alone, and led to by the index once it is folded', async () => {
    const path = temporaryFolder()
    const store = await openLmdbStore({ path })
    await written(store, ...[1, 2, 3].map(i => insertOf({ uniques: [i, i + 10], terms: [7, i] })))
    expect(await ordinalsOf(store, { term: termOf(7) })).toEqual({ ordinals: [3, 2, 1], total: 3 })
    await store.close()
    const { rows, uniques, terms, moves } = await entriesOf(path)
    expect({ rows, uniques, terms, moves }).toEqual({ rows: 3, uniques: 0, terms: 0, moves: 0 })
    await foldAll(path)
    const folded = await entriesOf(path)
    expect(folded).toMatchObject({ rows: 3, uniques: 6, terms: 4, moves: 0 })
    const again = await openLmdbStore({ path })
    expect(await ordinalsOf(again, { term: termOf(7) })).toEqual({ ordinals: [3, 2, 1], total: 3 })
    expect(again.find(uniqueOf(12))).toMatchObject({ ordinal: 2 })
    expect(await again.integrity()).toEqual([])
    await again.close()
  })

  test('is replaced and removed by a move, which the fold takes away', async () => {
    const path = temporaryFolder()
    const store = await openLmdbStore({ path })
    await written(store, ...[1, 2, 3].map(i => insertOf({ uniques: [i], terms: [7] })))
    await written(store, replaceOf(2, { uniques: [2], terms: [8], version: 2 }), { remove: 1 })
    expect(await store.integrity()).toEqual([])
    await store.close()
    expect(await entriesOf(path)).toMatchObject({ rows: 2, uniques: 0, terms: 0, moves: 2 })
    await foldAll(path)
    expect(await entriesOf(path)).toMatchObject({ rows: 2, uniques: 2, terms: 2 })
    const again = await openLmdbStore({ path, fold: { rows: 1 } })
    await inserted(again, { uniques: [4] })
    const { movesFrom, movesTo } = await untilFolded(again, 5)
    expect([movesFrom, movesTo]).toEqual([2, 2])
    await again.close()
    expect((await entriesOf(path)).moves).toBe(0)
  })
})

describe('a fold', () => {
  test('begins with the rows that are wanted, and goes on by itself to the end', async () => {
    const path = temporaryFolder()
    const store = await openLmdbStore({ path, fold: { rows: 40, puts: 1 } })
    await written(store, ...Array.from({ length: 39 }, (_, i) => insertOf({ uniques: [i] })))
    await Bun.sleep(30)
    expect(store.state()).toMatchObject({ foldedTo: 1, foldingTo: 1 })
    await written(store, ...[50, 51].map(i => insertOf({ uniques: [i] })))
    expect(await untilFolded(store, 42)).toMatchObject({ foldedTo: 42, nextOrdinal: 42 })
    expect(await store.integrity()).toEqual([])
    await store.close()
  })

  test('begins earlier when its rows have many digests, as these stand in memory', async () => {
    const path = temporaryFolder()
    const store = await openLmdbStore({ path, fold: { rows: 100 } })
    const terms = Array.from({ length: 400 }, (_, i) => i)
    for (let i = 0; i < 3; i += 1) await inserted(store, { uniques: [i], terms })
    await Bun.sleep(20)
    expect(store.state().foldingTo).toBe(1)
    await inserted(store, { uniques: [9], terms })
    await inserted(store, { uniques: [10] })
    expect((await untilFolded(store, 5)).foldedTo).toBeGreaterThan(4)
    await store.close()
  })

  test('begins when there are many moves, as who opens the store reads them', async () => {
    const path = temporaryFolder()
    const store = await openLmdbStore({ path })
    const count = 100
    const numbers = Array.from({ length: count }, (_, i) => i + 1)
    await written(store, ...numbers.map(i => insertOf({ uniques: [i] })))
    for (let version = 2; version <= foldMovesMax / count + 1; version += 1) {
      expect(store.state().foldingTo).toBe(1)
      await written(store, ...numbers.map(i => replaceOf(i, { uniques: [i], version })))
    }
    await inserted(store, { uniques: [200] })
    expect(await untilFolded(store, 101)).toMatchObject({ foldedTo: 101, movesFrom: foldMovesMax })
    expect(await store.integrity()).toEqual([])
    await store.close()
    expect((await entriesOf(path)).moves).toBe(0)
  })

  test('keeps up with writes that come without a pause', async () => {
    const path = temporaryFolder()
    const store = await openLmdbStore({ path, fold: { rows: 20, puts: 1, putsPerDigest: 0 } })
    let longest = 0
    for (let i = 0; i < 60; i += 1) {
      const rows = Array.from({ length: 20 }, (_, k) => insertOf({ uniques: [i * 20 + k] }))
      await written(store, ...rows)
      const { nextOrdinal, foldedTo } = store.state()
      longest = Math.max(longest, nextOrdinal - foldedTo)
    }
    expect(longest).toBeLessThan(60 * 20)
    expect(await store.integrity()).toEqual([])
    await store.close()
  })

  test('makes writes wait whose rows have more digests than it keeps up with', async () => {
    const path = temporaryFolder()
    const fold = { rows: 100, puts: 1, putsPerDigest: 0 }
    const store = await openLmdbStore({ path, fold })
    let most = 0
    for (let i = 0; i < 30; i += 1) {
      const terms = Array.from({ length: 500 }, (_, k) => i * 500 + k)
      await Promise.all([0, 1, 2].map(k => inserted(store, { uniques: [i * 3 + k], terms })))
      const { nextOrdinal, foldedTo } = store.state()
      most = Math.max(most, nextOrdinal - foldedTo)
    }
    // Rows of 3,200 digests at most, 500 each, and those that came before the first fold began.
    expect(most).toBeLessThan(30)
    expect(await store.integrity()).toEqual([])
    await store.close()
  })

  test('that was broken off goes on where it was', async () => {
    const path = temporaryFolder()
    const fold = { rows: 10, puts: 1, putsPerDigest: 0 }
    const before = await openLmdbStore({ path, fold })
    await written(before, ...Array.from({ length: 12 }, (_, i) => insertOf({ uniques: [i] })))
    for (let i = 0; i < 4; i += 1) await before.write([])
    const { foldedPrefixes, foldingTo } = before.state()
    await before.close()
    expect([foldedPrefixes > 0, foldingTo]).toEqual([true, 13])
    const store = await openLmdbStore({ path, fold })
    expect(await store.integrity()).toEqual([])
    await store.write([])
    expect(store.state().foldedPrefixes).toBeGreaterThan(foldedPrefixes)
    await untilFolded(store, 13)
    expect(store.state()).toMatchObject({ foldedTo: 13, foldedPrefixes: 0 })
    expect(await store.integrity()).toEqual([])
    await store.close()
  })

  test('of another process is followed, by a reader that slept through it as well', async () => {
    const path = temporaryFolder()
    const fold = { rows: 5, puts: 1 }
    const [writer, reader] = [
      await openLmdbStore({ path, fold, processes: 2 }),
      await openLmdbStore({ path, fold, processes: 2 }),
    ]
    const seven = { term: termOf(7) }
    let rows = 0
    for (let i = 0; i < 40; i += 1) {
      const ordinal = await inserted(writer, { uniques: [i], terms: [7] })
      rows += 1
      if (i % 4 === 1) {
        await written(writer, { remove: ordinal })
        rows -= 1
      }
      // Every third turn, so that whole folds go by.
      if (i % 3 === 0 || i > 30) expect((await ordinalsOf(reader, seven)).total).toBe(rows)
      if (i % 7 === 0) expect(await reader.integrity()).toEqual([])
    }
    await Promise.all([writer.close(), reader.close()])
  })
})
