/**
 * Commits that the engine refuses for its list of free pages, as it does with these very rows: most
 * are removed, and then come values of any length beside some that are put each time.
 * @module
 */
import { mapBytes } from '../../src/limits/operation-limits.ts'
import { expect, test } from 'bun:test'
import { open } from 'lmdb'
import { freePagesLoaded } from '../../src/store/core/limits.ts'
import { commit } from '../../src/store/lmdb/write/lmdb-commit.ts'
import { temporaryFolder } from '../support/folders.ts'

const rows = 400_000
const rowBytes = 400
const removedShare = 0.9
const addedAtOnce = 1_000
const removedAtOnce = 60
const writes = 1_300
const longBytesEnd = 100_000
/** Size of a chunk of an index: its pages must lie side by side. */
const chunkBytes = 8_200
const chunks = 11
const seed = 12_345

const keyOf = (number: number): Buffer => Buffer.from(String(number).padStart(8, '0'))

/** Marsaglia's xorshift of 32 bits: [0, 1). */
function openRandom(): () => number {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/**
 * Opens one table in which most rows came and went, without syncs: the disk plays no part here.
 * @param more  options of the engine
 */
function openWorn(more: object = {}) {
  const options = { encoding: 'binary', keyEncoding: 'binary', noSubdir: false } as const
  const engine = { cache: false, overlappingSync: false, noSync: true, mapSize: mapBytes, ...more }
  const path = temporaryFolder()
  const root = open<Uint8Array, Uint8Array>({ ...options, ...engine, path })
  const putChunks = (): void => {
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      root.putSync(keyOf(rows + chunk), Buffer.alloc(chunkBytes))
    }
  }
  for (let from = 0; from < rows; from += addedAtOnce) {
    root.transactionSync(() => {
      for (let index = from; index < from + addedAtOnce; index += 1) {
        root.putSync(keyOf((index * 7_919) % rows), Buffer.alloc(rowBytes))
      }
      putChunks()
    })
  }
  for (let from = 0; from < rows * removedShare; from += removedAtOnce) {
    root.transactionSync(() => {
      for (let index = from; index < from + removedAtOnce; index += 1) {
        root.removeSync(keyOf((index * 104_729) % rows))
      }
      putChunks()
    })
  }
  return { root, putChunks }
}

/** @returns the number of runs of its transactions, if all were committed */
async function writeAll({ root, putChunks }: ReturnType<typeof openWorn>): Promise<number> {
  const tables = {
    rows: root,
    uniques: root,
    terms: root,
    deadlines: root,
    moves: root,
    meta: root,
    log: root,
    derived: root,
  }
  const environment = { root, ...tables }
  const random = openRandom()
  let runs = 0
  const mistaken: number[] = []
  for (let number = 0; number < writes; number += 1) {
    const key = keyOf(Math.floor(random() * rows))
    const more = number % 10 === 0 ? Math.floor(random() * longBytesEnd) : 0
    const value = Buffer.alloc(rowBytes + more)
    value.writeUInt32LE(number)
    await commit(environment, () => {
      runs += 1
      root.putSync(key, value)
      putChunks()
    })
    if (root.getBinary(key)?.readUInt32LE() !== number) mistaken.push(number)
  }
  expect(mistaken).toEqual([])
  await root.close()
  return runs
}

test('a commit that the engine refuses for its free pages succeeds by another try', async () => {
  // Otherwise nothing was refused, and nothing tried.
  expect(await writeAll(openWorn())).toBeGreaterThan(writes)
})

test('as the store opens it, the engine refuses none of them', async () => {
  expect(await writeAll(openWorn({ maxFreeSpaceToLoad: freePagesLoaded }))).toBe(writes)
})
