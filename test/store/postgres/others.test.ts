/**
 * Trouble of one caller is no trouble of others: a connection that is waited for, an answer that
 * never comes, a chunk that is damaged, a state that is away for a moment.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { ApiError } from '../../../src/lib/errors.ts'
import { inspectRows } from '../../../src/store/core/limits.ts'
import { openPool, type Pool } from '../../../src/store/postgres/pool.ts'
import { faultOf, DatabaseError } from '../../../src/store/postgres/database-error.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPostgresThere, sharedPostgres } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { expectFault, inserted, insertOf, replaceOf, termOf, uniqueOf } from '../rows.ts'
import { lookerBy, openAt, tablesAt } from './subject.ts'

async function poolOf(connections: number): Promise<Pool> {
  return openPool((await sharedPostgres()).address('public'), connections)
}

test('look-ups that wait behind one that no database answers are refused with it', async () => {
  let asked = 0
  const ask = async (): Promise<never> => {
    asked += 1
    await Bun.sleep(20)
    throw new ApiError('unavailable', 'the database cannot be reached')
  }
  const looker = lookerBy(ask)
  const all = Array.from({ length: 1_000 }, (_, i) => looker.find(uniqueOf(i)))
  const settled = await Promise.allSettled(all)
  expect(settled.every(({ status }) => status === 'rejected')).toBe(true)
  expect(asked).toBeLessThanOrEqual(2)
})

describe('a generation that a write waits for', () => {
  const lost = () =>
    new ApiError(
      'unavailable',
      'the database cannot be reached',
      undefined,
      new DatabaseError('lost'),
    )

  // proves C2.30
  test('is asked for again where a read is refused, and is refused in its time', async () => {
    let nowMs = 0
    const bounds = { readMs: 5_000, writeMs: 30_000 }
    const asked: number[] = []
    const ask = async (_text: string, _parameters: unknown, msMax: number): Promise<never> => {
      asked.push(msMax)
      await Bun.sleep(1)
      nowMs += msMax
      throw lost()
    }
    const looker = lookerBy(ask, { elapsedMs: () => nowMs, bounds })
    const ends: string[] = []
    const note = (what: string, ended: Promise<unknown>) =>
      expectFault(ended, 'unavailable').then(() => ends.push(`${what} ${nowMs}`))
    const found = note('row', looker.find(uniqueOf(1)))
    await Promise.all([note('write', looker.generation(true)), note('read', looker.generation())])
    await found
    expect(ends.toSorted()).toEqual(['read 5000', 'row 5000', 'write 30000'])
    expect(Math.max(...asked)).toBe(5_000)
  })

  test('comes once the database is back, and is refused where tables are missing', async () => {
    const answers = [lost(), [[7, null, null, null, null]]] as const
    let tries = 0
    const back = lookerBy(async () => {
      const answer = answers[Math.min(tries, 1)] ?? []
      tries += 1
      if (answer instanceof ApiError) throw answer
      return answer
    })
    expect(await back.generation(true)).toBe(7)
    const missing = lookerBy(() => Promise.reject(faultOf(new DatabaseError('missing'))))
    await expectFault(missing.generation(true), 'unavailable')
  })

  test('goes with one statement, however many ask for it', async () => {
    let asked = 0
    const looker = lookerBy(async () => {
      asked += 1
      return [[3, null, null, null, null]]
    })
    const all = await Promise.all(Array.from({ length: 1_000 }, () => looker.generation()))
    expect(all.every(generation => generation === 3)).toBe(true)
    expect(asked).toBeLessThanOrEqual(2)
  })
})

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('over a database', () => {
  test('a wait too long for a connection ends no work of those that have one', async () => {
    const pool = await poolOf(2)
    const work = () => pool.hold(5_000, ({ send }) => send('SELECT 1, pg_sleep(0.8)'))
    const working = [work(), work()]
    await Bun.sleep(100)
    await expect(pool.hold(200, ({ send }) => send('SELECT 1'))).rejects.toMatchObject({
      kind: 'lost',
    })
    expect((await Promise.all(working)).map(([row]) => row?.[0])).toEqual([1, 1])
    expect(await pool.hold(1_000, ({ send }) => send('SELECT 2'))).toHaveLength(1)
    await pool.close()
  })

  test('a change that needs a damaged chunk is refused, and those beside it land', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder, { foldRows: 1, foldCheckMs: 10 })
    const { chunks } = tablesAt(folder)
    const pool = await poolOf(1)
    const ordinal = await inserted(store, { uniques: [1], terms: [1] })
    while ((await pool.query(`SELECT 1 FROM ${chunks}`)).length === 0) await Bun.sleep(10)
    await pool.query(`UPDATE ${chunks} SET places = '\\x09'`)
    const change = replaceOf(ordinal, { uniques: [1], terms: [], version: 2 })
    const refused = expectFault(Promise.resolve(store.write([change])), 'storage_corrupt')
    const beside = Array.from({ length: 40 }, (_, i) =>
      store.write([insertOf({ uniques: [9 + i] })]),
    )
    expect((await Promise.all(beside)).every(({ ok }) => ok)).toBe(true)
    await refused
    for (let i = 0; i < 40; i += 1) expect((await store.find(uniqueOf(9 + i)))?.version).toBe(1)
    expect((await store.find(uniqueOf(1)))?.version).toBe(1)
    await Promise.all([store.close(), pool.close()])
  })

  test('a change that the database refuses fails alone, and those beside it land', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder)
    const { rows, schema } = tablesAt(folder)
    const pool = await poolOf(1)
    await pool.query(`CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'refused'; END $$`)
    await pool.query(`CREATE TRIGGER refuse BEFORE INSERT ON ${rows} FOR EACH ROW
      WHEN (NEW.deadline_ms = 4711) EXECUTE FUNCTION ${schema}.refuse()`)
    const refused = expectFault(
      Promise.resolve(store.write([insertOf({ uniques: [1], deadlineMs: 4711 })])),
      'internal',
    )
    const beside = Array.from({ length: 40 }, (_, i) =>
      store.write([insertOf({ uniques: [9 + i] })]),
    )
    expect((await Promise.all(beside)).every(({ ok }) => ok)).toBe(true)
    await refused
    expect(await store.find(uniqueOf(1))).toBeUndefined()
    await Promise.all([store.close(), pool.close()])
  })

  test('a state that is away for a moment leaves the clock what it was', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder, { bounds: { clockMs: 10 } })
    const { state } = tablesAt(folder)
    const pool = await poolOf(1)
    const rows = await pool.query(`DELETE FROM ${state} RETURNING format`)
    expect(rows).toHaveLength(1)
    await Bun.sleep(200)
    expect(Math.abs(store.clock.wallMs() - Date.now())).toBeLessThan(300_000)
    await pool.query(`INSERT INTO ${state} VALUES (true, 1, 0, 0)`)
    expect(await store.generation()).toBe(0)
    await Promise.all([store.close(), pool.close()])
  })
})

describe.skipIf(!isPostgresThere)('rows that are due by their column alone', () => {
  test('keep none that is due from its end, however many they are', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder)
    const forged = 2 * inspectRows + 5
    for (let from = 0; from < forged; from += 100) {
      const few = Array.from({ length: Math.min(100, forged - from) }, (_, i) => from + i)
      await Promise.all(few.map(unique => inserted(store, { uniques: [unique] })))
    }
    const pool = await poolOf(1)
    await pool.query(`UPDATE ${tablesAt(folder).rows} SET deadline_ms = 1`)
    await pool.close()
    const due = []
    for (const deadlineMs of [50, 60]) {
      due.push(await inserted(store, { uniques: [forged + deadlineMs], deadlineMs }))
    }
    const found = async (limit: number) => (await store.due(100, limit)).map(row => row.ordinal)
    expect(await found(1)).toEqual(due.slice(0, 1))
    expect(await found(2)).toEqual(due)
    expect(await found(100)).toEqual(due)
    expect(await found(0)).toEqual([])
    await store.close()
  }, 300_000)
})

// .ci/run installs it.
test.skipIf(!isPostgresThere)('reads that were given up end in the database, too', async () => {
  const { sql } = await sharedPostgres()
  const folder = temporaryFolder()
  const first = await openAt(folder)
  await inserted(first, { uniques: [1], terms: [1] })
  const { schema, rows } = tablesAt(folder)
  const bounds = { readMs: 500, clockMs: 3_600_000, leaseRenewMs: 3_600_000 }
  const hasty = await openAt(folder, { bounds, foldCheckMs: 3_600_000 })
  const holding = await sql.reserve()
  await holding.unsafe('BEGIN')
  await holding.unsafe(`LOCK TABLE ${rows} IN ACCESS EXCLUSIVE MODE`)
  const reads = [
    () => hasty.page({ term: termOf(1) }, { offset: 0, limit: 9, nowMs: 0 }),
    () => Promise.resolve(hasty.find(uniqueOf(1))),
    () => hasty.rowsFrom(0, 9),
  ]
  for (const read of reads) await expectFault(read(), 'unavailable')
  const waiting = async () => {
    const found = await sql.unsafe(
      `SELECT FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND position('${schema}.' IN query) > 0`,
    )
    return found.length
  }
  await until(async () => (await waiting()) === 0)
  await holding.unsafe('ROLLBACK')
  holding.release()
  expect((await hasty.find(uniqueOf(1)))?.version).toBe(1)
  expect(await hasty.integrity()).toEqual([])
  await Promise.all([first.close(), hasty.close()])
})

// .ci/run installs it.
test.skipIf(!isPostgresThere)('a write from which policies hide rows is refused', async () => {
  const { sql } = await sharedPostgres()
  const folder = temporaryFolder()
  const owner = await openAt(folder)
  const ordinal = await inserted(owner, { uniques: [1] })
  const { schema, uniques } = tablesAt(folder)
  const role = `served_${schema}`
  for (const statement of [
    `CREATE ROLE ${role} LOGIN`,
    `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
    `GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`,
    `ALTER TABLE ${uniques} ENABLE ROW LEVEL SECURITY`,
    `CREATE POLICY looks ON ${uniques} FOR SELECT USING (true)`,
    `CREATE POLICY adds ON ${uniques} FOR INSERT WITH CHECK (true)`,
  ]) {
    await sql.unsafe(statement)
  }
  const served = await openAt(folder, {}, 1, address => ({ ...address, username: role }))
  const replace = replaceOf(ordinal, { uniques: [1], version: 2 })
  await expectFault(served.write([replace]), 'unavailable')
  expect((await owner.find(uniqueOf(1)))?.version).toBe(1)
  await sql.unsafe(`ALTER TABLE ${uniques} DISABLE ROW LEVEL SECURITY`)
  expect((await served.write([replace])).ok).toBe(true)
  expect(await owner.integrity()).toEqual([])
  await Promise.all([served.close(), owner.close()])
})
