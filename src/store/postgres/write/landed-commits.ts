/**
 * COMMITs of writers: a group is acknowledged once its receipt is there, and its standbys have it.
 * @module
 */
import type { DatabaseSession } from '../pool.ts'
import { awaitedPositionText, untilStandbysReach } from '../replication.ts'
import { movedOutFormat, type Tables } from '../schema.ts'
import { DatabaseError } from '../database-error.ts'
import type { CommitId } from './insert-statement.ts'

/** The database's answer right after a COMMIT. */
interface CommitProgress {
  /** False if another database answers by now. */
  readonly hasReceipt: boolean
  /** As `awaitedPositionText` gives it. */
  readonly awaitedPosition: unknown
}

/**
 * Sends a COMMIT, followed by the query for its progress. A vault that has moved out has no
 * receipts: they are removed once no group can land any more.
 * @throws DatabaseError
 */
export async function sendCommit(
  { send }: DatabaseSession,
  { receipts, state }: Tables,
  { writer, number }: CommitId,
): Promise<CommitProgress> {
  const text = `SELECT EXISTS (
  SELECT FROM ${receipts} WHERE writer = $1::bytea AND number >= $2::bigint
) OR EXISTS (SELECT FROM ${state} WHERE format = $3::int), ${awaitedPositionText('NULL::pg_lsn')}`
  const [, [[hasReceipt, awaitedPosition] = []]] = await Promise.all([
    send('COMMIT'),
    send(text, [writer, number, movedOutFormat]),
  ])
  return { hasReceipt: hasReceipt === true, awaitedPosition }
}

/**
 * Waits until the standbys have what a COMMIT wrote.
 * @throws DatabaseError `lost` if the receipt is missing
 */
export async function untilLanded(
  { send }: DatabaseSession,
  { hasReceipt, awaitedPosition }: CommitProgress,
): Promise<void> {
  if (!hasReceipt) throw new DatabaseError('lost')
  await untilStandbysReach(send, awaitedPosition)
}

/**
 * Commits a group that only reads, by a write to its receipt: a COMMIT of a transaction that wrote
 * nothing waits for no standby, and a receipt in use is to say so.
 * @throws DatabaseError
 */
export async function commitRead(
  session: DatabaseSession,
  tables: Tables,
  commitId: CommitId,
): Promise<void> {
  const text = `UPDATE ${tables.receipts} SET used_at = clock_timestamp() WHERE writer = $1::bytea`
  const [, progress] = await Promise.all([
    session.send(text, [commitId.writer]),
    sendCommit(session, tables, commitId),
  ])
  await untilLanded(session, progress)
}
