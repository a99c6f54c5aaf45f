import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { DatabaseAddress } from '../../../src/store/postgres/address.ts'
import type { DatabaseTimeouts } from '../../../src/store/postgres/timeouts.ts'
import {
  openPostgresStore,
  type PostgresStore,
} from '../../../src/store/postgres/postgres-store.ts'
import { openPool } from '../../../src/store/postgres/pool.ts'
import { startProxy, type CuttingProxy } from '../../support/cutting-proxy.ts'
import { isPostgresThere, nextSchema, sharedPostgres, throughPort } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { expectFault, inserted, insertOf, ordinalsOf, rowOf, termOf, uniqueOf } from '../rows.ts'
import { expectSum, sumSealer } from '../sums.ts'
import { insertedSoon, machine, makeTablesIn, patient } from './subject.ts'

/** Timeouts of a store that gives up soon. */
const hasty: Partial<DatabaseTimeouts> = {
  readMs: 2_000,
  writeMs: 4_000,
  tryMs: 2_000,
  connectMs: 1_000,
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('over a connection that is cut', () => {
  let proxy: CuttingProxy
  let own: DatabaseAddress
  beforeAll(async () => {
    proxy = startProxy({ unix: (await sharedPostgres()).socket })
  })
  afterAll(() => proxy.stop())

  /** Opens a store whose connections go through the proxy, and one whose connections do not. */
  async function openBoth(): Promise<{
    store: PostgresStore
    count: (table: string) => Promise<number>
  }> {
    const direct = (await sharedPostgres()).address(nextSchema())
    const pool = await makeTablesIn(direct)
    own = throughPort(direct, proxy.port)
    const store = await openPostgresStore({ address: own, ...machine, bounds: patient })
    store.keepSum(sumSealer)
    const count = async (table: string): Promise<number> => {
      const [row] = await pool.query(`SELECT count(*) FROM ${direct.schema}.${table}`)
      return Number(row?.[0])
    }
    return { store, count }
  }

  test.each(['before', 'after'] as const)(
    'amid a COMMIT, %s it arrived, each write is answered rightly and done once',
    async cut => {
      const { store, count } = await openBoth()
      await inserted(store, { uniques: [1_000] })
      const cutsBefore = proxy.cuts()
      for (let i = 0; i < 30; i += 1) {
        if (i % 3 === 0) proxy.arm(cut)
        const sketch = { uniques: [i], terms: [7] }
        const ordinal = await inserted(store, sketch)
        expect((await store.find(uniqueOf(i)))?.ordinal).toBe(ordinal)
        const again = await store.write([insertOf(sketch)])
        expect(again).toMatchObject({ ok: false, reason: 'unique_taken', ordinal })
      }
      expect(proxy.cuts() - cutsBefore).toBe(10)
      expect([await count('rows'), await count('uniques')]).toEqual([31, 31])
      expect((await ordinalsOf(store, { term: termOf(7) })).total).toBe(30)
      await expectSum(store)
      expect(await store.integrity()).toEqual([])
      await store.close()
    },
  )

  test.each(['before', 'at', 'after'] as const)(
    'amid the COMMIT of a group that goes at once, %s it arrived, each write is done once',
    async cut => {
      const { store, count } = await openBoth()
      const ordinals: number[] = []
      for (let i = 0; i < 12; i += 1) {
        if (i % 2 === 1) proxy.arm(cut)
        ordinals.push(await inserted(store, { uniques: [i], terms: [7] }))
      }
      for (const [i, ordinal] of ordinals.entries()) {
        expect((await store.find(uniqueOf(i)))?.ordinal).toBe(ordinal)
      }
      expect([await count('rows'), await count('uniques')]).toEqual([12, 12])
      expect((await ordinalsOf(store, { term: termOf(7) })).total).toBe(12)
      await expectSum(store)
      expect(await store.integrity()).toEqual([])
      await store.close()
    },
  )

  test('many writes at once, some of which are cut, are each done once', async () => {
    const { store, count } = await openBoth()
    const sets = Array.from({ length: 200 }, (_, i) => ({ uniques: [i], terms: [i % 5] }))
    const writing = sets.map(async (sketch, i) => {
      await Bun.sleep(i)
      if (i % 20 === 0) proxy.arm(i % 40 === 0 ? 'after' : 'before')
      return inserted(store, sketch)
    })
    const ordinals = await Promise.all(writing)
    expect(new Set(ordinals).size).toBe(200)
    await expectSum(store)
    expect(await count('rows')).toBe(200)
    for (const [i, ordinal] of ordinals.entries()) {
      expect((await store.find(uniqueOf(i)))?.ordinal).toBe(ordinal)
    }
    expect(await store.integrity()).toEqual([])
    await store.close()
  })

  test('a receipt that somebody removed is made anew, and a write goes on', async () => {
    const { store, count } = await openBoth()
    await inserted(store, { uniques: [1] })
    const pool = openPool((await sharedPostgres()).address(own.schema), 1)
    await pool.query(`DELETE FROM ${own.schema}.receipts`)
    await inserted(store, { uniques: [2] })
    expect([await count('rows'), (await count('receipts')) > 0]).toEqual([2, true])
    await pool.close()
    await store.close()
  })
})

describe.skipIf(!isPostgresThere)('a database that says nothing', () => {
  test('is given up within the bound, and served again once it answers', async () => {
    const server = await sharedPostgres()
    const proxy = startProxy({ unix: server.socket })
    const address = server.address(nextSchema())
    const pool = await makeTablesIn(address)
    const through = throughPort(address, proxy.port)
    const store = await openPostgresStore({ address: through, ...machine, bounds: hasty })
    proxy.mute(true)
    await expectFault(store.write([{ insert: rowOf({ uniques: [1] }) }]), 'unavailable')
    await expectFault(Promise.resolve(store.find(uniqueOf(1))), 'unavailable')
    proxy.mute(false)
    await insertedSoon(store, { uniques: [2] })
    const foundVersion = () =>
      Promise.resolve(store.find(uniqueOf(2))).then(
        row => row?.version,
        () => undefined,
      )
    await until(async () => (await foundVersion()) === 1)
    await store.close()
    const after = await openPostgresStore({ address, ...machine, bounds: patient })
    expect(await after.integrity()).toEqual([])
    await after.close()
    await pool.close()
    proxy.stop()
  }, 300_000)
})
