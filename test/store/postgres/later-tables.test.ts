/**
 * A database that an older coffer made gets the tables of the log from a user who may make them.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import type { DatabaseAddress } from '../../../src/store/postgres/address.ts'
import { hasLaterTables } from '../../../src/store/postgres/later-tables.ts'
import { openPool } from '../../../src/store/postgres/pool.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { setupOf, tablesIn } from '../../../src/store/postgres/schema.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../../support/postgres.ts'
import { inserted, logOf, uniqueOf, written } from '../rows.ts'
import { machine, makeTablesIn, patient } from './subject.ts'

const open = (address: DatabaseAddress) =>
  openPostgresStore({ address, ...machine, bounds: patient })

/** Makes a database with one row, as an older coffer left it. */
async function makeOlder(): Promise<DatabaseAddress> {
  const address = (await sharedPostgres()).address(nextSchema())
  const pool = await makeTablesIn(address)
  const store = await open(address)
  await inserted(store, { uniques: [1] })
  await store.close()
  const { log, derived, logRange } = tablesIn(address.schema)
  await pool.query(`DROP TABLE ${log}, ${derived}, ${logRange}`)
  await pool.close()
  return address
}

/** A user who serves the tables of a schema, and may make none there. */
async function servingRole(schema: string): Promise<string> {
  const { sql } = await sharedPostgres()
  const role = `serves_${schema}`
  await sql.unsafe(`CREATE ROLE ${role} LOGIN`)
  await sql.unsafe(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`)
  await sql.unsafe(`GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${role}`)
  await sql.unsafe(`GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`)
  return role
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a database of before the log', () => {
  test('gets its tables as it is opened, also by several at once, and keeps its rows', async () => {
    const address = await makeOlder()
    const stores = await Promise.all(Array.from({ length: 4 }, () => open(address)))
    await Promise.all(stores.map((store, i) => written(store, logOf(i))))
    for (const store of stores) {
      expect(await store.logRange()).toEqual({ from: 0, next: 4 })
      expect((await store.find(uniqueOf(1)))?.version).toBe(1)
    }
    expect(await stores[0]?.integrity()).toEqual([])
    await Promise.all(stores.map(store => store.close()))
    const again = await open(address)
    expect(await again.logRange()).toEqual({ from: 0, next: 4 })
    await again.close()
  })

  test('is refused to a user who may not make them, until somebody has', async () => {
    const address = await makeOlder()
    const { sql } = await sharedPostgres()
    const role = await servingRole(address.schema)
    const serving = { ...address, username: role }
    const command = 'coffer db setup --print-sql --upgrade'
    const lacking = open(serving)
    await expect(lacking).rejects.toMatchObject({ kind: 'conflict' })
    await expect(lacking).rejects.toThrow(`it lacks the tables of the log: somebody`)
    await expect(lacking).rejects.toThrow(command)
    const pool = openPool(serving, 1)
    await expect(hasLaterTables(pool, tablesIn(address.schema))).rejects.toThrow(command)
    // By their owner, who does not serve.
    await (await open(address)).close()
    await expect(open(serving)).rejects.toThrow('this user may not use the tables of the log')
    for (let times = 0; times < 2; times += 1) {
      for (const statement of setupOf(address.schema, role, true)) await sql.unsafe(statement)
    }
    const store = await open(serving)
    await written(store, logOf(1))
    expect(await store.integrity()).toEqual([])
    await Promise.all([pool.close(), store.close()])
  })

  test.each(['log', 'derived', 'log_range'])(
    'is none where %s alone is gone: that is not made anew',
    async table => {
      const address = (await sharedPostgres()).address(nextSchema())
      const pool = await makeTablesIn(address)
      await pool.query(`DROP TABLE ${address.schema}.${table}`)
      await expect(open(address)).rejects.toMatchObject({ kind: 'missing' })
      await pool.close()
    },
  )
})
