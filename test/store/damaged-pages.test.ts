/**
 * The walk over the pages of the engine's file.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { examinePages } from '../../src/store/lmdb/inspect/damaged-pages.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../support/folders.ts'
import {
  add,
  bigPart,
  damagedCopyOf,
  firstLeafOf,
  inLeaf,
  inRecord,
  inRowsRoot,
  makeBusyStore,
  rootOf,
  tableRecordAt,
  type Change,
  type DataPages,
} from './data-file.ts'
import { insertOf, written } from './rows.ts'

const made = await makeBusyStore()

const damaged = (change: Change): string => damagedCopyOf(made, change)

describe('a store as the engine left it', () => {
  test('has no damaged page', () => {
    expect(examinePages(made).damaged).toEqual([])
  })

  test('has none after any work, and the walk changes nothing', async () => {
    const steps = fc.array(
      fc.record({ count: fc.integer({ min: 1, max: 60 }), kind: fc.integer({ min: 0, max: 2 }) }),
      { minLength: 1, maxLength: 8 },
    )
    const work = fc.asyncProperty(steps, async all => {
      const path = temporaryFolder()
      const store = await openLmdbStore({ path })
      let next = 1
      let first = 1
      for (const { count, kind } of all) {
        if (kind === 2) {
          const removed = Math.min(count, next - first)
          await store.write(Array.from({ length: removed }, (_, i) => ({ remove: first + i })))
          first += removed
        } else {
          const parts = kind === 1 ? { parts: [bigPart] } : {}
          const rows = Array.from({ length: count }, (_, i) =>
            insertOf({ uniques: [next + i], terms: [kind, 10 + next + i], ...parts }),
          )
          await written(store, ...rows)
          next += count
        }
        const before = readFileSync(join(path, 'data.mdb'))
        expect(examinePages(path).damaged).toEqual([])
        expect(readFileSync(join(path, 'data.mdb')).equals(before)).toBe(true)
      }
      await store.close()
    })
    await fc.assert(work, { numRuns: 15 })
  })
})

/** The node of the first row in overflow pages. */
function bigNodeOf(pages: DataPages): number {
  const { bytes, meta, at } = pages
  for (let page = 2; page <= meta.lastPage; page += 1) {
    if (bytes.readUInt16LE(at(page) + 18) !== 2 || bytes.readUInt32LE(at(page)) !== page) continue
    for (let index = 0; index < bytes.readUInt16LE(at(page) + 20) / 2; index += 1) {
      const node = pages.nodeAt(page, index)
      if (bytes.readUInt16LE(node + 4) === 1 && bytes.readUInt16LE(node + 6) === 6) return node
    }
  }
  throw new Error('expected a row in overflow pages')
}

const damages: readonly (readonly [string, Change])[] = [
  ['a branch with the number of another page', inRowsRoot(0, 1)],
  ['a branch of a later transaction', inRowsRoot(8, 1_000)],
  ['a branch that says it is a leaf', inRowsRoot(18, 1)],
  ['a branch with a node less', inRowsRoot(20, -2)],
  ['a branch that ends within a place', inRowsRoot(20, 1)],
  ['a branch whose nodes begin earlier', inRowsRoot(22, -2)],
  ['a branch with a node elsewhere', inRowsRoot(26, 2)],
  ['a leaf with the number of another page', inLeaf(0, 1)],
  ['a leaf that says it is of overflow', inLeaf(18, 2)],
  ['a leaf with a node less', inLeaf(20, -2)],
  ['a leaf with a node outside of it', inLeaf(24, 0x4000)],
  ['a leaf with a node at an odd place', inLeaf(24, 1)],
  [
    'a leaf with two nodes exchanged',
    pages => {
      const at = pages.at(firstLeafOf(pages, 'uniques')) + 24
      pages.bytes.subarray(at, at + 4).swap32()
      pages.bytes.subarray(at, at + 4).swap16()
    },
  ],
  [
    'a node with flags of another kind',
    pages => add(pages.bytes, pages.nodeAt(firstLeafOf(pages, 'uniques'), 0) + 4, 2),
  ],
  [
    'a node with a longer key',
    pages => add(pages.bytes, pages.nodeAt(firstLeafOf(pages, 'uniques'), 0) + 6, 2),
  ],
  [
    'a node with longer data',
    pages => add(pages.bytes, pages.nodeAt(firstLeafOf(pages, 'uniques'), 0), 2),
  ],
  [
    'a key above the ones that the branch says',
    pages => {
      const node = pages.nodeAt(firstLeafOf(pages, 'uniques'), 0)
      const count = pages.bytes.readUInt16LE(pages.at(firstLeafOf(pages, 'uniques')) + 20) / 2
      const last = pages.nodeAt(firstLeafOf(pages, 'uniques'), count - 1)
      expect(last).not.toBe(node)
      pages.bytes[last + 8] = 0xff
    },
  ],
  ['overflow pages of another length', pages => add(pages.bytes, bigNodeOf(pages) + 14 + 16, 1)],
  ['overflow pages elsewhere', pages => add(pages.bytes, bigNodeOf(pages) + 14, 1)],
  ['overflow pages behind the end', pages => add(pages.bytes, bigNodeOf(pages) + 16, 1)],
  ['overflow pages of another transaction', pages => add(pages.bytes, bigNodeOf(pages) + 22, -1)],
  [
    'overflow pages whose own count differs',
    pages => add(pages.bytes, pages.at(pages.bytes.readUInt32LE(bigNodeOf(pages) + 14)) + 20, 1),
  ],
  ['a table with another flag', inRecord(4, 2)],
  ['a table with another depth', inRecord(6, 1)],
  ['a table that counts an entry more', inRecord(32, 1)],
  ['a table that counts a leaf more', inRecord(16, 1)],
  ['a table that counts a branch more', inRecord(8, 1)],
  ['a table that counts an overflow page more', inRecord(24, 1)],
  ['a table with the root of another', inRecord(40, 1)],
  [
    'a table without a root',
    ({ ...pages }) => {
      const at = tableRecordAt(pages, 'deadlines') + 40
      pages.bytes.fill(0xff, at, at + 8)
    },
  ],
  ['a table with another name', pages => add(pages.bytes, tableRecordAt(pages, 'rows') - 3, 1)],
  [
    'a table that has the pages of another',
    pages => {
      const from = tableRecordAt(pages, 'uniques')
      pages.bytes.copyWithin(tableRecordAt(pages, 'terms'), from, from + 48)
    },
  ],
  [
    'a newest meta page that says it is the older one',
    ({ bytes, metaAt }) => add(bytes, metaAt + 152, -2),
  ],
  [
    'an older meta page that says it is the newest one',
    ({ bytes, meta, at }) => add(bytes, at((meta.transaction + 1) % 2) + 152, 2),
  ],
  ['a count of free entries that is wrong', ({ bytes, metaAt }) => add(bytes, metaAt + 48 + 32, 1)],
  ['a last page that is too low', ({ bytes, metaAt }) => add(bytes, metaAt + 144, -1)],
  [
    'a free page that is a root',
    pages => {
      const leaf = pages.meta.freePages.root ?? 0
      const node = pages.nodeAt(leaf, 0)
      const firstEntry = node + 8 + 8 + 8
      expect(pages.bytes.readUInt16LE(node + 4)).toBe(0)
      pages.bytes.writeBigInt64LE(BigInt(rootOf(pages, 'rows')), firstEntry)
    },
  ],
  [
    'a list of free pages longer than its node',
    pages => add(pages.bytes, pages.nodeAt(pages.meta.freePages.root ?? 0, 0) + 16, 500),
  ],
  [
    'two pages exchanged',
    pages => {
      const [a, b] = [pages.at(firstLeafOf(pages, 'uniques')), pages.at(rootOf(pages, 'rows'))]
      const kept = Buffer.from(pages.bytes.subarray(a, a + pages.meta.pageBytes))
      pages.bytes.copyWithin(a, b, b + pages.meta.pageBytes)
      pages.bytes.set(kept, b)
    },
  ],
]

describe('a damaged page', () => {
  test.each(damages)('%s: is found', (_, change) => {
    const findings = examinePages(damaged(change))
    expect(findings).not.toEqual({ damaged: [], hasLostCommit: false })
  })

  test('behind the end of the file, of the commit before the last alone, is no loss', () => {
    const cut = damaged(({ bytes, meta, at }) => {
      const older = at((meta.transaction + 1) % 2)
      bytes.writeUInt32LE(bytes.length / meta.pageBytes, older + 136)
    })
    expect(examinePages(cut)).toEqual({ damaged: [], hasLostCommit: false })
  })

  test('of any kind ends neither the walk nor the process, and changes nothing', () => {
    const size = statSync(join(made, 'data.mdb')).size
    const places = fc.array(fc.nat(size - 1), { minLength: 1, maxLength: 20 })
    const law = fc.property(
      places,
      fc.uint8Array({ minLength: 20, maxLength: 20 }),
      (at, values) => {
        const path = damaged(({ bytes }) =>
          at.forEach((place, i) => (bytes[place] = values[i] ?? 0)),
        )
        const before = readFileSync(join(path, 'data.mdb'))
        const pages = examinePages(path).damaged
        expect(pages).toEqual([...new Set(pages)].sort((a, b) => a - b))
        expect(readFileSync(join(path, 'data.mdb')).equals(before)).toBe(true)
      },
    )
    fc.assert(law, { numRuns: 300 })
  })
})
