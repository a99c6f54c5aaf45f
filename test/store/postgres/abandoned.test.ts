/**
 * A machine that is gone amid a transaction: what it had locked is let go by the database.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openPostgresStore } from '../../../src/store/postgres/open.ts'
import { startProxy, type CuttingProxy } from '../../support/cutting-proxy.ts'
import { isPostgresThere, nextSchema, sharedPostgres, throughPort } from '../../support/postgres.ts'
import { expectFault, inserted, replaceOf, uniqueOf, written } from '../rows.ts'
import { machine, makeTablesIn } from './subject.ts'

const bounds = { readMs: 1_000, writeMs: 8_000, tryMs: 5_000, abandonedMs: 1_000 }

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a machine that is gone amid a transaction', () => {
  let proxy: CuttingProxy
  beforeAll(async () => {
    proxy = startProxy({ unix: (await sharedPostgres()).socket })
  })
  afterAll(() => proxy.stop())

  test('keeps nobody from the rows that it had locked', async () => {
    const direct = (await sharedPostgres()).address(nextSchema())
    const pool = await makeTablesIn(direct)
    const gone = await openPostgresStore({
      address: throughPort(direct, proxy.port),
      ...machine,
      bounds: { ...bounds, writeMs: 500, tryMs: 500 },
    })
    const other = await openPostgresStore({ address: direct, ...machine, bounds })
    const ordinal = await inserted(gone, { uniques: [1] })
    proxy.arm('freeze')
    const lost = replaceOf(ordinal, { uniques: [1], version: 2 })
    await expectFault(gone.write([lost]), 'unavailable')
    await written(other, replaceOf(ordinal, { uniques: [1], version: 2 }))
    expect((await other.find(uniqueOf(1)))?.version).toBe(2)
    expect(await other.integrity()).toEqual([])
    await Promise.all([gone.close(), other.close(), pool.close()])
  }, 300_000)
})
