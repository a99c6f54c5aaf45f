/**
 * Pages read expired rows that are not swept yet once. Anybody who may create tokens may have a
 * hundred thousand expire one after the other.
 * @module
 */
import { expect, test } from 'bun:test'
import { makeKeptExpired } from '../../src/store/core/kept-expired.ts'
import { expiredKeptMin, unsettledMs } from '../../src/store/core/limits.ts'
import { openEnvironment } from '../../src/store/lmdb/environment.ts'
import { readPage } from '../../src/store/lmdb/index/index-query.ts'
import { noChunkCounts } from '../../src/store/lmdb/index/postings.ts'
import { followStore, withIndex } from '../../src/store/lmdb/index/tail.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../support/folders.ts'
import { inserted, insertOf, termOf, written } from './rows.ts'

const rows = Array.from({ length: 4 * expiredKeptMin }, (_, i) =>
  insertOf({ uniques: [i + 1], terms: [7], deadlineMs: 10_000 + i }),
)

async function folderOfMany(): Promise<string> {
  const path = temporaryFolder()
  const store = await openLmdbStore({ path })
  await inserted(store, { uniques: [0], terms: [7] })
  await written(store, ...rows)
  await store.close()
  return path
}

/** Opens the store of a folder for reading, and counts what is read of its deadlines. */
function openCounting(path: string) {
  const environment = withIndex(openEnvironment(path, true))
  const { deadlines } = environment
  const getRange = deadlines.getRange.bind(deadlines)
  let count = 0
  deadlines.getRange = range =>
    getRange(range).map(each => {
      count += 1
      return each
    })
  const kept = { counts: noChunkCounts, expired: makeKeptExpired(unsettledMs) }
  const state = followStore(environment)
  return {
    page(nowMs: number) {
      count = 0
      const window = { nowMs, offset: 0, limit: 1 }
      const { total } = readPage(environment, state, kept, { term: termOf(7) }, window)
      return { total, count }
    },
    close: () => environment.root.close(),
  }
}

// proves H113
test('rows that expire one after the other are read by one page, not by each', async () => {
  const { page, close } = openCounting(await folderOfMany())
  expect(page(9_999)).toEqual({ total: rows.length + 1, count: 0 })
  expect(page(13_000)).toEqual({ total: 1, count: rows.length })
  expect(page(13_001)).toEqual({ total: 1, count: 0 })
  await close()
})
