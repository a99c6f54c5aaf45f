/**
 * The tail: rows that nothing in the index leads to, folds, and damage that only the tail can see.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import type { Store } from '../../src/store/contract.ts'
import {
  encodeState,
  openEnvironment,
  readState,
  stateKey,
  tableNames,
  type Environment,
  type State,
} from '../../src/store/lmdb/environment.ts'
import {
  encodeMoveKey,
  encodeRow,
  encodeRowKey,
  encodeRowVersion,
} from '../../src/store/lmdb/layout.ts'
import { encodeTermKey } from '../../src/store/lmdb/index/postings.ts'
import type { Finding } from '../../src/store/lmdb/inspect/integrity.ts'
import { openLmdbStore, type LmdbStore } from '../../src/store/lmdb/open.ts'
import { foldMovesMax } from '../../src/limits.ts'
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

type TableName = (typeof tableNames)[number]

async function entriesOf(path: string): Promise<Record<TableName, number>> {
  const environment = openEnvironment(path)
  const counts = tableNames.map(name => [name, environment[name].getKeysCount()] as const)
  await environment.root.close()
  return Object.fromEntries(counts) as Record<TableName, number>
}

async function tamper(path: string, change: (environment: Environment) => void): Promise<void> {
  const environment = openEnvironment(path)
  environment.root.transactionSync(() => change(environment))
  await environment.root.close()
}

/** Until the folds of an open store rest, as nobody's write goes on with them. */
async function untilFolded(store: LmdbStore): Promise<State> {
  for (;;) {
    const state = store.state()
    if (state.foldingTo === state.foldedTo && state.movesFrom >= state.movesOfFold) return state
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
    const { movesFrom, movesTo } = await untilFolded(again)
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
    await Bun.sleep(30)
    expect(await untilFolded(store)).toMatchObject({ foldedTo: 42, nextOrdinal: 42 })
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
    await Bun.sleep(20)
    expect((await untilFolded(store)).foldedTo).toBeGreaterThan(4)
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
    await Bun.sleep(30)
    expect(await untilFolded(store)).toMatchObject({ foldedTo: 101, movesFrom: foldMovesMax })
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
    // Of 3,200 digests at most, 500 in a row, and what came while the first fold was to begin.
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
    await untilFolded(store)
    expect(store.state()).toMatchObject({ foldedTo: 13, foldedPrefixes: 0 })
    expect(await store.integrity()).toEqual([])
    await store.close()
  })

  test('of another process is followed, by who has slept through it as well', async () => {
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

/** Rows 1 to 3 with term 7, of which 1 was replaced once and 3 is removed. Nothing is folded. */
async function makeTail(): Promise<string> {
  const path = temporaryFolder()
  const store = await openLmdbStore({ path })
  await written(store, ...[1, 2, 3].map(i => insertOf({ uniques: [i], terms: [7] })))
  await written(store, replaceOf(1, { uniques: [1], terms: [7], version: 2 }), { remove: 3 })
  await store.close()
  return path
}

const flipBit = ({ rows }: Environment, ordinal: number, at: number): void => {
  const value = Uint8Array.from(rows.getBinary(encodeRowKey(ordinal)) ?? [])
  value[at] = (value[at] ?? 0) ^ 1
  rows.putSync(encodeRowKey(ordinal), value)
}

const changeState =
  (change: Partial<State>) =>
  (environment: Environment): void =>
    void environment.meta.putSync(stateKey, encodeState({ ...readState(environment), ...change }))

const findOne = async (store: Store): Promise<unknown> => store.find(uniqueOf(1))
const pageSeven = (store: Store): Promise<unknown> => ordinalsOf(store, { term: termOf(7) })
const requireOne = (store: Store): Promise<unknown> => store.write([{ require: 1, ifVersion: 1 }])

interface Damage {
  readonly says: string
  /** Of what else leads to the second row. */
  readonly hidesTwo?: true
  readonly change: (environment: Environment) => void
  readonly breaks: readonly ((store: Store) => Promise<unknown>)[]
  readonly finds: readonly Finding[]
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
      (environment: Environment) => flipBit(environment, 1, 6 + 15 + 32 + 3),
      ({ rows }: Environment) => rows.putSync(encodeRowKey(1), new Uint8Array(10)),
      ({ terms }: Environment) => terms.putSync(encodeTermKey(termOf(7), 0), new Uint8Array(3)),
    ]) {
      const path = await makeTail()
      await tamper(path, change)
      const store = await openLmdbStore({ path, fold: { rows: 1 } })
      for (let i = 20; i < 25; i += 1) await inserted(store, { uniques: [i], terms: [i] })
      await Bun.sleep(30)
      expect(store.state().foldedTo).toBe(1)
      expect(await ordinalsOf(store, { term: termOf(22) })).toEqual({ ordinals: [6], total: 1 })
      expect(store.find(uniqueOf(2))).toMatchObject({ ordinal: 2 })
      await store.close()
    }
  })

  test.each<[string, Partial<State>]>([
    ['that is folded beyond what it folds', { foldedTo: 5 }],
    ['whose folds are beyond its rows', { foldingTo: 9 }],
    ['that folds digests of no rows', { foldedPrefixes: 3 }],
    ['with more first bytes than there are', { foldingTo: 3, foldedPrefixes: 256 }],
    ['whose moves end before they begin', { movesFrom: 3 }],
  ])('a state %s is not opened', async (_, change) => {
    const path = await makeTail()
    await tamper(path, changeState(change))
    await expectFault(openLmdbStore({ path }), 'storage_corrupt')
  })
})
