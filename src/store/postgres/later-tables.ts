/**
 * Tables of the log, and of the sum over all rows, in a database that an older coffer made: its
 * format is the same, but it lacks them.
 * @module
 */
import { ApiError } from '../../lib/errors.ts'
import { databaseSetupMsMax } from '../core/limits.ts'
import { DatabaseError } from './database-error.ts'
import type { Pool } from './pool.ts'
import { untilReplicated } from './replication.ts'
import { logStatementsOf, sumStatementsOf, type Tables } from './schema.ts'

const remedy = 'somebody who may is to run what coffer db setup --print-sql --upgrade prints'

const stateText = `SELECT count(to_regclass(name)), bool_and(has_table_privilege(to_regclass(name),
  privilege)), has_schema_privilege($2::text, 'CREATE')
FROM unnest($1::text[]) name, unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) privilege`

const privileges = 4

/** @returns true if these are there; false if there are none, and this user may make them */
async function has(
  pool: Pool,
  { schema }: Tables,
  names: readonly string[],
  what: string,
): Promise<boolean> {
  const [cells = []] = await pool.query(stateText, [`{${names.join(',')}}`, schema])
  const [found, mayUse, mayMake] = cells
  const count = Number(found) / privileges
  if (count === names.length && mayUse === true) return true
  if (count === names.length) {
    throw new ApiError('conflict', `this user may not use ${what}: ${remedy}`)
  }
  // Others than an older coffer must have dropped the rest, which would begin anew.
  if (count > 0) throw new DatabaseError('missing')
  if (mayMake === true) return false
  throw new ApiError('conflict', `it lacks ${what}: ${remedy}`)
}

/**
 * @returns true if all of them are there; false if the tables of the log or that of the sum are
 *   not, and this user may make them
 * @throws ApiError `conflict` that names the command, if this user may not use or make them;
 *   DatabaseError `missing` if only some tables of the log are gone
 */
export async function hasLaterTables(pool: Pool, tables: Tables): Promise<boolean> {
  const { log, derived, logRange, sums } = tables
  const hasLog = await has(pool, tables, [log, derived, logRange], 'the tables of the log')
  const hasSums = await has(pool, tables, [sums], 'the table of the sum over all rows')
  return hasLog && hasSums
}

/** Makes them unless they are there. @throws as `hasLaterTables`; DatabaseError */
export async function ensureLaterTables(pool: Pool, tables: Tables): Promise<void> {
  if (await hasLaterTables(pool, tables)) return
  await pool.hold(databaseSetupMsMax, async ({ send }) => {
    await send('BEGIN')
    // Another vault may be at it: two that create one table at once would fail.
    await send(`SELECT FROM ${tables.state} FOR UPDATE`)
    const statements = [...logStatementsOf(tables), ...sumStatementsOf(tables)]
    for (const statement of statements) await send(statement)
    await send('COMMIT')
  })
  await untilReplicated(pool.query)
}
