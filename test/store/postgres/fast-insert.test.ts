/**
 * Groups that only insert go as one statement, which must do nothing if it meets a conflict.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { ApiError } from '../../../src/lib/errors.ts'
import { prepareChanges } from '../../../src/store/core/prepare-change.ts'
import type { Change } from '../../../src/store/contract.ts'
import { defaultTimeouts } from '../../../src/store/postgres/timeouts.ts'
import { openPool, type Pool } from '../../../src/store/postgres/pool.ts'
import { makeTables, tablesIn } from '../../../src/store/postgres/schema.ts'
import {
  decideFastInsert,
  runFastInsert,
  settleFastInsert,
} from '../../../src/store/postgres/write/fast-insert.ts'
import { makeWriteQueue } from '../../../src/store/postgres/write/postgres-commit.ts'
import { numbersOf } from '../../../src/store/postgres/write/lock-rows.ts'
import { randomBytes } from '../../../src/server/process/system.ts'
import { DatabaseError } from '../../../src/store/postgres/database-error.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../../support/postgres.ts'
import { expectFault, insertOf, replaceOf, uniqueOf } from '../rows.ts'

const msMax = 300_000
const writer = new Uint8Array(16).fill(7)

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
  return { pool, tables, put, settle, counts: () => countsOf(pool, tables) }
}

/** Counts rows, uniques, recent ones and the receipt: all are put, or none. */
async function countsOf(
  pool: Pool,
  { rows, uniques, recent, receipts }: ReturnType<typeof tablesIn>,
) {
  const [row = []] = await pool.query(`SELECT (SELECT count(*) FROM ${rows}),
(SELECT count(*) FROM ${uniques}), (SELECT count(*) FROM ${recent}),
(SELECT number FROM ${receipts})`)
  return row.map(Number)
}

/** Waits until a statement on these tables waits for a lock. */
async function untilOneWaits(pool: Pool, schema: string): Promise<void> {
  const text = `SELECT 1 FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND position($1::text IN query) > 0`
  while ((await pool.query(text, [`${schema}.`])).length === 0) await Bun.sleep(5)
}

const insert = (...uniques: number[]): Change => insertOf({ uniques, terms: [1] })
const require = (ordinal: number, ifVersion: number): Change => ({ require: ordinal, ifVersion })

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a group that goes at once', () => {
  test('is put as a whole, with its receipt', async () => {
    const { pool, put, counts } = await openTables()
    expect(await put(1, [insert(1, 2)], [insert(3)])).toEqual([1, 2])
    expect(
      await put(2, [require(1, 1), require(2, 1), insert(4)], [require(1, 1), insert(5)]),
    ).toEqual([3, 4])
    expect(await counts()).toEqual([4, 5, 4, 2])
    await pool.close()
  })

  test.each<readonly [string, number, readonly Change[]]>([
    ['a unique is held', 2, [insert(8, 2)]],
    ['a required row stands at another version', 2, [require(1, 2), insert(8)]],
    ['one of the required rows is gone', 2, [require(1, 1), require(77, 1), insert(8)]],
    ['the group has landed before', 1, [insert(8)]],
    ['a later group of its writer has landed', 0, [insert(8)]],
  ])('leaves all as it is where %s', async (_, number, set) => {
    const { pool, put, counts } = await openTables()
    await put(1, [insert(1, 2)])
    const before = await counts()
    expect(await put(number, [insert(9)], [...set])).toBeUndefined()
    expect(await counts()).toEqual(before)
    await pool.close()
  })

  test('leaves all as it is where its writer has no receipt', async () => {
    const { pool, tables, put } = await openTables()
    await pool.query(`DELETE FROM ${tables.receipts}`)
    expect(await put(1, [insert(1)])).toBeUndefined()
    expect(await countsOf(pool, tables)).toEqual([0, 0, 0, 0])
    await pool.close()
  })

  test('waits for the writer of a row that it requires, and does nothing then', async () => {
    const { pool, tables, put, counts } = await openTables()
    await put(1, [insert(1)])
    const isChanged = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const other = pool.hold(msMax, async ({ send }) => {
      await send('BEGIN')
      await send(`UPDATE ${tables.rows} SET version = 2 WHERE ordinal = 1`)
      isChanged.resolve()
      await mayCommit.promise
      await send('COMMIT')
    })
    await isChanged.promise
    const putting = put(2, [require(1, 1), insert(2)])
    await untilOneWaits(pool, tables.schema)
    mayCommit.resolve()
    await other
    expect(await putting).toBeUndefined()
    expect(await counts()).toEqual([1, 1, 1, 1])
    await pool.close()
  })

  test('locks no row before its receipt, which the writer before may hold', async () => {
    const { pool, tables, put } = await openTables()
    await put(1, [insert(1)])
    const isHeld = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const other = pool.hold(msMax, async ({ send }) => {
      await send('BEGIN')
      await send(`SELECT 1 FROM ${tables.receipts} FOR UPDATE`)
      isHeld.resolve()
      await mayCommit.promise
      await send(`SELECT 1 FROM ${tables.rows} WHERE ordinal = 1 FOR UPDATE NOWAIT`)
      await send('COMMIT')
    })
    await isHeld.promise
    const putting = put(2, [require(1, 1), insert(2)])
    await untilOneWaits(pool, tables.schema)
    mayCommit.resolve()
    await other
    expect(await putting).toHaveLength(1)
    await pool.close()
  })

  test('fails as a whole where somebody takes a unique of it at the same time', async () => {
    const { pool, tables, put, counts } = await openTables()
    const isTaken = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const other = pool.hold(msMax, async ({ send }) => {
      await send('BEGIN')
      await send(`INSERT INTO ${tables.uniques} VALUES ($1::bytea, 5, 1)`, [uniqueOf(2)])
      isTaken.resolve()
      await mayCommit.promise
      await send('COMMIT')
    })
    await isTaken.promise
    const putting = put(1, [insert(1)], [insert(2)]).catch((error: unknown) => error)
    await untilOneWaits(pool, tables.schema)
    mayCommit.resolve()
    await other
    expect(await putting).toMatchObject({ kind: 'again' })
    expect(await counts()).toEqual([0, 1, 0, 0])
    // The connection is whole again.
    expect(await put(1, [insert(1)])).toHaveLength(1)
    await pool.close()
  })
})

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a group that went at once and was not answered', () => {
  test('that has landed is told as that, however often it is asked', async () => {
    const { pool, put, settle, counts } = await openTables()
    expect(await put(1, [insert(1)], [insert(2)])).toEqual([1, 2])
    expect(await settle(1)).toEqual([1, 2])
    expect(await settle(1)).toEqual([1, 2])
    expect(await counts()).toEqual([2, 2, 2, 1])
    await pool.close()
  })

  test('that has not landed never does, though it comes later', async () => {
    const { pool, put, settle, counts } = await openTables()
    await put(1, [insert(1)])
    expect(await settle(2)).toEqual([])
    expect(await put(2, [insert(2)])).toBeUndefined()
    expect(await settle(2)).toEqual([])
    expect(await put(3, [insert(2)])).toHaveLength(1)
    // Nor does a question that comes late undo what was done since.
    await settle(2)
    expect(await put(3, [insert(4)])).toBeUndefined()
    expect(await counts()).toEqual([2, 2, 2, 3])
    await pool.close()
  })

  test('of a writer without a receipt is not told', async () => {
    const { pool, tables, settle } = await openTables()
    await pool.query(`DELETE FROM ${tables.receipts}`)
    expect(await settle(1)).toBeUndefined()
    await pool.close()
  })
})

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a write of which no receipt tells any more', () => {
  test.each<readonly [string, Change[]]>([
    ['a group that went at once', [insert(2)]],
    ['a group that did not', [insert(2), { bumpGeneration: true }]],
  ])('is not answered as one that was refused: %s', async (_, set) => {
    const { pool, tables } = await openTables()
    let toLose = 0
    /** Removes its receipt before anybody asks for the outcome of an unanswered COMMIT. */
    const losing: Pool = {
      ...pool,
      hold: (ms, work) =>
        pool.hold(ms, session =>
          work({
            async send(text, parameters) {
              const answer = await session.send(text, parameters)
              if (text !== 'COMMIT' || toLose === 0) return answer
              toLose -= 1
              await pool.query(`DELETE FROM ${tables.receipts}`)
              throw new DatabaseError('lost')
            },
          }),
        ),
    }
    const elapsedMs = () => performance.now()
    const queue = makeWriteQueue([
      {
        pool: losing,
        tables,
        newId: () => randomBytes(16),
        sealer: () => undefined,
        onLoss: () => {},
        bounds: defaultTimeouts,
        elapsedMs,
      },
    ])
    expect(await queue.submit(prepareChanges([insert(1)]))).toMatchObject({ ok: true })
    toLose = 1
    await expectFault(queue.submit(prepareChanges(set)), 'unavailable')
    const [landed] = await pool.query(`SELECT count(*) FROM ${tables.rows}`)
    expect(Number(landed?.[0])).toBe(2)
    expect(await queue.submit(prepareChanges([insert(3)]))).toMatchObject({ ok: true })
    await queue.close()
    await pool.close()
  })

  test('nor is one that tells it in no known form', () => {
    expect([...numbersOf(['1', 2n])]).toEqual([1, 2])
    expect(() => numbersOf('{1,2}')).toThrow(ApiError)
    expect(() => numbersOf(null)).toThrow(ApiError)
  })

  test('an answer that comes when its caller has given up reaches nobody', async () => {
    const { pool } = await openTables()
    const reached: string[] = []
    const held = pool.hold(50, async ({ send }) => {
      await send('SELECT pg_sleep(0.2)').then(
        () => reached.push('answered'),
        () => reached.push('failed'),
      )
    })
    expect(await held.catch((error: unknown) => error)).toMatchObject({ kind: 'lost' })
    // The pool that was given up is gone, and the next one answers behind that sleep.
    await pool.query('SELECT pg_sleep(0.4)')
    expect(reached).toEqual(['failed'])
    await pool.close()
  })
})

describe('a group that is no fast insert', () => {
  const decide = (...sets: Change[][]) => decideFastInsert(sets.map(prepareChanges))

  test.each<readonly [string, Change[][]]>([
    ['a row that changes', [[insert(1)], [replaceOf(1, { uniques: [2], version: 2 })]]],
    ['a row that goes', [[insert(1)], [{ remove: 3 }]]],
    ['a generation that moves', [[insert(1)], [{ bumpGeneration: true }]]],
    [
      'one row at two versions',
      [
        [require(1, 1), insert(1)],
        [require(1, 2), insert(2)],
      ],
    ],
    ['nothing but rows that are required', [[require(1, 1)]]],
  ])('%s', (_, sets) => {
    expect(decide(...sets)).toBeUndefined()
  })

  test('two sets with one unique: the second one is refused, and the first one goes', () => {
    const fastInsert = decide([insert(1)], [insert(1)])
    expect(fastInsert?.inserted).toHaveLength(1)
    expect(fastInsert?.decided.map(result => 'outcome' in result && result.outcome.ok)).toEqual([
      true,
      false,
    ])
  })
})
