/**
 * The log of a folder: its damage is found, its copies are whole, and a file that an older version
 * made has none.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { utf8 } from '../../src/lib/bytes.ts'
import { encodeBundle } from '../../src/store/core/bundle-format.ts'
import { logStep } from '../../src/store/core/limits.ts'
import { everyBundle, everyDerived } from '../../src/store/core/log-walk.ts'
import type { LmdbEnvironment } from '../../src/store/lmdb/environment.ts'
import { examinePages } from '../../src/store/lmdb/inspect/damaged-pages.ts'
import { encodeRowKey } from '../../src/store/lmdb/layout.ts'
import { openLmdbStore, type LmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { rangePut } from '../../src/store/lmdb/log-table.ts'
import { applyPut } from '../../src/store/lmdb/put.ts'
import { copySnapshot, copyStore } from '../../src/store/lmdb/maintenance/compact-copy.ts'
import type { StoreFinding } from '../../src/store/operated.ts'
import { temporaryFolder } from '../support/folders.ts'
import { bundleOf, expectFault, inserted } from './rows.ts'
import { tamper } from './tamper.ts'

const sealedBytes = 3_000

/** Bundles of 2 entries each at 2, 4 and 6; the one at 0 is pruned. */
async function makeLog(): Promise<string> {
  const path = temporaryFolder()
  const store = await openLmdbStore({ path })
  for (const number of [1, 2, 3, 4]) {
    const derived = { derived: Uint8Array.of(number), value: Uint8Array.of(number, number) }
    await store.write([{ log: bundleOf(number, 2, sealedBytes) }, derived])
  }
  await store.write([{ pruneLog: 2 }])
  await store.close()
  return path
}

async function contentsOf(store: LmdbStore) {
  const [bundles, values] = [[], []] as [unknown[], unknown[]]
  for await (const some of everyBundle(store)) bundles.push(...some)
  for await (const some of everyDerived(store)) values.push(...some)
  return { range: await store.logRange(), bundles, values }
}

async function inFolder<T>(path: string, work: (store: LmdbStore) => Promise<T>): Promise<T> {
  const store = await openLmdbStore({ path, readOnly: true })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

type Damage = readonly [
  says: string,
  change: (environment: LmdbEnvironment) => void,
  finds: readonly StoreFinding[],
]

const kind = 'log_damaged'

const damages: readonly Damage[] = [
  ['a bundle that is gone', ({ log }) => log?.removeSync(encodeRowKey(4)), [{ kind, sequence: 6 }]],
  [
    'its oldest bundle gone',
    ({ log }) => log?.removeSync(encodeRowKey(2)),
    [{ kind, sequence: 4 }],
  ],
  ['its newest bundle gone', ({ log }) => log?.removeSync(encodeRowKey(6)), [{ kind }]],
  [
    'a bundle within another',
    ({ log }) => log?.putSync(encodeRowKey(5), encodeBundle(bundleOf(5, 1))),
    [{ kind, sequence: 5 }],
  ],
  [
    'a bundle of fewer entries',
    ({ log }) => log?.putSync(encodeRowKey(4), encodeBundle(bundleOf(5, 1))),
    [{ kind, sequence: 6 }],
  ],
  [
    'bytes that are no bundle',
    ({ log }) => log?.putSync(encodeRowKey(4), Uint8Array.of(1, 0)),
    [{ kind, sequence: 4 }],
  ],
  [
    'hashes that are cut off',
    ({ log }) => log?.putSync(encodeRowKey(6), encodeBundle(bundleOf(5, 2)).subarray(0, 60)),
    [{ kind, sequence: 6 }],
  ],
  [
    'a key that is none',
    ({ log }) => log?.putSync(Uint8Array.of(1), new Uint8Array(9)),
    [{ kind }],
  ],
  [
    'a range that ends before its entries',
    environment => applyPut(rangePut(environment, { from: 2, next: 7 })),
    [{ kind }],
  ],
  [
    'a range that begins before its entries',
    environment => applyPut(rangePut(environment, { from: 0, next: 8 })),
    [{ kind, sequence: 2 }],
  ],
  [
    'a range that ends before it begins',
    environment => applyPut(rangePut(environment, { from: 9, next: 8 })),
    [{ kind }],
  ],
  ['no range', ({ meta }) => meta.removeSync(utf8('log')), [{ kind, sequence: 2 }, { kind }]],
  [
    'all its bundles gone',
    ({ log }) => [2, 4, 6].forEach(first => log?.removeSync(encodeRowKey(first))),
    [{ kind }],
  ],
]

describe('a log that was changed behind its back', () => {
  test.each(damages)('%s: is found', async (_, change, finds) => {
    const path = await makeLog()
    expect(await inFolder(path, store => store.integrity())).toEqual([])
    await tamper(path, change)
    expect(await inFolder(path, store => store.integrity())).toEqual([...finds])
  })

  test('gives no sequence twice', async () => {
    const path = await makeLog()
    await tamper(path, environment => applyPut(rangePut(environment, { from: 2, next: 6 })))
    const store = await openLmdbStore({ path })
    await expectFault(store.write([{ log: bundleOf(9, 1) }]), 'storage_corrupt')
    expect(await inserted(store, { uniques: [1] })).toBe(1)
    await store.close()
  })

  test('is not shown where a bundle is none', async () => {
    const path = await makeLog()
    await tamper(path, ({ log }) => log?.putSync(encodeRowKey(4), Uint8Array.of(2, 0, 1)))
    await inFolder(path, async store => {
      await expectFault(store.bundles({ from: 2 }, 10), 'storage_corrupt')
      expect(await store.bundles({ before: 8 }, 1)).toHaveLength(1)
    })
  })
})

describe('a copy', () => {
  test.each([
    ['without free pages', copyStore],
    ['of a moment', copySnapshot],
  ])('%s has the log and what is beside it', async (_, copy) => {
    const path = await makeLog()
    const to = join(temporaryFolder(), 'copy')
    await copy(path, to)
    const contents = await inFolder(path, contentsOf)
    expect(contents).toMatchObject({ range: { from: 2, next: 8 } })
    expect([contents.bundles.length, contents.values.length]).toEqual([3, 4])
    expect(await inFolder(to, contentsOf)).toEqual(contents)
    expect(await inFolder(to, store => store.integrity())).toEqual([])
  })
})

test('a walk over a log takes every bundle and value once, in many steps', async () => {
  const store = await openLmdbStore({ path: temporaryFolder() })
  const count = 2 * logStep + 1
  for (let number = 0; number < count; number += 1) {
    const key = new Uint8Array(number % 2 === 0 ? 32 : 31).fill(255)
    key.set([number >> 8, number])
    await store.write([
      { log: bundleOf(number % 256, 1, sealedBytes) },
      { derived: key, value: key },
    ])
  }
  await store.write([{ derived: new Uint8Array(32).fill(255), value: Uint8Array.of(1) }])
  const { bundles, values } = await contentsOf(store)
  expect(bundles.map(each => (each as { first: number }).first)).toEqual(
    Array.from({ length: count }, (_, i) => i),
  )
  expect(values).toHaveLength(count + 1)
  expect((await store.figures()).usedBytes).toBeGreaterThan(count * sealedBytes)
  await store.close()
})

describe('a folder that an older version made, without the tables of the log', () => {
  const older = (): string => {
    const path = temporaryFolder()
    const vector = resolve(import.meta.dir, '../vectors/format-4/folder/data.mdb.gz')
    writeFileSync(join(path, 'data.mdb'), gunzipSync(readFileSync(vector)))
    return path
  }
  const none = { range: { from: 0, next: 0 }, bundles: [], values: [] }

  test('is read, and not changed by that', async () => {
    const path = older()
    const before = readFileSync(join(path, 'data.mdb'))
    expect(examinePages(path)).toEqual({ damaged: [], hasLostCommit: false })
    await inFolder(path, async store => {
      expect(await contentsOf(store)).toEqual(none)
      expect(await store.integrity()).toEqual([])
      expect(store.figures().usedBytes).toBeGreaterThan(20_000)
    })
    expect(readFileSync(join(path, 'data.mdb')).equals(before)).toBe(true)
  })

  test('is copied while it is served, and its copy takes a log', async () => {
    const path = older()
    const to = join(temporaryFolder(), 'copy')
    await copySnapshot(path, to)
    const store = await openLmdbStore({ path: to })
    expect(await contentsOf(store)).toEqual(none)
    await store.write([{ log: bundleOf(1, 2) }])
    expect(await store.integrity()).toEqual([])
    await store.close()
  })

  test('takes a log once it was opened to be written', async () => {
    const path = older()
    const store = await openLmdbStore({ path })
    await store.write([{ log: bundleOf(1, 2) }])
    expect(await store.logRange()).toEqual({ from: 0, next: 2 })
    expect(await store.integrity()).toEqual([])
    await store.close()
    expect(examinePages(path).damaged).toEqual([])
  })
})
