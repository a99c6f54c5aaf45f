/**
 * Damage of rows that nothing in the index leads to yet: found, and hiding nothing else.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import type { Store } from '../../src/store/contract.ts'
import { type LmdbEnvironment } from '../../src/store/lmdb/environment.ts'
import { type StoreState } from '../../src/store/lmdb/store-state.ts'
import {
  encodeMoveKey,
  encodeRowKey,
  encodeRowVersion,
  encodeTermKey,
} from '../../src/store/lmdb/layout.ts'
import { encodeRow } from '../../src/store/core/row-format.ts'
import type { StoreFinding } from '../../src/store/operated.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../support/folders.ts'
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

/** Rows 1 to 3 with term 7, of which 1 was replaced once and 3 is removed. Nothing is folded. */
async function makeTail(): Promise<string> {
  const path = temporaryFolder()
  const store = await openLmdbStore({ path })
  await written(store, ...[1, 2, 3].map(i => insertOf({ uniques: [i], terms: [7] })))
  await written(store, replaceOf(1, { uniques: [1], terms: [7], version: 2 }), { remove: 3 })
  await store.close()
  return path
}

const flipBit = ({ rows }: LmdbEnvironment, ordinal: number, at: number): void => {
  const value = Uint8Array.from(rows.getBinary(encodeRowKey(ordinal)) ?? [])
  value[at] = (value[at] ?? 0) ^ 1
  rows.putSync(encodeRowKey(ordinal), value)
}

const findOne = async (store: Store): Promise<unknown> => store.find(uniqueOf(1))
const pageSeven = (store: Store): Promise<unknown> => ordinalsOf(store, { term: termOf(7) })
const requireOne = (store: Store): Promise<unknown> => store.write([{ require: 1, ifVersion: 1 }])

interface Damage {
  readonly says: string
  /** True if the damage hides the second row. */
  readonly hidesTwo?: true
  readonly change: (environment: LmdbEnvironment) => void
  readonly breaks: readonly ((store: Store) => Promise<unknown>)[]
  readonly finds: readonly StoreFinding[]
}

const damages: readonly Damage[] = [
  {
    says: 'a row that is put back to its older version',
    change: ({ rows }) =>
      rows.putSync(encodeRowKey(1), encodeRow(rowOf({ uniques: [1], terms: [7] }))),
    breaks: [],
    finds: [{ kind: 'move_missing', ordinal: 1 }],
  },
  {
    says: 'a row that is gone',
    change: ({ rows }) => rows.removeSync(encodeRowKey(1)),
    breaks: [],
    finds: [{ kind: 'move_missing', ordinal: 1 }],
  },
  {
    says: 'a header with a flipped bit in a term',
    change: environment => flipBit(environment, 1, 6 + 15 + 32 + 3),
    breaks: [findOne, requireOne],
    finds: [{ kind: 'row_damaged', ordinal: 1 }, { kind: 'tail_orphan' }],
  },
  {
    says: 'a row that is cut short',
    change: ({ rows }) => {
      const value = rows.getBinary(encodeRowKey(1)) ?? new Uint8Array()
      rows.putSync(encodeRowKey(1), value.subarray(0, value.length - 1))
    },
    breaks: [findOne, pageSeven, requireOne],
    finds: [{ kind: 'row_damaged', ordinal: 1 }, { kind: 'tail_orphan' }],
  },
  {
    says: 'a row that was removed, and is there again',
    change: ({ rows }) =>
      rows.putSync(encodeRowKey(3), encodeRow(rowOf({ uniques: [3], terms: [7] }))),
    breaks: [],
    finds: [{ kind: 'move_missing', ordinal: 3 }],
  },
  {
    says: 'a move that is gone',
    change: ({ moves }) => moves.removeSync(encodeMoveKey(0)),
    breaks: [],
    finds: [{ kind: 'move_damaged' }, { kind: 'move_missing', ordinal: 1 }],
  },
  {
    says: 'a move that is cut short',
    change: ({ moves }) => moves.putSync(encodeMoveKey(1), new Uint8Array(9)),
    breaks: [],
    finds: [{ kind: 'move_damaged' }, { kind: 'move_missing', ordinal: 3 }],
  },
  {
    says: 'a move too many',
    change: ({ moves }) =>
      moves.putSync(encodeMoveKey(2), encodeRowVersion({ ordinal: 2, version: 2 })),
    breaks: [],
    finds: [{ kind: 'move_damaged' }, { kind: 'move_missing', ordinal: 2 }],
  },
  {
    says: 'an index that leads to a row before its fold',
    change({ terms, uniques }) {
      terms.putSync(encodeTermKey(termOf(7), 0), Uint8Array.of(2, 0))
      uniques.putSync(uniqueOf(2), encodeRowVersion({ ordinal: 2, version: 1 }))
    },
    breaks: [],
    finds: [
      { kind: 'unique_orphan', ordinal: 2 },
      { kind: 'term_orphan', ordinal: 2 },
    ],
  },
  {
    says: 'a state that says they are folded',
    hidesTwo: true,
    change: changeState({ foldedTo: 4, foldingTo: 4, movesFrom: 2, movesOfFold: 2 }),
    breaks: [requireOne],
    finds: [
      { kind: 'move_damaged' },
      { kind: 'unique_missing', ordinal: 1 },
      { kind: 'term_missing', ordinal: 1 },
      { kind: 'unique_missing', ordinal: 2 },
      { kind: 'term_missing', ordinal: 2 },
    ],
  },
]

describe('a tail that was changed behind its back', () => {
  test.each(damages)('$says: is found, stops folds, and nothing else', async damage => {
    const path = await makeTail()
    await tamper(path, damage.change)
    const store = await openLmdbStore({ path, fold: { rows: 1 } })
    for (const call of damage.breaks) await expectFault(call(store), 'storage_corrupt')
    expect(await store.integrity()).toEqual(damage.finds)
    const two = await store.find(uniqueOf(2))
    expect(two?.ordinal).toBe(damage.hidesTwo ? undefined : 2)
    await inserted(store, { uniques: [9], terms: [9] })
    expect(await ordinalsOf(store, { term: termOf(9) })).toEqual({ ordinals: [4], total: 1 })
    await store.close()
  })

  test('a next ordinal far beyond the rows is found, and no ordinal is looked for', async () => {
    const path = await makeTail()
    await tamper(path, changeState({ nextOrdinal: 2 ** 47 }))
    const store = await openLmdbStore({ path })
    expect((await store.find(uniqueOf(2)))?.ordinal).toBe(2)
    expect((await store.integrity())[0]).toEqual({ kind: 'move_missing', ordinal: 4 })
    await store.close()
  })

  test('a row under the ordinal of another is found, and stops folds', async () => {
    const path = temporaryFolder()
    const before = await openLmdbStore({ path })
    await written(before, ...[1, 2].map(i => insertOf({ uniques: [i], terms: [7] })))
    await before.close()
    await tamper(path, ({ rows }) =>
      rows.putSync(encodeRowKey(1), Uint8Array.from(rows.getBinary(encodeRowKey(2)) ?? [])),
    )
    const store = await openLmdbStore({ path, fold: { rows: 1 } })
    expect(await store.integrity()).toEqual([
      { kind: 'unique_missing', ordinal: 1 },
      { kind: 'tail_orphan' },
    ])
    await inserted(store, { uniques: [3] })
    await Bun.sleep(30)
    expect(store.state().foldingTo).toBe(1)
    await store.close()
  })

  test('is not folded, and what is damaged in the index stops a fold as well', async () => {
    for (const change of [
      (environment: LmdbEnvironment) => flipBit(environment, 1, 6 + 15 + 32 + 3),
      ({ rows }: LmdbEnvironment) => rows.putSync(encodeRowKey(1), new Uint8Array(10)),
      ({ terms }: LmdbEnvironment) => terms.putSync(encodeTermKey(termOf(7), 0), new Uint8Array(3)),
    ]) {
      const path = await makeTail()
      await tamper(path, change)
      let told = 0
      const onDamage = () => void (told += 1)
      const store = await openLmdbStore({ path, fold: { rows: 1 }, onDamage })
      for (let i = 20; i < 25; i += 1) await inserted(store, { uniques: [i], terms: [i] })
      await Bun.sleep(30)
      expect(store.state().foldedTo).toBe(1)
      expect(await ordinalsOf(store, { term: termOf(22) })).toEqual({ ordinals: [6], total: 1 })
      expect(store.find(uniqueOf(2))).toMatchObject({ ordinal: 2 })
      expect(told).toBe(1)
      await store.close()
    }
  })

  test.each<[string, Partial<StoreState>]>([
    ['that is folded beyond what it folds', { foldedTo: 5 }],
    ['whose folds are beyond its rows', { foldingTo: 9 }],
    ['that folds digests of no rows', { foldedPrefixes: 3 }],
    ['with more first bytes than there are', { foldingTo: 3, foldedPrefixes: 256 }],
    ['whose moves end before they begin', { movesFrom: 3 }],
    ['whose fold had more moves than there are', { movesOfFold: 3 }],
  ])('a state %s is not opened', async (_, change) => {
    const path = await makeTail()
    await tamper(path, changeState(change))
    await expectFault(openLmdbStore({ path }), 'storage_corrupt')
  })
})
