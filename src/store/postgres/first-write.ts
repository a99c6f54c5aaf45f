/**
 * The write that makes a vault in tables without rows, while nobody else makes one there.
 *
 * A writer begins with its part of the sum over all rows before its first group. A vault that was
 * not made has keys that nobody has any more: a part of it in a table with another one's rows would
 * be told as damage for good.
 * @module
 */
import { ApiError, invariant } from '../../lib/errors.ts'
import type { WriteOutcome } from '../contract.ts'
import { databaseSetupMsMax } from '../core/limits.ts'
import type { Pool } from './pool.ts'
import { hasRows, type Tables } from './schema.ts'

/**
 * @param pool of two connections or more
 * @throws ApiError `conflict` if there are rows; as `write`; DatabaseError
 */
export async function writeFirst(
  pool: Pool,
  tables: Tables,
  write: () => Promise<WriteOutcome>,
): Promise<WriteOutcome> {
  let outcome: WriteOutcome | undefined
  try {
    await pool.hold(databaseSetupMsMax, async ({ send }) => {
      await send('BEGIN')
      // Ends with the transaction, so that it is one connection's behind a pooler, too.
      await send('SELECT pg_advisory_xact_lock($1::regclass::oid::bigint)', [tables.state])
      if (await hasRows(pool, tables)) throw new ApiError('conflict', 'the database has a vault')
      // Left by one whose making was cut off.
      await pool.query(`DELETE FROM ${tables.sums}`)
      outcome = await write()
      await send('COMMIT')
    })
  } catch (error) {
    // Behind the write only the lock is lost.
    if (outcome === undefined) throw error
  }
  invariant(outcome !== undefined, 'a first write has an outcome')
  return outcome
}
