/**
 * Statements read only the rows that they were asked for, in tables without statistics yet.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { openPool } from '../../../src/store/postgres/pool.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPostgresThere, sharedPostgres } from '../../support/postgres.ts'
import { inserted, uniqueOf } from '../rows.ts'
import { openAt, tablesAt } from './subject.ts'

const rows = 300

/** Returns the rows read of each table; sessions report them at the latest as they end. */
async function readsOf(schema: string): Promise<Readonly<Record<string, number>>> {
  const pool = openPool((await sharedPostgres()).address('public'), 1)
  const text = `SELECT relname, coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0)
FROM pg_stat_user_tables WHERE schemaname = $1`
  const found = await pool.query(text, [schema])
  await pool.close()
  return Object.fromEntries(found.map(([name, reads]) => [String(name), Number(reads)]))
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a new store that grows', () => {
  test('reads no index from end to end to write a row or to find one', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder)
    for (let at = 0; at < rows; at += 1) await inserted(store, { uniques: [at], terms: [at % 4] })
    for (let at = 0; at < rows; at += 1) expect(await store.find(uniqueOf(at))).toBeDefined()
    await store.close()
    const { uniques = 0, rows: ofRows = 0 } = await readsOf(tablesAt(folder).schema)
    // A look-up finds one row; whatever reads all of them reads 300 each time.
    expect(uniques + ofRows).toBeGreaterThanOrEqual(rows)
    expect(uniques).toBeLessThan(4 * rows)
    expect(ofRows).toBeLessThan(4 * rows)
  }, 300_000)
})
