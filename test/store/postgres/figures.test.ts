/**
 * Counters of a store in a database, also for work that fails.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { openPool } from '../../../src/store/postgres/pool.ts'
import { DatabaseError } from '../../../src/store/postgres/database-error.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPostgresThere, sharedPostgres } from '../../support/postgres.ts'
import { inserted } from '../rows.ts'
import { openAt, tablesAt } from './subject.ts'

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(5)
}

const nothing = { lost: 0, certificate: 0, again: 0, full: 0, rights: 0, missing: 0, other: 0 }

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('figures of a pool', () => {
  const open = async () => openPool((await sharedPostgres()).address('public'), 1)

  test('say what is under way and what has begun', async () => {
    const pool = await open()
    const gate = Promise.withResolvers<void>()
    const held = pool.hold(5_000, async ({ send }) => {
      await send('SELECT 1')
      await gate.promise
    })
    const waits = pool.query('SELECT 1')
    expect(pool.figures()).toMatchObject({ connections: 1, inFlight: 2, begun: 2 })
    gate.resolve()
    await Promise.all([held, waits])
    const failures = nothing
    const expected = { connections: 1, inFlight: 0, begun: 2, timeouts: 0, failures }
    expect(pool.figures()).toEqual(expected)
    await pool.close()
  })

  test.each([
    ['missing', 'SELECT * FROM nowhere.nothing'],
    ['again', `DO $$ BEGIN RAISE EXCEPTION SQLSTATE '40001'; END $$`],
    ['full', `DO $$ BEGIN RAISE EXCEPTION SQLSTATE '53100'; END $$`],
    ['rights', `DO $$ BEGIN RAISE EXCEPTION SQLSTATE '42501'; END $$`],
    ['lost', `DO $$ BEGIN RAISE EXCEPTION SQLSTATE '25006'; END $$`],
    ['other', 'SELECT 1/0'],
  ])('count a failure as %s, once', async (kind, text) => {
    const pool = await open()
    for (const ask of [() => pool.query(text), () => pool.hold(5_000, ({ send }) => send(text))]) {
      expect(await ask().catch((error: unknown) => error)).toBeInstanceOf(DatabaseError)
    }
    const failures = { ...nothing, [kind]: 2 }
    expect(pool.figures()).toMatchObject({ inFlight: 0, begun: 2, timeouts: 0, failures })
    await pool.close()
  })

  test('count what is not answered in time as that, and as lost', async () => {
    const pool = await open()
    await pool.query('SELECT pg_sleep(2)', [], 50).catch(() => {})
    const failures = { ...nothing, lost: 1 }
    expect(pool.figures()).toMatchObject({ inFlight: 0, timeouts: 1, failures })
    await pool.close()
  })
})

describe.skipIf(!isPostgresThere)('figures of a store', () => {
  test('say what it does for all, and how it folds', async () => {
    const store = await openAt(temporaryFolder(), { foldRows: 1, foldCheckMs: 3 })
    await until(() => store.databaseFigures().leases.fold)
    await inserted(store, { uniques: [1], terms: [1] })
    await until(() => store.databaseFigures().folds > 0)
    await until(() => store.databaseFigures().leases.sweep)
    const figures = store.databaseFigures()
    expect(figures).toMatchObject({ foldFailures: 0, writesWaiting: 0 })
    expect(Math.abs(figures.skewMs)).toBeLessThan(60_000)
    expect(figures.silentMs).toBeLessThan(300_000)
    expect((await store.figures()).waiting).toBe(0)
    await store.close()
  })

  test('count each fold that fails, also while nobody is told again', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder, { foldRows: 1, foldCheckMs: 3 })
    const { sql } = await sharedPostgres()
    const { chunks } = tablesAt(folder)
    await sql.unsafe(`ALTER TABLE ${chunks} RENAME COLUMN places TO other`)
    await inserted(store, { uniques: [1], terms: [1] })
    await until(() => store.databaseFigures().foldFailures > 2)
    expect(store.databaseFigures()).toMatchObject({ folds: 0 })
    expect((await store.figures()).waiting).toBe(1)
    await sql.unsafe(`ALTER TABLE ${chunks} RENAME COLUMN other TO places`)
    await until(() => store.databaseFigures().folds > 0)
    await store.close()
  }, 300_000)

  test('count rows that wait also where another vault folds', async () => {
    const folder = temporaryFolder()
    const one = await openAt(folder)
    await until(() => one.databaseFigures().leases.fold)
    const two = await openAt(folder)
    await inserted(one, { uniques: [1] })
    expect([await one.figures(), await two.figures()]).toMatchObject([
      { waiting: 1 },
      { waiting: 1 },
    ])
    expect(two.databaseFigures().leases).toEqual({ sweep: false, fold: false })
    await Promise.all([one.close(), two.close()])
  })

  test('say by how much its clock is off, also where it jumps', async () => {
    let aheadMs = 3_000
    const store = await openAt(temporaryFolder(), { wallMs: () => Date.now() + aheadMs })
    const skewMs = () => Math.round(store.databaseFigures().skewMs / 1_000)
    expect(skewMs()).toBe(3)
    aheadMs = -60_000
    expect(skewMs()).toBe(-60)
    await store.close()
  })

  test('count groups that are tried again', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder)
    await inserted(store, { uniques: [1] })
    const { sql } = await sharedPostgres()
    expect(store.databaseFigures().retries).toBe(0)
    // Its receipt is gone, as after a day without writes: it makes another one.
    await sql.unsafe(`DELETE FROM ${tablesAt(folder).receipts}`)
    await inserted(store, { uniques: [2] })
    expect(store.databaseFigures().retries).toBe(1)
    await store.close()
  })
})
