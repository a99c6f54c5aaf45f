/**
 * A machine that is gone amid a transaction: the database releases its locks.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { startProxy, type CuttingProxy } from '../../support/cutting-proxy.ts'
import { isPostgresThere, nextSchema, sharedPostgres, throughPort } from '../../support/postgres.ts'
import {
  bundleOf,
  expectFault,
  inserted,
  insertOf,
  logOf,
  replaceOf,
  uniqueOf,
  written,
} from '../rows.ts'
import { insertedSoon, machine, makeTablesIn, patient } from './subject.ts'

const bounds = { ...patient, abandonedMs: 1_000 }
const hasty = { ...bounds, readMs: 1_000, writeMs: 500, tryMs: 500 }

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a machine that is gone amid a transaction', () => {
  let proxy: CuttingProxy
  beforeAll(async () => {
    proxy = startProxy({ unix: (await sharedPostgres()).socket })
  })
  afterAll(() => proxy.stop())

  test('keeps nobody from the rows and the log that it had locked', async () => {
    const direct = (await sharedPostgres()).address(nextSchema())
    const pool = await makeTablesIn(direct)
    const gone = await openPostgresStore({
      address: throughPort(direct, proxy.port),
      ...machine,
      bounds: hasty,
    })
    const other = await openPostgresStore({ address: direct, ...machine, bounds })
    const ordinal = await inserted(other, { uniques: [1] })
    // Its connections exist already, so that the freeze hits a transaction.
    await insertedSoon(gone, { uniques: [2] })
    proxy.arm('freeze')
    const lost = replaceOf(ordinal, { uniques: [1], version: 2 })
    await expectFault(gone.write([lost, logOf(1)]), 'unavailable')
    await written(other, replaceOf(ordinal, { uniques: [1], version: 2 }), logOf(2))
    expect((await other.find(uniqueOf(1)))?.version).toBe(2)
    expect(await other.bundles({ from: 0 }, 9)).toEqual([{ first: 0, ...bundleOf(2) }])
    expect(await other.integrity()).toEqual([])
    await Promise.all([gone.close(), other.close(), pool.close()])
  }, 300_000)

  test('keeps a write no longer than its own bound, however long a try may take', async () => {
    const { address, sql } = await sharedPostgres()
    const schema = nextSchema()
    const pool = await makeTablesIn(address(schema))
    const long = { ...patient, writeMs: 500 }
    const store = await openPostgresStore({ address: address(schema), ...machine, bounds: long })
    await insertedSoon(store, { uniques: [1] })
    const locking = await sql.reserve()
    await locking.unsafe('BEGIN')
    await locking.unsafe(`LOCK TABLE ${schema}.receipts IN ACCESS EXCLUSIVE MODE`)
    const refused = expectFault(store.write([insertOf({ uniques: [2] })]), 'unavailable')
    const outcome = await Promise.race([refused.then(() => 'refused'), Bun.sleep(long.tryMs / 2)])
    await locking.unsafe('ROLLBACK')
    await locking.release()
    expect(outcome).toBe('refused')
    await Promise.all([store.close(), pool.close()])
  }, 300_000)

  test('and writes that a lock holds up leave no more connections than they had', async () => {
    const { address, sql } = await sharedPostgres()
    const schema = nextSchema()
    const pool = await makeTablesIn(address(schema))
    const store = await openPostgresStore({ address: address(schema), ...machine, bounds: hasty })
    await insertedSoon(store, { uniques: [1] })
    const locked = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    const locking = sql.begin(async held => {
      await held.unsafe(`LOCK TABLE ${schema}.receipts IN ACCESS EXCLUSIVE MODE`)
      locked.resolve()
      await over.promise
    })
    await locked.promise
    const text = `SELECT count(*)::int FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}.receipts%'`
    const stuck = async (): Promise<number> => {
      const [row] = (await sql.unsafe(text).values()) as (readonly number[])[]
      return Number(row?.[0])
    }
    for (let tries = 0; tries < 12; tries += 1) {
      await expectFault(store.write([insertOf({ uniques: [2 + tries] })]), 'unavailable')
    }
    // Each try took as long as half the time after which the database lets go.
    expect(await stuck()).toBeLessThanOrEqual(4)
    over.resolve()
    await locking
    await insertedSoon(store, { uniques: [99] })
    await Promise.all([store.close(), pool.close()])
  }, 300_000)
})
