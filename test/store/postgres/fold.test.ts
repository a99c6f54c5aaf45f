/**
 * Folds that fail, and leases that end.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { openPool } from '../../../src/store/postgres/pool.ts'
import { defaultTimeouts } from '../../../src/store/postgres/timeouts.ts'
import { keepLease } from '../../../src/store/postgres/lease.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPostgresThere, sharedPostgres } from '../../support/postgres.ts'
import { inserted } from '../rows.ts'
import { openAt, tablesAt } from './subject.ts'

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(5)
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('folds', () => {
  test('that fail are told of once, and once more after one that succeeded', async () => {
    const folder = temporaryFolder()
    const told: (string | undefined)[] = []
    const onFoldFailure = (state?: string) => void told.push(state)
    const store = await openAt(folder, { foldRows: 1, foldCheckMs: 3, onFoldFailure })
    const pool = openPool((await sharedPostgres()).address('public'), 1)
    const { chunks } = tablesAt(folder)
    const waiting = async () => (await store.figures()).waiting
    for (const failures of [1, 2]) {
      await pool.query(`ALTER TABLE ${chunks} RENAME COLUMN places TO other`)
      await inserted(store, { uniques: [failures], terms: [1] })
      await until(() => told.length >= failures)
      await Bun.sleep(100)
      await pool.query(`ALTER TABLE ${chunks} RENAME COLUMN other TO places`)
      await until(async () => (await waiting()) === 0)
    }
    expect(told).toEqual(['42703', '42703'])
    await Promise.all([store.close(), pool.close()])
  }, 300_000)

  test('a lease that is refused is told of once, and again after one that was given', async () => {
    const folder = temporaryFolder()
    const told: (string | undefined)[] = []
    const bounds = { ...defaultTimeouts, leaseRenewMs: 20 }
    const onLeaseRefusal = (state?: string) => void told.push(state)
    const store = await openAt(folder, { bounds, onLeaseRefusal })
    const pool = openPool((await sharedPostgres()).address('public'), 1)
    const { leases } = tablesAt(folder)
    for (const refusals of [1, 2]) {
      await until(store.isSweeper)
      await pool.query(`ALTER TABLE ${leases} RENAME COLUMN until TO other`)
      await until(() => told.length >= refusals)
      await Bun.sleep(200)
      await pool.query(`ALTER TABLE ${leases} RENAME COLUMN other TO until`)
      await Bun.sleep(200)
    }
    expect(told).toEqual(['42703', '42703'])
    await Promise.all([store.close(), pool.close()])
  }, 300_000)

  test('a lease that is closed while it is taken is given back', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder)
    await store.close()
    const pool = openPool((await sharedPostgres()).address('public'), 2)
    const tables = tablesAt(folder)
    const options = { pool, tables, elapsedMs: () => performance.now() }
    const lease = keepLease('test', { ...options, holder: new Uint8Array(16) })
    await lease.close()
    await Bun.sleep(100)
    const [held] = await pool.query(`SELECT count(*) FROM ${tables.leases} WHERE name = 'test'`)
    expect(Number(held?.[0])).toBe(0)
    await pool.close()
  })
  test.each([
    ['ends in a moment', '5 seconds', false],
    ['ends later than any can', '10 years', true],
  ])('a lease of another that %s: whether it is taken', async (_, time, isTaken) => {
    const folder = temporaryFolder()
    const store = await openAt(folder)
    await store.close()
    const pool = openPool((await sharedPostgres()).address('public'), 2)
    const tables = tablesAt(folder)
    await pool.query(`INSERT INTO ${tables.leases} VALUES ('test', '\\x00',
clock_timestamp() + interval '${time}')`)
    const options = { pool, tables, elapsedMs: () => performance.now() }
    const lease = keepLease('test', { ...options, holder: new Uint8Array(16).fill(1) })
    if (isTaken) await until(lease.isHeld)
    else await Bun.sleep(500)
    expect(lease.isHeld()).toBe(isTaken)
    await lease.close()
    await pool.close()
  })
})
