/**
 * The log of a store that moves: all of it goes along, and what differs is noticed.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { compareStores } from '../../src/cli/database/compare-stores.ts'
import { noProgress } from '../../src/lib/progress.ts'
import { logStep } from '../../src/store/core/limits.ts'
import { openLmdbStore, type LmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { beginBulkLoad } from '../../src/store/postgres/bulk-load.ts'
import { loadLog } from '../../src/store/postgres/bulk-log.ts'
import { openPool } from '../../src/store/postgres/pool.ts'
import { tablesIn } from '../../src/store/postgres/schema.ts'
import { bundleOf } from '../store/rows.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'

const count = 2 * logStep + 5

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a log that moves into a database', () => {
  let store: LmdbStore
  beforeAll(async () => {
    store = await openLmdbStore({ path: temporaryFolder() })
    for (let number = 0; number < count; number += 1) {
      const log = bundleOf(number % 256, 1 + (number % 3), 10 * (number % 7))
      const derived = Uint8Array.of(1, number >> 8, number)
      await store.write([{ log }, { derived, value: new Uint8Array(number % 5).fill(number) }])
    }
    await store.write([{ pruneLog: 10 }])
  })

  async function openThere() {
    const address = (await sharedPostgres()).address(nextSchema())
    const tables = tablesIn(address.schema)
    const pool = openPool(address, 1)
    await beginBulkLoad(pool, tables)
    const run = (sql: string) => pool.query(sql.replaceAll('@', `${address.schema}.`))
    const compared = () => compareStores(store, { pool, tables }, noProgress, 'they differ')
    return { pool, tables, run, compared }
  }

  test('is whole there, also where a load of it was cut off', async () => {
    const { pool, tables, run, compared } = await openThere()
    await loadLog(pool, tables, store)
    expect(await compared()).toBe(0)
    await run('DELETE FROM @log WHERE seq > 40')
    await run('DELETE FROM @derived')
    await run('UPDATE @log_range SET from_seq = 0, next_seq = 0')
    await beginBulkLoad(pool, tables)
    await loadLog(pool, tables, store)
    expect(await compared()).toBe(0)
    await pool.close()
  })

  test.each([
    ['a bundle less', 'DELETE FROM @log WHERE seq = (SELECT max(seq) FROM @log)'],
    [
      'a bundle more',
      `INSERT INTO @log SELECT next_seq, (SELECT value FROM @log LIMIT 1) FROM @log_range`,
    ],
    ['no bundle', 'DELETE FROM @log'],
    [
      'another byte',
      `UPDATE @log SET value = set_byte(value, 20, get_byte(value, 20) # 1)
WHERE seq = (SELECT max(seq) FROM @log)`,
    ],
    ['another oldest sequence', 'UPDATE @log_range SET from_seq = from_seq - 1'],
    ['another next sequence', 'UPDATE @log_range SET next_seq = next_seq + 1'],
    ['another value', `UPDATE @derived SET value = '\\xff' WHERE key = '\\x010002'`],
    ['another key', `UPDATE @derived SET key = '\\xff' WHERE key = '\\x010002'`],
    ['a value less', `DELETE FROM @derived WHERE key = '\\x010002'`],
    ['a value more', `INSERT INTO @derived VALUES (decode(repeat('ff', 32), 'hex'), '')`],
  ])('%s is noticed', async (_, sql) => {
    const { pool, tables, run, compared } = await openThere()
    await loadLog(pool, tables, store)
    await run(sql)
    await expect(compared()).rejects.toThrow('they differ')
    await pool.close()
  })
})
