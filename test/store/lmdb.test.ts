import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { chunkArrayEntriesMax } from '../../src/store/core/limits.ts'
import type { Query } from '../../src/store/contract.ts'
import { decodeRowKey, encodeRowKey, encodeTermKey } from '../../src/store/lmdb/layout.ts'
import { openEnvironment } from '../../src/store/lmdb/environment.ts'
import { applyPut } from '../../src/store/lmdb/put.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { encodeRow } from '../../src/store/core/row-format.ts'
import { temporaryFolder } from '../support/folders.ts'
import { openFilesOf } from '../support/worker-processes.ts'
import { describeStoreContract } from './contract.ts'
import { foldAll } from './fold.ts'
import {
  expectFault,
  inserted,
  insertOf,
  ordinalsOf,
  rowOf,
  stored,
  termOf,
  uniqueOf,
  written,
} from './rows.ts'

describeStoreContract('the LMDB engine', folder => openLmdbStore({ path: folder }))
describeStoreContract('the LMDB engine, between two chunks,', folder =>
  openLmdbStore({ path: folder, firstOrdinal: 65_536 - 10 }),
)
describeStoreContract('the LMDB engine, amid folds,', folder =>
  openLmdbStore({ path: folder, fold: { rows: 1, puts: 1, putsPerDigest: 0 } }),
)

test.each([
  [4_095, [0, 1]],
  [2 ** 44 - 1, [2 ** 32 - 1, 0]],
])('an era of the LMDB engine is of 4,096 ordinals: from %d on', async (firstOrdinal, eras) => {
  const store = await openLmdbStore({ path: temporaryFolder(), firstOrdinal })
  const seen = [store.era()]
  await inserted(store, { uniques: [1] })
  await store.find(uniqueOf(1))
  seen.push(store.era())
  expect(seen).toEqual(eras)
  await store.close()
})

test('uniques that were folded era by era leave pages more than half full', async () => {
  const path = temporaryFolder()
  const store = await openLmdbStore({ path, fold: { rows: 5_000 } })
  const era = Buffer.from([0, 0, 0, 1])
  const inEra = (number: number): Uint8Array => {
    const digest = createHash('sha256').update(String(number)).digest()
    return Buffer.concat([digest.subarray(0, 1), era, digest.subarray(1, 28)])
  }
  // Ids with one of four first bytes: their ranges then have several pages each.
  const uniques = Array.from({ length: 40_000 }, (_, number) => inEra(number))
  for (const unique of uniques) unique[0] = (unique[0] ?? 0) & 3
  for (let from = 0; from < uniques.length; from += 500) {
    const rows = uniques.slice(from, from + 500).map((unique, at) => {
      new DataView(unique.buffer, unique.byteOffset).setUint32(1, Math.floor((from + at) / 100))
      return { insert: { uniques: [unique], terms: [], version: 1, parts: [] } }
    })
    expect((await store.write(rows)).ok).toBe(true)
  }
  await store.close()
  await foldAll(path)
  const environment = openEnvironment(path)
  const stats = environment.uniques.getStats() as Record<string, number>
  await environment.root.close()
  const entryBytes = 2 + 8 + 32 + 10
  const filled =
    (Number(stats['entryCount']) * entryBytes) / (4_096 * Number(stats['treeLeafPageCount']))
  expect(filled).toBeGreaterThan(0.6)
})

describe('the LMDB engine and its folder', () => {
  // proves S5
  test('all files are for their owner only', async () => {
    const path = temporaryFolder()
    const store = await openLmdbStore({ path })
    await inserted(store, { uniques: [1] })
    const modes = readdirSync(path).map(name => [name, statSync(join(path, name)).mode & 0o777])
    expect(modes.sort()).toEqual([
      ['data.mdb', 0o600],
      ['lock.mdb', 0o600],
    ])
    await store.close()
  })

  test('a missing folder is not made', async () => {
    const parent = temporaryFolder()
    const opening = openLmdbStore({ path: join(parent, 'store') })
    await expect(opening).rejects.toMatchObject({ code: 'ENOENT' })
    expect(readdirSync(parent)).toEqual([])
  })

  test('a folder whose name looks like a file is a folder', async () => {
    const path = join(temporaryFolder(), 'store.d')
    mkdirSync(path)
    const store = await openLmdbStore({ path })
    expect(readdirSync(path).sort()).toEqual(['data.mdb', 'lock.mdb'])
    await store.close()
  })
})

describe('the LMDB engine and its disk', () => {
  /** Files below a folder that this process has open. */
  const openFiles = (path: string) => openFilesOf(process.pid).filter(file => file.startsWith(path))

  test.skipIf(process.platform !== 'linux')('closing lets go of all files', async () => {
    const path = temporaryFolder()
    const store = await openLmdbStore({ path })
    await inserted(store, { uniques: [1] })
    expect(openFiles(path)).not.toEqual([])
    await store.close()
    expect(openFiles(path)).toEqual([])
  })

  test('the engine neither answers nor shows a write before its flush', async () => {
    const { root } = openEnvironment(temporaryFolder())
    expect(root).toMatchObject({ overlappingSync: false, safeRestore: true })
    expect(root).not.toMatchObject({ noSync: true })
    expect(root).not.toMatchObject({ noMetaSync: true })
    await root.close()
  })

  /** Copies the file as a second process would find it if this one ended now. */
  async function copyOf(path: string) {
    const copy = temporaryFolder()
    copyFileSync(join(path, 'data.mdb'), join(copy, 'data.mdb'))
    return openLmdbStore({ path: copy })
  }

  // proves S62
  test('a write is in the file when it is answered, and not before its commit', async () => {
    const path = temporaryFolder()
    const store = await openLmdbStore({ path })
    const sketch = { uniques: [1], terms: [7] }
    const writing = inserted(store, sketch)
    const before = await copyOf(path)
    const ordinal = await writing
    const after = await copyOf(path)
    expect(await before.find(uniqueOf(1))).toBeUndefined()
    expect(await after.find(uniqueOf(1))).toEqual(stored(ordinal, sketch))
    expect(await after.integrity()).toEqual([])
    await Promise.all([store.close(), before.close(), after.close()])
  })

  test('a read of a shared store sees what another process just wrote', async () => {
    const path = temporaryFolder()
    const store = await openLmdbStore({ path, processes: 2 })
    await inserted(store, { uniques: [1], terms: [2] })
    const other = join(import.meta.dir, '..', 'support', 'write-one-row.ts')
    const find = async (): Promise<unknown> => store.find(uniqueOf(2))
    const count = async () => (await ordinalsOf(store, { term: termOf(2) })).total
    const before = [find(), count()]
    const run = Bun.spawnSync([process.execPath, other, path, '2'])
    const after = [find(), count()]
    expect(run.stderr.toString()).toBe('')
    expect(await Promise.all(before)).toEqual([undefined, 1])
    expect(await Promise.all(after)).toEqual([expect.anything(), 2])
    await store.close()
  })
})

test('a term of more rows than an array holds works as one of few', async () => {
  const store = await openLmdbStore({ path: temporaryFolder(), firstOrdinal: 60_000 })
  const count = chunkArrayEntriesMax + 200
  const numbers = Array.from({ length: count }, (_, i) => i)
  const ordinals: number[] = []
  for (let from = 0; from < count; from += 500) {
    const rows = numbers
      .slice(from, from + 500)
      .map(i => insertOf({ uniques: [i], terms: i % 2 === 0 ? [7, 8] : [7] }))
    ordinals.push(...(await written(store, ...rows)))
  }
  const newest = ordinals.toReversed()
  const seven = { term: termOf(7) }
  expect(await ordinalsOf(store, seven, { offset: 4_000, limit: 5 })).toEqual({
    ordinals: newest.slice(4_000, 4_005),
    total: count,
  })
  const odd = { from: seven, except: { term: termOf(8) } }
  expect((await ordinalsOf(store, odd)).total).toBe(Math.floor(count / 2))
  await written(store, ...ordinals.slice(0, 300).map(remove => ({ remove })))
  expect(await ordinalsOf(store, seven, { offset: count - 302, limit: 5 })).toEqual({
    ordinals: newest.slice(count - 302, count - 300),
    total: count - 300,
  })
  expect(await store.integrity()).toEqual([])
  await store.close()
})

test('a row that was said to be the last, and is not, is put all the same', async () => {
  const { root, rows: table } = openEnvironment(temporaryFolder())
  const put = (ordinal: number) => {
    const key = encodeRowKey(ordinal)
    applyPut({ table, key, value: key, isLast: true })
  }
  await root.transaction(() => [5, 6, 4, 6, 7].forEach(put))
  const ordinals = Array.from(table.getRange(), ({ key }) => decodeRowKey(key))
  expect(ordinals).toEqual([4, 5, 6, 7])
  await root.close()
})

test('new rows fill their pages: seven to one, where seven fit', async () => {
  const path = temporaryFolder()
  const store = await openLmdbStore({ path })
  for (let from = 0; from < 700; from += 100) {
    const parts = [new Uint8Array(500)]
    const rows = Array.from({ length: 100 }, (_, i) => insertOf({ uniques: [from + i], parts }))
    await Promise.all([written(store, ...rows.slice(0, 50)), written(store, ...rows.slice(50))])
  }
  await store.close()
  const { root, rows } = openEnvironment(path)
  expect(rows.getStats()).toMatchObject({ entryCount: 700, treeLeafPageCount: 100 })
  await root.close()
})

test('a total that was asked for while a write commits is no total of after it', async () => {
  const store = await openLmdbStore({ path: temporaryFolder(), firstOrdinal: 65_536 - 20 })
  const seven = { term: termOf(7) }
  const count = async () => (await ordinalsOf(store, seven, { limit: 0 })).total
  let rows = 0
  for (let number = 0; number < 40; number += 1) {
    let isWritten = false
    const writing = inserted(store, { uniques: [number], terms: [7] })
    const ended = writing.then(() => (isWritten = true))
    while (!isWritten) {
      const total = await count()
      expect([rows, rows + 1]).toContain(total)
      await Bun.sleep(0)
    }
    await ended
    rows += 1
    expect(await count()).toBe(rows)
    if (number % 4 !== 3) continue
    await written(store, { remove: await writing })
    rows -= 1
    expect(await count()).toBe(rows)
  }
  await store.close()
})

test('a chunk is counted once, until a commit moves one of its rows', async () => {
  const path = temporaryFolder()
  const before = await openLmdbStore({ path, firstOrdinal: 65_535 })
  const last = await inserted(before, { uniques: [1], terms: [7] })
  await inserted(before, { uniques: [2], terms: [7] })
  await before.close()
  await foldAll(path)
  const store = await openLmdbStore({ path })
  const count = async () => (await ordinalsOf(store, { term: termOf(7) }, { limit: 0 })).total
  expect(await count()).toBe(2)
  const environment = openEnvironment(path)
  // The places 0, 1 and 65,535, where each of both chunks had one.
  const places = Uint8Array.of(0, 0, 1, 0, 255, 255)
  for (const chunk of [0, 1]) await environment.terms.put(encodeTermKey(termOf(7), chunk), places)
  await environment.root.close()
  expect(await count()).toBe(2)
  await written(store, { remove: last })
  expect(await count()).toBe(2 + 1)
  await inserted(store, { uniques: [3], terms: [7] })
  expect(await count()).toBe(2 + 3)
  await store.close()
})

test('a term of many chunks is counted whole, and chunks without rows are not asked', async () => {
  const path = temporaryFolder()
  const chunks = 1_100
  const nextOrdinal = chunks * 65_536
  await (await openLmdbStore({ path, firstOrdinal: nextOrdinal })).close()
  const environment = openEnvironment(path)
  environment.root.transactionSync(() => {
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const row = encodeRow(rowOf({ uniques: [chunk], terms: [7] }))
      environment.rows.putSync(encodeRowKey(chunk * 65_536 + 9), row)
      environment.terms.putSync(encodeTermKey(termOf(7), chunk), Uint8Array.of(chunk, 0, 0, 9))
      // Nothing that a chunk without rows says is looked at.
      if (chunk > 500 && chunk < 900) environment.rows.removeSync(encodeRowKey(chunk * 65_536 + 9))
    }
    environment.terms.putSync(encodeTermKey(termOf(8), 70), Uint8Array.of(70, 0))
  })
  await environment.root.close()
  const live = chunks - 399
  const store = await openLmdbStore({ path })
  const total = async (query: Query): Promise<number> =>
    (await ordinalsOf(store, query, { limit: 0 })).total
  const [seven, eight] = [{ term: termOf(7) }, { term: termOf(8) }]
  expect(await total(seven)).toBe(2 * live)
  expect(await total({ all: [seven, eight] })).toBe(1)
  expect(await total({ any: [seven, eight] })).toBe(2 * live)
  expect(await total({ from: seven, except: eight })).toBe(2 * live - 1)
  expect(await total({ from: eight, except: seven })).toBe(0)
  await store.close()
})

test('the largest ordinals and rows are kept as the small ones are', async () => {
  const firstOrdinal = 2 ** 48 - 70_000
  const store = await openLmdbStore({ path: temporaryFolder(), firstOrdinal })
  const parts = [new Uint8Array(2 * 1024 * 1024).fill(3)]
  const ordinal = await inserted(store, { uniques: [1], terms: [7], parts })
  expect(ordinal).toBe(firstOrdinal)
  expect((await store.find(uniqueOf(1)))?.parts).toEqual(parts)
  expect(await ordinalsOf(store, { term: termOf(7) })).toEqual({ ordinals: [ordinal], total: 1 })
  await expectFault(
    store.write([{ insert: { ...rowOf({ uniques: [2] }), parts: [...parts, ...parts] } }]),
    'internal',
  )
  await store.close()
})
