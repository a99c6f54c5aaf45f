/**
 * Tables that somebody has dropped, and how long a read waits for a database that says nothing.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { startProxy } from '../../support/cutting-proxy.ts'
import { isPostgresThere, nextSchema, sharedPostgres, throughPort } from '../../support/postgres.ts'
import type { Change } from '../../../src/store/contract.ts'
import { expectFault, inserted, insertOf, logOf, uniqueOf } from '../rows.ts'
import { machine, makeTablesIn } from './subject.ts'
import { until } from '../../support/until.ts'

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a vault whose tables are gone', () => {
  const names = ['rows', 'uniques', 'recent', 'chunks', 'receipts', 'state']
  const ofLog = ['log', 'derived', 'log_range']

  test.each([...names, ...ofLog])(
    'without %s it is not ready, and what asks of it is refused as for a database that is gone',
    async table => {
      const address = (await sharedPostgres()).address(nextSchema())
      const pool = await makeTablesIn(address)
      const store = await openPostgresStore({ address, ...machine, bounds: { clockMs: 50 } })
      await inserted(store, { uniques: [1] })
      expect(store.isReachable()).toBe(true)
      await pool.query(`ALTER TABLE ${address.schema}.${table} RENAME TO elsewhere`)
      await until(() => !store.isReachable())
      if (table === 'rows' || table === 'uniques' || table === 'state') {
        await expectFault(Promise.resolve(store.find(uniqueOf(1))), 'unavailable')
      }
      if (table !== 'chunks' && table !== 'state' && !ofLog.includes(table)) {
        await expectFault(store.write([insertOf({ uniques: [2] })]), 'unavailable')
      }
      if (ofLog.includes(table)) {
        const beside: Change = { derived: Uint8Array.of(1), value: undefined }
        await expectFault(store.write([beside, logOf(1)]), 'unavailable')
      }
      await pool.query(`ALTER TABLE ${address.schema}.elsewhere RENAME TO ${table}`)
      await until(() => store.isReachable())
      expect((await store.find(uniqueOf(1)))?.ordinal).toBe(1)
      await store.close()
      await pool.close()
    },
    300_000,
  )
})

describe.skipIf(!isPostgresThere)('a database that says nothing', () => {
  test('keeps a read waiting for the bound of reads, and no longer', async () => {
    const server = await sharedPostgres()
    const proxy = startProxy({ unix: server.socket })
    const address = server.address(nextSchema())
    await (await makeTablesIn(address)).close()
    const readMs = 3_000
    // No look at the clock ends the wait before.
    const bounds = { readMs, connectMs: 4_000, clockMs: 120_000, leaseRenewMs: 120_000 }
    const through = throughPort(address, proxy.port)
    const store = await openPostgresStore({ address: through, ...machine, bounds })
    await inserted(store, { uniques: [1] })
    proxy.mute(true)
    const startedMs = performance.now()
    await expectFault(Promise.resolve(store.find(uniqueOf(1))), 'unavailable')
    const tookMs = performance.now() - startedMs
    expect(tookMs).toBeGreaterThanOrEqual(readMs - 600)
    expect(tookMs).toBeLessThan(bounds.clockMs)
    proxy.mute(false)
    await store.close()
    proxy.stop()
  }, 300_000)
})
