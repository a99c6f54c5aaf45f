/**
 * The begin of a writer: its receipt, and its part of the sum over all rows, under a new id.
 *
 * A writer without a receipt writes no more: each of its groups would have to lock it. So a new
 * writer takes over the parts that such writers have left, and its next entry of the log dates them
 * as well. A part that does not open stays, for `coffer verify` to name.
 * @module
 */
import { ApiError } from '../../../lib/errors.ts'
import type { SumSealer } from '../../contract.ts'
import { takenPartsMax } from '../../core/limits.ts'
import { combineSums, emptySum, openSum, sealSum, type RowSum } from '../../core/row-sum.ts'
import type { DatabaseSession, Pool } from '../pool.ts'
import { movedOutFormat, movedOutMessage, readFormat, type Tables } from '../schema.ts'
import { makeWriterPart, type WriterPart } from './writer-part.ts'

/** After a vault left, no writer has one; locking the row of its format keeps late ones out. */
const receiptText = ({ receipts, state }: Tables): string => `INSERT INTO ${receipts}
SELECT $1::bytea, 0, '{}'::bigint[], clock_timestamp() FROM ${state}
WHERE format <> ${movedOutFormat} FOR SHARE
RETURNING writer`

const leftText = ({ sums, receipts }: Tables): string => `SELECT writer, sealed FROM ${sums} s
WHERE NOT EXISTS (SELECT FROM ${receipts} r WHERE r.writer = s.writer)
ORDER BY writer LIMIT ${takenPartsMax} FOR UPDATE SKIP LOCKED`

/** Takes the parts of ended writers out of the table. @returns their sum */
async function takeLeft(
  { send }: DatabaseSession,
  tables: Tables,
  sealer: SumSealer,
): Promise<RowSum> {
  let sum = emptySum
  const text = `DELETE FROM ${tables.sums} WHERE writer = $1::bytea`
  const sent: Promise<unknown>[] = []
  for (const [writer, sealed] of await send(leftText(tables))) {
    if (!(writer instanceof Uint8Array) || !(sealed instanceof Uint8Array)) continue
    const part = openSum(sealer, sealed, writer)
    if (part === undefined) continue
    sum = combineSums(sum, part, 1)
    sent.push(send(text, [writer]))
  }
  await Promise.all(sent)
  return sum
}

/**
 * @param writer a new id
 * @param sealer absent while the store was handed no keys
 * @returns its part; none without a sealer
 * @throws ApiError `unavailable` if the vault has moved out; DatabaseError
 */
export async function beginWriter(
  pool: Pool,
  tables: Tables,
  writer: Uint8Array,
  sealer: SumSealer | undefined,
  msMax: number,
): Promise<WriterPart | undefined> {
  const hasMovedOut = async (added: readonly unknown[]): Promise<boolean> =>
    added.length === 0 && (await readFormat(pool, tables)) === movedOutFormat
  const movedOut = () => new ApiError('unavailable', movedOutMessage)
  if (sealer === undefined) {
    if (await hasMovedOut(await pool.query(receiptText(tables), [writer]))) throw movedOut()
    return undefined
  }
  const text = `WITH added AS (${receiptText(tables)})
INSERT INTO ${tables.sums} SELECT writer, $2::bytea FROM added RETURNING 1`
  const begun = await pool.hold(msMax, async session => {
    await session.send('BEGIN ISOLATION LEVEL READ COMMITTED')
    const sum = await takeLeft(session, tables, sealer)
    const added = await session.send(text, [writer, sealSum(sealer, sum, writer)])
    await session.send(added.length === 0 ? 'ROLLBACK' : 'COMMIT')
    return { added, sum }
  })
  if (await hasMovedOut(begun.added)) throw movedOut()
  return makeWriterPart(writer, sealer, begun.sum)
}
