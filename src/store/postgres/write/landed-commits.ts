/**
 * COMMITs of writers, acknowledged once their groups are wherever they have to be.
 * @module
 */
import type { Cells, DatabaseSession } from '../pool.ts'
import { missing, untilReached } from '../replication.ts'
import { leftFormat, type Tables } from '../schema.ts'
import { DatabaseError } from '../database-error.ts'
import type { By } from './insert-statement.ts'

/**
 * Sends a COMMIT, followed by the query for its progress. A vault that has left has no receipts:
 * they are removed once no group can land any more.
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
 * @throws DatabaseError `lost` if the receipt is missing: by now another database answers
 */
export async function untilLanded(
  { send }: DatabaseSession,
  [isThere, place]: Cells,
): Promise<void> {
  if (isThere !== true) throw new DatabaseError('lost')
  await untilReached(send, place)
}

/** A read-only COMMIT waits for no standby, so it touches its receipt. @throws DatabaseError */
export async function commitRead(session: DatabaseSession, tables: Tables, by: By): Promise<void> {
  const text = `UPDATE ${tables.receipts} SET used_at = clock_timestamp() WHERE writer = $1::bytea`
  const [, told] = await Promise.all([
    session.send(text, [by.writer]),
    sendCommit(session, tables, by),
  ])
  await untilLanded(session, told)
}
