/**
 * A write is answered once a synchronous standby has it, whatever ends the wait of its COMMIT.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { writersPerVault } from '../../../src/store/core/limits.ts'
import {
  openPostgresStore,
  type PostgresStore,
} from '../../../src/store/postgres/postgres-store.ts'
import type { DatabaseAddress } from '../../../src/store/postgres/address.ts'
import { openPool } from '../../../src/store/postgres/pool.ts'
import { makeWritePool } from '../../../src/store/postgres/replication.ts'
import {
  isPostgresThere,
  nextSchema,
  startPostgres,
  startStandby,
  type TestServer,
} from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import type { Change } from '../../../src/store/contract.ts'
import { expectFault, insertOf, logOf, uniqueOf } from '../rows.ts'
import { insertedSoon, machine, makeTablesIn, patient } from './subject.ts'

/** Timeouts of a store that gives up soon. */
const hastyTimes = (times: number) => ({
  readMs: 2_000 * times,
  writeMs: 4_000 * times,
  tryMs: 1_500 * times,
  connectMs: 1_000 * times,
})
const receivers = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'walsender'`
const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`

const ends = {
  cancelled: 'pg_cancel_backend',
  terminated: 'pg_terminate_backend',
} as const

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('while the synchronous standby is cut off', () => {
  let primary: TestServer
  let standby: TestServer
  let address: DatabaseAddress
  let store: PostgresStore
  /** Waits, and asks the same database. */
  let steady: PostgresStore

  beforeEach(async () => {
    primary = await startPostgres({ hba: ['local replication postgres trust'] })
    standby = await startStandby(primary)
    address = primary.address(nextSchema())
    await (await makeTablesIn(address)).close()
    store = await openPostgresStore({ address, ...machine, bounds: hastyTimes(1) })
    steady = await openPostgresStore({ address, ...machine, bounds: patient })
    await insertedSoon(store, { uniques: [1] })
    await waitFor('*')
    await insertedSoon(store, { uniques: [2] })
  }, 300_000)
  afterEach(async () => {
    await Promise.all([store.close(), steady.close()])
    await standby.stop()
    await primary.stop()
  }, 300_000)

  /** Has commits wait for standbys of these names. */
  async function waitFor(names: string): Promise<void> {
    await primary.sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
    await primary.sql.unsafe('SELECT pg_reload_conf()')
  }

  /** Ends each wait for the standby as soon as it begins. */
  async function endWaits(how: string, until: Promise<unknown>): Promise<number> {
    let isOver = false
    let ended = 0
    void until.catch(() => {}).finally(() => (isOver = true))
    while (!isOver) {
      const rows = await primary.sql.unsafe(`SELECT ${how}(pid) FROM (${waiting}) w`)
      ended += rows.length
      await Bun.sleep(20)
    }
    return ended
  }

  async function cutOff(): Promise<void> {
    await standby.stop()
    while ((await primary.sql.unsafe(receivers)).length > 0) await Bun.sleep(10)
  }

  const writes: readonly (readonly [string, Change])[] = [
    ['a create', insertOf({ uniques: [3] })],
    ['an entry of the log', logOf(3)],
  ]
  const given = writes.flatMap(write =>
    Object.entries(ends).map(([end, how]) => [write[0], end, write[1], how] as const),
  )

  test.each(given)(
    '%s whose COMMIT is %s is not answered',
    async (_, _end, change, how) => {
      await cutOff()
      let ended = 0
      // A busy machine may give a write up before its COMMIT waits: the next has twice the time.
      for (let times = 1; ended === 0; times *= 2) {
        const slower = await openPostgresStore({ address, ...machine, bounds: hastyTimes(times) })
        const writing = slower.write([change])
        const refused = expectFault(writing, 'unavailable')
        ended = await endWaits(how, writing)
        await refused
        await slower.close()
      }
    },
    300_000,
  )

  test.each(Object.entries(ends))(
    'the leftovers of a COMMIT that was %s are no ground for a refusal',
    async (_, how) => {
      await cutOff()
      const writing = store.write([insertOf({ uniques: [3] })])
      await Promise.all([endWaits(how, writing), expectFault(writing, 'unavailable')])
      // A busy machine may give a write up before it has made its row.
      while ((await steady.find(uniqueOf(3))) === undefined) {
        await waitFor('')
        await insertedSoon(store, { uniques: [4] }).catch(() => {})
        await waitFor('*')
        const anew = store.write([insertOf({ uniques: [3] })])
        await Promise.all([endWaits(how, anew), anew.catch(() => {})])
      }
      const again = store.write([insertOf({ uniques: [3] })])
      await Promise.all([endWaits(how, again), expectFault(again, 'unavailable')])
    },
    300_000,
  )

  /** Query for the busy connections of clients, except ours. */
  const busy = `SELECT pid FROM pg_stat_activity
WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()`

  test('writes that are given up keep few connections of a primary, and leases none', async () => {
    await cutOff()
    const unique = Array.from({ length: 4 }, (_, i) => i + 10)
    for (const number of unique) {
      await expectFault(store.write([insertOf({ uniques: [number] })]), 'unavailable')
    }
    // One of each writer, which nobody could know before.
    expect((await primary.sql.unsafe(busy)).length).toBeLessThanOrEqual(writersPerVault)
    // A busy machine may lose the lease, and takes it again.
    await until(() => store.isSweeper())
    expect(store.databaseFigures().pools.look.timeouts).toBe(0)
    await primary.sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = ''`)
    await primary.sql.unsafe('SELECT pg_reload_conf()')
    await insertedSoon(store, { uniques: [30] })
    expect(await steady.integrity()).toEqual([])
  }, 300_000)

  test('a write that was not answered is in doubt whatever else succeeds meanwhile', async () => {
    const connections = openPool(primary.address('public'), 2)
    const pool = makeWritePool(connections, machine.elapsedMs, 5_000)
    const gate = Promise.withResolvers<undefined>()
    const begun = Promise.withResolvers<undefined>()
    const longer = pool.hold(30_000, async ({ send }) => {
      await send('SELECT 1')
      begun.resolve(undefined)
      await gate.promise
    })
    await begun.promise
    await cutOff()
    const lost = pool.query('SELECT pg_terminate_backend(pg_backend_pid())')
    await expect(lost).rejects.toMatchObject({ kind: 'lost' })
    gate.resolve(undefined)
    await longer
    await expect(pool.query('SELECT 1', [], 500)).rejects.toMatchObject({ kind: 'lost' })
    await primary.sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = ''`)
    await primary.sql.unsafe('SELECT pg_reload_conf()')
    expect(await pool.query('SELECT 1')).toHaveLength(1)
    await connections.close()
  }, 300_000)

  test('it is answered once none is asked for any more, and done once', async () => {
    await cutOff()
    const writing = steady.write([insertOf({ uniques: [3] })])
    const logging = steady.write([logOf(1), { bumpGeneration: true }])
    const ending = endWaits(ends.cancelled, Promise.all([writing, logging]))
    await Bun.sleep(500)
    // Asynchronous from here on, which only the operator of the database may decide.
    await primary.sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = ''`)
    await primary.sql.unsafe('SELECT pg_reload_conf()')
    expect(await writing).toMatchObject({ ok: true })
    expect(await logging).toMatchObject({ ok: true })
    await ending
    expect(await steady.logRange()).toEqual({ from: 0, next: 1 })
    expect(await steady.integrity()).toEqual([])
  }, 300_000)
})
