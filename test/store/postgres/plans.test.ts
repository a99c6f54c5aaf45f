/**
 * Statements read only the rows that they were asked for, in tables without statistics yet, and in
 * large ones that the database knows.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { makeKeptExpired } from '../../../src/store/core/kept-expired.ts'
import { databaseUnsettledMs, expiredKeptMin } from '../../../src/store/core/limits.ts'
import { openPool, type Parameter, type Pool } from '../../../src/store/postgres/pool.ts'
import { readPage } from '../../../src/store/postgres/query-page.ts'
import { tablesIn } from '../../../src/store/postgres/schema.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../../support/postgres.ts'
import { inserted, insertOf, termOf, uniqueOf, written } from '../rows.ts'
import { makeTablesIn, openAt, tablesAt } from './subject.ts'

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

type Sent = readonly [text: string, parameters: readonly Parameter[]]

/** A pool that notes what is sent by those who hold a connection of it. */
function noting(pool: Pool, sent: Sent[]): Pool {
  return {
    ...pool,
    hold: (msMax, work) =>
      pool.hold(msMax, ({ send }) =>
        work({
          send(text, parameters = []) {
            sent.push([text, parameters])
            return send(text, parameters)
          },
        }),
      ),
  }
}

const msMax = 300_000

/** A pool that counts the bytes that it is answered. */
function counting(pool: Pool) {
  let bytes = 0
  const counted: Pool = {
    ...pool,
    hold: (most, work) =>
      pool.hold(most, ({ send }) =>
        work({
          async send(text, parameters) {
            const answer = await send(text, parameters)
            for (const cell of answer.flat()) if (cell instanceof Uint8Array) bytes += cell.length
            return answer
          },
        }),
      ),
  }
  return { pool: counted, take: () => [bytes, (bytes = 0)][0] ?? 0 }
}

describe.skipIf(!isPostgresThere)('a page beside many rows that have expired', () => {
  // proves H113
  test('reads those that have expired since the page before', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder)
    const sketches = Array.from({ length: 2 * expiredKeptMin }, (_, i) => ({
      uniques: [i],
      deadlineMs: 10_000 + i,
    }))
    await written(store, ...sketches.map(insertOf))
    const tables = tablesAt(folder)
    const { pool, take } = counting(openPool((await sharedPostgres()).address(tables.schema), 1))
    const kept = makeKeptExpired(databaseUnsettledMs)
    const page = (nowMs: number) =>
      readPage(pool, tables, { term: termOf(7) }, { offset: 0, limit: 1, nowMs }, msMax, kept)
    await page(20_000)
    expect(take()).toBeGreaterThanOrEqual(8 * sketches.length)
    await page(20_001)
    expect(take()).toBeLessThan(8 * sketches.length)
    await pool.close()
    await store.close()
  }, 300_000)
})

describe.skipIf(!isPostgresThere)('a page of a store with many terms', () => {
  // proves E10.29
  test('looks up the chunks of its terms by their keys', async () => {
    const address = (await sharedPostgres()).address(nextSchema())
    const tables = tablesIn(address.schema)
    const pool = await makeTablesIn(address)
    await pool.query(`INSERT INTO ${tables.chunks}
SELECT i % 2, substring(sha256(i::text::bytea) FOR 16), '\\x01' FROM generate_series(1, 50000) i`)
    await pool.query(`SELECT setval('${tables.ordinals}', 70000)`)
    await pool.query(`ANALYZE ${tables.chunks}`)
    const sent: Sent[] = []
    const query = { any: Array.from({ length: 30 }, (_, at) => ({ term: termOf(at) })) }
    const window = { offset: 0, limit: 1, nowMs: 0 }
    const kept = makeKeptExpired(databaseUnsettledMs)
    await readPage(noting(pool, sent), tables, query, window, msMax, kept)
    const [text, parameters] = sent.find(([, given]) => given.length > 1) ?? ['', []]
    const explained = await pool.query(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
      parameters,
      msMax,
    )
    await pool.close()
    const blocks = Number(
      /"Shared Hit Blocks": (\d+)/.exec(JSON.stringify(explained, null, 1))?.[1],
    )
    // Three or four for each chunk of each term; its index has hundreds.
    expect(blocks).toBeLessThan(500)
  }, 300_000)
})
