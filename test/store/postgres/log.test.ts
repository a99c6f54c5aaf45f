/**
 * The log of a database: exactly once, without gaps, by whatever way a group goes, and taken last.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Change, Store } from '../../../src/store/contract.ts'
import { prepareChanges } from '../../../src/store/core/prepare-change.ts'
import { everyBundle } from '../../../src/store/core/log-walk.ts'
import {
  openPostgresStore,
  type PostgresStore,
} from '../../../src/store/postgres/postgres-store.ts'
import { openPool, type Pool } from '../../../src/store/postgres/pool.ts'
import { makeTables, tablesIn } from '../../../src/store/postgres/schema.ts'
import {
  decideFastInsert,
  runFastInsert,
  settleFastInsert,
} from '../../../src/store/postgres/write/fast-insert.ts'
import { startProxy, type CuttingProxy } from '../../support/cutting-proxy.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres, throughPort } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { inserted, insertOf, logOf, replaceOf, uniqueOf, written } from '../rows.ts'
import { machine, makeTablesIn, openAt, patient, tablesAt } from './subject.ts'

const msMax = 300_000
const writer = new Uint8Array(16).fill(7)

/** First sealed bytes of all bundles, which must follow each other without gaps. */
async function numbersIn(store: Store): Promise<number[]> {
  const numbers: number[] = []
  let next = (await store.logRange()).from
  for await (const bundles of everyBundle(store)) {
    for (const { first, leaves, sealed } of bundles) {
      expect(first).toBe(next)
      next += leaves.length
      numbers.push(sealed[0] ?? -1)
    }
  }
  expect((await store.logRange()).next).toBe(next)
  return numbers
}

const ascending = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a log over a connection that is cut', () => {
  let proxy: CuttingProxy
  beforeAll(async () => {
    proxy = startProxy({ unix: (await sharedPostgres()).socket })
  })
  afterAll(() => proxy.stop())

  async function openThrough(): Promise<PostgresStore> {
    const direct = (await sharedPostgres()).address(nextSchema())
    await (await makeTablesIn(direct)).close()
    return openPostgresStore({
      address: throughPort(direct, proxy.port),
      ...machine,
      bounds: patient,
    })
  }

  type Kind = (number: number, ordinal: number) => readonly Change[]
  const kinds: readonly (readonly [string, Kind])[] = [
    ['a group that only logs', number => [logOf(number, 2)]],
    [
      'one that rests on a row, and logs',
      (number, require) => [{ require, ifVersion: 1 }, logOf(number)],
    ],
    ['one that inserts', number => [insertOf({ uniques: [number] }), logOf(number)]],
    [
      'one that logs, with a value beside it',
      number => [
        logOf(number),
        { derived: Uint8Array.of((number % 3) + 1), value: Uint8Array.of(number) },
      ],
    ],
    [
      'one that moves the generation',
      number => [{ bumpGeneration: true }, logOf(number), { pruneLog: 0 }],
    ],
  ]
  const cases = kinds.flatMap(kind =>
    (['before', 'at', 'after'] as const).map(cut => [...kind, cut] as const),
  )

  test.each(cases)(
    '%s has each entry once',
    async (_, changesOf, cut) => {
      const store = await openThrough()
      const ordinal = await inserted(store, { uniques: [1_000] })
      const cutsBefore = proxy.cuts()
      for (const number of ascending(8)) {
        if (number % 2 === 1) proxy.arm(cut)
        await written(store, ...changesOf(number, ordinal))
      }
      expect(proxy.cuts() - cutsBefore).toBe(4)
      expect(await numbersIn(store)).toEqual(ascending(8))
      expect(await store.integrity()).toEqual([])
      await store.close()
    },
    msMax,
  )

  test(
    'has the entries of many writes at once, each once',
    async () => {
      const store = await openThrough()
      const writes = ascending(200).map(async number => {
        await Bun.sleep(number)
        if (number % 20 === 0) proxy.arm(number % 40 === 0 ? 'after' : 'before')
        const row = number % 3 === 0 ? [insertOf({ uniques: [number] })] : []
        await written(store, ...row, logOf(number))
      })
      await Promise.all(writes)
      expect((await numbersIn(store)).toSorted((a, b) => a - b)).toEqual(ascending(200))
      expect(await store.integrity()).toEqual([])
      await store.close()
    },
    msMax,
  )
})

async function openTables() {
  const address = (await sharedPostgres()).address(nextSchema())
  const tables = tablesIn(address.schema)
  const pool = openPool(address, 3)
  await makeTables(pool, tables, msMax)
  await pool.query(`INSERT INTO ${tables.receipts} VALUES ($1::bytea, 0, '{}', now())`, [writer])
  /** @returns the ordinals, or `undefined` where nothing was done */
  const put = (number: number, ...sets: Change[][]) =>
    pool.hold(msMax, async session => {
      const fastInsert = decideFastInsert(sets.map(prepareChanges))
      if (fastInsert === undefined) throw new Error('these can go at once')
      return runFastInsert(session, tables, fastInsert, { writer, number, part: undefined })
    })
  const settle = (number: number) =>
    pool.hold(msMax, async session => {
      const settled = await settleFastInsert(session, tables, { writer, number })
      return settled?.ordinals
    })
  /** The next sequence, the bundles and the rows. */
  const counts = async () => {
    const text = `SELECT (SELECT next_seq FROM ${tables.logRange}),
(SELECT count(*) FROM ${tables.log}), (SELECT count(*) FROM ${tables.rows})`
    return ((await pool.query(text))[0] ?? []).map(Number)
  }
  return { pool, tables, put, settle, counts }
}

/** Waits until a statement on these tables waits for a lock. */
async function untilOneWaits(pool: Pool, schema: string): Promise<void> {
  const text = `SELECT 1 FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND position($1::text IN query) > 0`
  await until(async () => (await pool.query(text, [`${schema}.`])).length > 0)
}

const insert = (unique: number): Change => insertOf({ uniques: [unique] })
const require = (ordinal: number, ifVersion: number): Change => ({ require: ordinal, ifVersion })

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a group that goes at once and logs', () => {
  test('has its entries in the order of its sets, with their rows or without any', async () => {
    const { pool, put, counts } = await openTables()
    expect(await put(1, [insert(1), logOf(1, 3)], [logOf(2)], [insert(2)])).toEqual([1, 2])
    expect(await counts()).toEqual([4, 2, 2])
    expect(await put(2, [require(1, 1), logOf(3)], [logOf(4, 2)])).toEqual([0])
    expect(await counts()).toEqual([7, 4, 2])
    await pool.close()
  })

  test.each<readonly [string, number, readonly Change[]]>([
    ['a unique is held', 2, [insert(1), logOf(2)]],
    ['a required row stands at another version', 2, [require(1, 2), insert(2), logOf(2)]],
    ['that is so for a group that only logs', 2, [require(1, 2), logOf(2)]],
    ['the group has landed before', 1, [insert(2), logOf(2)]],
    ['one that only logs has landed before', 1, [logOf(2)]],
  ])('logs nothing where %s', async (_, number, set) => {
    const { pool, put, counts } = await openTables()
    await put(1, [insert(1), logOf(1)])
    expect(await put(number, [...set])).toBeUndefined()
    expect(await counts()).toEqual([1, 1, 1])
    await pool.close()
  })

  test.each<readonly [string, Change[]]>([
    ['with rows', [insert(2), logOf(2)]],
    ['without rows', [logOf(2)]],
  ])('logs nothing once it was given up, though it comes later, %s', async (_, set) => {
    const { pool, put, settle, counts } = await openTables()
    await put(1, [insert(1), logOf(1)])
    expect(await settle(2)).toEqual([])
    expect(await put(2, set)).toBeUndefined()
    expect(await counts()).toEqual([1, 1, 1])
    await put(3, set)
    expect((await settle(3))?.length).toBe(1)
    expect((await counts()).slice(0, 2)).toEqual([2, 2])
    await pool.close()
  })

  test('fails, and leaves no row, where the range of the log is gone', async () => {
    const { pool, tables, put } = await openTables()
    await pool.query(`DELETE FROM ${tables.logRange}`)
    const failed = await put(1, [insert(1), logOf(1)]).catch((error: unknown) => error)
    expect(failed).toMatchObject({ kind: 'other' })
    const left = await pool.query(`SELECT count(*), (SELECT count(*) FROM ${tables.log})
FROM ${tables.rows}`)
    expect(left[0]?.map(Number)).toEqual([0, 0])
    await pool.close()
  })

  test('does not hold the range while it waits for a unique', async () => {
    const { pool, tables, put, counts } = await openTables()
    const isTaken = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const other = pool.hold(msMax, async ({ send }) => {
      await send('BEGIN')
      await send(`INSERT INTO ${tables.uniques} VALUES ($1::bytea, 5, 1)`, [uniqueOf(2)])
      isTaken.resolve()
      await mayCommit.promise
      await send(`SELECT FROM ${tables.logRange} FOR UPDATE NOWAIT`)
      await send('ROLLBACK')
    })
    await isTaken.promise
    const putting = put(1, [insert(2), logOf(1)])
    await untilOneWaits(pool, tables.schema)
    mayCommit.resolve()
    await other
    expect(await putting).toHaveLength(1)
    expect(await counts()).toEqual([1, 1, 1])
    await pool.close()
  })
})

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('two vaults over one log', () => {
  test('take its range before a value beside it', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder, { bounds: patient })
    const key = Uint8Array.of(1)
    const change = (value: number): Change => ({ derived: key, value: Uint8Array.of(value) })
    await written(store, change(1))
    const tables = tablesAt(folder)
    const pool = openPool((await sharedPostgres()).address(tables.schema), 2)
    const isHeld = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const other = pool.hold(msMax, async ({ send }) => {
      await send('BEGIN')
      await send(`SELECT FROM ${tables.logRange} FOR UPDATE`)
      isHeld.resolve()
      await mayCommit.promise
      await send(`SELECT FROM ${tables.derived} FOR UPDATE NOWAIT`)
      await send('COMMIT')
    })
    await isHeld.promise
    const writing = written(store, change(2), logOf(1))
    await untilOneWaits(pool, tables.schema)
    mayCommit.resolve()
    await other
    await writing
    expect(await store.derived(key, Uint8Array.of(2), 9)).toEqual([
      { key, value: Uint8Array.of(2) },
    ])
    await Promise.all([pool.close(), store.close()])
  })

  test(
    'number their entries without gaps, and wait for each other without a deadlock',
    async () => {
      const folder = temporaryFolder()
      // Chunks that two make at once would start a group over.
      const options = { bounds: patient, foldRows: 1_000_000 }
      const pair = [await openAt(folder, options), await openAt(folder, options)]
      const rows = await Promise.all(
        pair.map((store, i) => inserted(store, { uniques: [900 + i] })),
      )
      const beside = (number: number): Change => ({
        derived: Uint8Array.of((number * 7) % 5),
        value: Uint8Array.of(number),
      })
      const work = pair.map(async (store, at) => {
        const waiting: Promise<unknown>[] = []
        let version = 1
        for (let i = 0; i < 100; i += 1) {
          const number = 2 * i + at
          const kinds: readonly Change[][] = [
            [insertOf({ uniques: [number] })],
            [{ require: rows[at] ?? 0, ifVersion: version }],
            [beside(number), beside(number + 1)],
            [],
          ]
          waiting.push(written(store, ...(kinds[i % 4] ?? []), logOf(number)))
          if (i % 10 !== 9) continue
          await Promise.all(waiting.splice(0))
          const changed = { uniques: [900 + at], version: (version += 1) }
          await written(store, logOf(200 + at), replaceOf(rows[at] ?? 0, changed))
        }
        await Promise.all(waiting)
      })
      await Promise.all(work)
      const numbers = await numbersIn(pair[0] as Store)
      const once = numbers.filter(number => number < 200).toSorted((a, b) => a - b)
      expect([numbers.length, once]).toEqual([220, ascending(200)])
      expect(pair.map(store => store.databaseFigures().retries)).toEqual([0, 0])
      expect(await pair[1]?.integrity()).toEqual([])
      await Promise.all(pair.map(store => store.close()))
    },
    msMax,
  )
})
