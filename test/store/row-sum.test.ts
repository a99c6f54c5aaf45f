/**
 * The sum over all rows of a folder: each commit moves it once, by its draft alone, and one that
 * was put there by others is never continued.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { utf8 } from '../../src/lib/bytes.ts'
import { makeSumCheck } from '../../src/store/core/check-sum.ts'
import { emptySum, noWriter, sealSum, sumAfter } from '../../src/store/core/row-sum.ts'
import { openEnvironment } from '../../src/store/lmdb/environment.ts'
import { beginSum, makeSumKeeper } from '../../src/store/lmdb/kept-sum.ts'
import { openLmdbStore, type LmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { copyStore } from '../../src/store/lmdb/maintenance/compact-copy.ts'
import { temporaryFolder } from '../support/folders.ts'
import { foldAll } from './fold.ts'
import { expectFault, inserted, insertOf, logOf, replaceOf, rowOf, written } from './rows.ts'
import { expectSum, sumFindings, sumSealer } from './sums.ts'
import { tamper } from './tamper.ts'

const sumKey = utf8('sum')

async function openSummed(path = temporaryFolder()): Promise<LmdbStore> {
  const store = await openLmdbStore({ path })
  store.keepSum(sumSealer)
  return store
}

async function sealedIn(store: LmdbStore): Promise<string> {
  const { parts } = await store.storedSum()
  return Buffer.from(parts[0]?.sealed ?? []).toString('hex')
}

describe('the sum over all rows', () => {
  test('is moved by inserts, replaces, reseals, removals and entries of the log', async () => {
    const store = await openSummed()
    const seen = new Set<string>()
    const moved = async (): Promise<void> => {
      await expectSum(store)
      const sealed = await sealedIn(store)
      expect(seen).not.toContain(sealed)
      seen.add(sealed)
    }
    const ordinal = await inserted(store, { uniques: [1], terms: [7] })
    await moved()
    await written(store, replaceOf(ordinal, { uniques: [1], version: 2 }), logOf(1))
    await moved()
    const resealed = rowOf({ uniques: [1], version: 2, parts: [Uint8Array.of(9)] })
    await written(store, { reseal: resealed, ordinal })
    await moved()
    await written(store, logOf(3, 2))
    await moved()
    await written(store, { remove: ordinal })
    await moved()
    await store.close()
  })

  test('differs for an id that is given again, and stays if no row changes', async () => {
    const store = await openSummed()
    const first = await inserted(store, { uniques: [1] })
    const before = await sealedIn(store)
    await written(store, { require: first, ifVersion: 1 }, { bumpGeneration: true })
    await written(store, { derived: Uint8Array.of(1), value: Uint8Array.of(1) })
    expect(await sealedIn(store)).toBe(before)
    await written(store, { remove: first })
    await inserted(store, { uniques: [1], parts: [Uint8Array.of(1, 2, 3)] })
    expect(await sealedIn(store)).not.toBe(before)
    await expectSum(store)
    await store.close()
  })

  test('takes nothing from sets that are refused, nor from a row that comes and goes', async () => {
    const store = await openSummed()
    const ordinal = await inserted(store, { uniques: [1] })
    const before = await sealedIn(store)
    const outcomes = await Promise.all([
      store.write([insertOf({ uniques: [5] }), insertOf({ uniques: [1] })]),
      store.write([{ remove: ordinal, ifVersion: 9 }]),
      store.write([insertOf({ uniques: [6] }), { remove: ordinal + 1 }]),
    ])
    expect(outcomes.map(({ ok }) => ok)).toEqual([false, false, true])
    expect(await sealedIn(store)).toBe(before)
    await expectSum(store)
    await store.close()
  })

  test('is kept by several processes that write in turns', async () => {
    const path = temporaryFolder()
    const first = await openSummed(path)
    await inserted(first, { uniques: [1] })
    const stores = [first]
    for (let count = 0; count < 2; count += 1) {
      const store = await openLmdbStore({ path, processes: 3 })
      store.keepSum(sumSealer)
      stores.push(store)
    }
    for (let number = 2; number < 30; number += 1) {
      await written(stores[number % 3] ?? first, insertOf({ uniques: [number] }), logOf(number))
    }
    await expectSum(stores[1] ?? first)
    for (const store of stores) await store.close()
  })

  test('goes on after a fold, a new start and a copy without free pages', async () => {
    const path = temporaryFolder()
    const store = await openSummed(path)
    for (let number = 1; number < 10; number += 1) await inserted(store, { uniques: [number] })
    await store.close()
    await foldAll(path)
    const copy = `${temporaryFolder()}/copy`
    await copyStore(path, copy)
    const copied = await openSummed(copy)
    await inserted(copied, { uniques: [40] })
    await expectSum(copied)
    await copied.close()
  })

  test('is begun over rows that are there, once', async () => {
    const path = temporaryFolder()
    const before = await openLmdbStore({ path })
    await written(before, insertOf({ uniques: [1] }), logOf(1))
    expect(await sumFindings(before)).toEqual(['sum_missing'])
    before.keepSum(sumSealer)
    await inserted(before, { uniques: [2] })
    expect(await sumFindings(before)).toEqual(['sum_missing'])
    await before.close()
    await beginSum(path, sumSealer)
    const store = await openSummed(path)
    await expectSum(store)
    await inserted(store, { uniques: [3] })
    await expectSum(store)
    const kept = await sealedIn(store)
    await store.close()
    await beginSum(path, sumSealer)
    const again = await openSummed(path)
    expect(await sealedIn(again)).toBe(kept)
    await again.close()
  })

  const ways = ['by hashes', 'by number'] as const
  test.each(ways)('is begun over copied rows only if they fit one that came, %s', async begun => {
    const path = temporaryFolder()
    const copy = await openLmdbStore({ path })
    await written(copy, insertOf({ uniques: [1] }), logOf(1))
    const [row] = [...copy.everyRow()]
    const { next: entries } = await copy.logRange()
    const [{ leaves } = { leaves: [] }] = await copy.bundles({ from: 0 }, 1)
    await copy.close()
    const writer = new Uint8Array(16)
    const partOf = (rows: number, appended = leaves, numbered = 0) => {
      const changed = Array.from({ length: rows }, () => ({ from: undefined, to: row }))
      const counted = { ...emptySum, numbered }
      const leaves = { appended, pruned: [] }
      const sum = sumAfter(counted, { rows: changed, entries, leaves }, sumSealer)
      return [{ writer, sealed: sealSum(sumSealer, sum, writer) }]
    }
    const older = { ...emptySum, entries: entries + 1 }
    const outdated = [{ writer, sealed: sealSum(sumSealer, older, writer) }]
    const unhashed = partOf(1, [])
    for (const there of [partOf(0), partOf(2), unhashed, outdated, []]) {
      await expectFault(beginSum(path, sumSealer, there), 'storage_corrupt')
    }
    await beginSum(path, sumSealer, begun === 'by number' ? partOf(1, [], entries) : partOf(1))
    const store = await openSummed(path)
    await expectSum(store)
    await store.close()
  })
})

describe('a store that keeps a sum', () => {
  test('is not written without its keys, but for what changes neither rows nor log', async () => {
    const path = temporaryFolder()
    const before = await openSummed(path)
    const ordinal = await inserted(before, { uniques: [1] })
    await before.close()
    const store = await openLmdbStore({ path })
    await written(store, { require: ordinal, ifVersion: 1 }, { bumpGeneration: true })
    for (const change of [insertOf({ uniques: [2] }), { remove: ordinal }, logOf(1)]) {
      await expectFault(store.write([change]), 'internal')
    }
    store.keepSum(sumSealer)
    await inserted(store, { uniques: [2] })
    await expectSum(store)
    await store.close()
  })

  test('is of as many rows as there are, and of their states', () => {
    const row = rowOf({ uniques: [1] })
    const change = { rows: [{ from: undefined, to: row }], entries: 5 }
    const sum = sumAfter(emptySum, change, sumSealer)
    const total = sum.total.map(byte => byte ^ 1)
    const cases = [
      [sum, []],
      [{ ...sum, rows: 2 }, ['rows_differ']],
      [{ ...sum, total }, ['rows_differ']],
    ] as const
    for (const [kept, finds] of cases) {
      const check = makeSumCheck(sumSealer)
      check.add(row)
      const parts = [{ writer: noWriter, sealed: sealSum(sumSealer, kept) }]
      expect(check.end({ parts, logNext: 5 })).toEqual([...finds])
    }
  })

  test('never goes on from a sum that others put there', async () => {
    const path = temporaryFolder()
    const before = await openSummed(path)
    await written(before, insertOf({ uniques: [1] }), logOf(1))
    const old = Buffer.from(await sealedIn(before), 'hex')
    await written(before, insertOf({ uniques: [2] }), logOf(2))
    await before.close()
    const damages = [
      [old, ['rows_differ', 'sum_outdated']],
      [old.subarray(1), ['sum_damaged']],
      [new Uint8Array(), ['sum_damaged']],
    ] as const
    for (const [sealed, finds] of damages) {
      await tamper(path, ({ meta }) => void meta.putSync(sumKey, sealed))
      const store = await openSummed(path)
      for (let count = 0; count < 2; count += 1) {
        await written(store, logOf(3))
        expect(Buffer.from(await sealedIn(store), 'hex')).toEqual(Buffer.from(sealed))
      }
      expect(await sumFindings(store)).toEqual([...finds])
      await store.close()
    }
  })

  test('that has rows and no sum is written in the same time, however many they are', async () => {
    const fastest: number[] = []
    for (const rows of [10, 20_000]) {
      const path = temporaryFolder()
      const before = await openLmdbStore({ path })
      for (let first = 0; first < rows; first += 500) {
        const numbers = Array.from({ length: Math.min(500, rows) }, (_, i) => first + i)
        await written(before, ...numbers.map(number => insertOf({ uniques: [number] })))
      }
      await before.close()
      const environment = openEnvironment(path)
      const sums = makeSumKeeper(environment)
      sums.keep(sumSealer)
      const times = Array.from({ length: 50 }, () => {
        const start = performance.now()
        expect(sums.putOf({ rows: [], entries: 1 })).toBeUndefined()
        return performance.now() - start
      })
      fastest.push(Math.min(...times))
      await environment.root.close()
    }
    const [few = 0, many = 0] = fastest
    // Reading all of them took more than a hundred times as long.
    expect(many / few).toBeLessThan(20)
  })

  test('is written although the range of its log is damaged, and that is told', async () => {
    const path = temporaryFolder()
    const before = await openSummed(path)
    await written(before, insertOf({ uniques: [1] }), logOf(1))
    await before.close()
    await tamper(path, ({ meta }) => void meta.putSync(utf8('log'), Uint8Array.of(1)))
    const store = await openSummed(path)
    await inserted(store, { uniques: [2] })
    expect(await store.integrity()).toContainEqual({ kind: 'log_damaged' })
    await store.close()
  })
})
