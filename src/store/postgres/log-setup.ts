/**
 * Tables of the log in a database that an older coffer made: its format is the same, but it lacks
 * them.
 * @module
 */
import { ApiError } from '../../lib/errors.ts'
import { databaseSetupMsMax } from '../core/limits.ts'
import { DatabaseError } from './database-error.ts'
import type { Pool } from './pool.ts'
import { untilReplicated } from './replication.ts'
import { logStatementsOf, type Tables } from './schema.ts'

const remedy = 'somebody who may is to run what coffer db setup --print-sql --upgrade prints'

const stateText = `SELECT count(to_regclass(name)), bool_and(has_table_privilege(to_regclass(name),
  privilege)), has_schema_privilege($2::text, 'CREATE')
FROM unnest($1::text[]) name, unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) privilege`

const privileges = 4

/**
 * @returns true if the tables of the log are there; false if there are none, and this user may make
 *   them
 * @throws ApiError `conflict` that names the command, if this user may not use or make them;
 *   DatabaseError `missing` if some of them are gone
 */
export async function hasLogTables(pool: Pool, tables: Tables): Promise<boolean> {
  const { schema, log, derived, logRange } = tables
  const names = [log, derived, logRange]
  const [cells = []] = await pool.query(stateText, [`{${names.join(',')}}`, schema])
  const [found, mayUse, mayMake] = cells
  const count = Number(found) / privileges
  if (count === names.length && mayUse === true) return true
  if (count === names.length) {
    throw new ApiError('conflict', `this user may not use the tables of the log: ${remedy}`)
  }
  // Others than an older coffer must have dropped the rest, which would begin anew.
  if (count > 0) throw new DatabaseError('missing')
  if (mayMake === true) return false
  throw new ApiError('conflict', `it lacks the tables of the log: ${remedy}`)
}

/** Makes the tables of the log unless they are there. @throws as `hasLogTables`; DatabaseError */
export async function ensureLogTables(pool: Pool, tables: Tables): Promise<void> {
  if (await hasLogTables(pool, tables)) return
  await pool.hold(databaseSetupMsMax, async ({ send }) => {
    await send('BEGIN')
    // Another vault may be at it: two that create one table at once would fail.
    await send(`SELECT FROM ${tables.state} FOR UPDATE`)
    for (const statement of logStatementsOf(tables)) await send(statement)
    await send('COMMIT')
  })
  await untilReplicated(pool.query)
}
