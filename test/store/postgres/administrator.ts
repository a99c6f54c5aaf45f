/**
 * The administrator of a database, and vaults that keep their sum in it.
 * @module
 */
import type { PostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import { sumSealer } from '../sums.ts'
import { openAt, patient, tablesAt } from './subject.ts'

export const never = 1_000_000

export async function openSummed(folder: string): Promise<PostgresStore> {
  const store = await openAt(folder, { bounds: patient, foldRows: never })
  store.keepSum(sumSealer)
  return store
}

/** Runs statements of the administrator, with `@` in front of each table. */
export async function administratorOf(folder: string) {
  const tables = tablesAt(folder)
  const { sql } = await sharedPostgres()
  const run = async (text: string): Promise<unknown[][]> =>
    (await sql.unsafe(text.replaceAll('@', `${tables.schema}.`)).values()) as unknown[][]
  const copied = ['rows', 'uniques', 'recent', 'sums', 'receipts']
  return {
    run,
    /** Keeps what the tables have now. */
    async keep(): Promise<void> {
      for (const table of copied) {
        await run(`DROP TABLE IF EXISTS @kept_${table}`)
        await run(`CREATE TABLE @kept_${table} AS SELECT * FROM @${table}`)
      }
    },
    /** Puts back one row as it was, or its absence, with all entries that lead to it. */
    async putBack(ordinal: number): Promise<void> {
      for (const table of ['rows', 'uniques', 'recent']) {
        await run(`DELETE FROM @${table} WHERE ordinal = ${ordinal}`)
        await run(`INSERT INTO @${table} SELECT * FROM @kept_${table} WHERE ordinal = ${ordinal}`)
      }
    },
    async putAllBack(...tablesOf: readonly string[]): Promise<void> {
      for (const table of tablesOf) {
        await run(`DELETE FROM @${table}`)
        await run(`INSERT INTO @${table} SELECT * FROM @kept_${table}`)
      }
    },
  }
}

export type Administrator = Awaited<ReturnType<typeof administratorOf>>
