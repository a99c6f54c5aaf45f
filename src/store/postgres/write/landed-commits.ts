/**
 * COMMITs of writers, which are answered once their groups are wherever they have to be.
 * @module
 */
import type { Cells, DatabaseSession } from '../pool.ts'
import { missing, untilReached } from '../replication.ts'
import { leftFormat, type Tables } from '../schema.ts'
import { DatabaseError } from '../database-error.ts'
import type { By } from './insert-statement.ts'

/**
 * Sends a COMMIT, and behind it the question how far that has come. Of a vault that is leaving the
 * receipts are removed, once none of them can land any more.
 * @throws DatabaseError
 */
export async function sendCommit(
  { send }: DatabaseSession,
  { receipts, state }: Tables,
  { writer, number }: By,
): Promise<Cells> {
  const text = `SELECT EXISTS (
  SELECT FROM ${receipts} WHERE writer = $1::bytea AND number >= $2::bigint
) OR EXISTS (SELECT FROM ${state} WHERE format = $3::int), ${missing('NULL::pg_lsn')}`
  const [, [told = []]] = await Promise.all([
    send('COMMIT'),
    send(text, [writer, number, leftFormat]),
  ])
  return told
}

/**
 * @param told by `sendCommit`
 * @throws DatabaseError `lost` where the receipt is not there: who answered is another database by
 * now
 */
export async function untilLanded(
  { send }: DatabaseSession,
  [isThere, place]: Cells,
): Promise<void> {
  if (isThere !== true) throw new DatabaseError('lost')
  await untilReached(send, place)
}

/**
 * The COMMIT of what only reads waits for nobody: so its receipt is touched. @throws DatabaseError
 */
export async function commitRead(session: DatabaseSession, tables: Tables, by: By): Promise<void> {
  const text = `UPDATE ${tables.receipts} SET used_at = clock_timestamp() WHERE writer = $1::bytea`
  const [, told] = await Promise.all([
    session.send(text, [by.writer]),
    sendCommit(session, tables, by),
  ])
  await untilLanded(session, told)
}
