/**
 * The walk over all rows and the parts of their sum, in one snapshot: writers may go on meanwhile.
 * @module
 */
import { assertStored, attempt } from '../../lib/errors.ts'
import { leafBytes } from '../../limits/work-limits.ts'
import type { SumSealer } from '../contract.ts'
import { makeSumCheck, sumOf } from '../core/check-sum.ts'
import { inspectMsMax, inspectRows, logStep } from '../core/limits.ts'
import { combineSums, sealSum } from '../core/row-sum.ts'
import type { OperatedStore, StoredSum, SumPart, TakeLeaf } from '../operated.ts'
import { isBundle, leavesIn, rangeOf, rangeText } from './log-reads.ts'
import type { DatabaseSession, Pool } from './pool.ts'
import { untilReplicated } from './replication.ts'
import { rowsIn, rowsText } from './retried-reads.ts'
import { bigintMin, type Tables } from './schema.ts'

const snapshotText = 'BEGIN ISOLATION LEVEL REPEATABLE READ'

/**
 * @param ask runs a statement
 * @throws ApiError `storage_corrupt` for a row that is none; whatever it throws
 */
export async function readParts(
  ask: DatabaseSession['send'],
  { sums }: Tables,
): Promise<readonly SumPart[]> {
  const stored = await ask(`SELECT writer, sealed FROM ${sums}`)
  return stored.map(([writer, sealed]) => {
    const isWhole = writer instanceof Uint8Array && sealed instanceof Uint8Array
    assertStored(isWhole, 'a part of the sum over all rows')
    return { writer, sealed }
  })
}

type Takers = Parameters<OperatedStore['eachRow']>

/** Reads the hashes of all entries: those of a bundle that is none are found elsewhere. */
async function walkLog(
  ask: DatabaseSession['send'],
  { log }: Tables,
  take: TakeLeaf,
): Promise<void> {
  const text = `SELECT seq, ${leavesIn} FROM ${log}
WHERE seq > $1::bigint AND ${isBundle} ORDER BY seq LIMIT ${logStep}`
  for (let behind = bigintMin; ;) {
    const cells = await ask(text, [behind])
    for (const [seq, leaves] of cells) {
      if (!(leaves instanceof Uint8Array)) continue
      for (let at = 0; at < leaves.length; at += leafBytes) {
        take(Number(seq) + at / leafBytes, leaves.subarray(at, at + leafBytes))
      }
    }
    const last = cells.at(-1)?.[0]
    if (last === undefined) break
    behind = String(last)
  }
}

/** @throws ApiError as `readParts`; DatabaseError */
async function walk(
  { send }: DatabaseSession,
  tables: Tables,
  ...[take, entriesFor]: Takers
): Promise<StoredSum> {
  const range = await send(rangeText(tables))
  // Damage of the log is found elsewhere, and must not keep the rows from being looked at.
  const logNext = attempt(() => rangeOf(range).next)
  const parts = await readParts(send, tables)
  const text = rowsText(tables)
  for (let from = 0; ;) {
    const cells = await send(text, [from, inspectRows])
    for (const row of rowsIn(cells)) take(row)
    const last = cells.at(-1)?.[0]
    if (last === undefined) break
    from = Number(last) + 1
  }
  await walkLog(send, tables, entriesFor(parts))
  return { parts, logNext }
}

/** @throws ApiError as `OperatedStore.eachRow`; DatabaseError */
export const eachRow = (pool: Pool, tables: Tables, ...takers: Takers): Promise<StoredSum> =>
  pool.hold(inspectMsMax, async session => {
    await session.send(`${snapshotText} READ ONLY`)
    const stored = await walk(session, tables, ...takers)
    await session.send('COMMIT')
    return stored
  })

/**
 * Puts a part that makes up for all rows and entries of the log that no part counts. All that write
 * must keep parts by now.
 * @param writer a new id
 * @throws ApiError `storage_corrupt` if a part is not one of this vault; DatabaseError
 */
export async function beginSum(
  pool: Pool,
  tables: Tables,
  sealer: SumSealer,
  writer: Uint8Array,
): Promise<void> {
  await pool.hold(inspectMsMax, async session => {
    await session.send(snapshotText)
    const check = makeSumCheck(sealer)
    const { parts, logNext } = await walk(session, tables, check.add, check.entriesFor)
    const kept = sumOf(parts, sealer)
    assertStored(logNext !== undefined, 'a range of the log')
    assertStored(kept !== undefined && kept.entries <= logNext, 'parts of the sum of this vault')
    const { numbered } = kept
    const missing = combineSums({ ...check.found(), entries: logNext, numbered }, kept, -1)
    const text = `INSERT INTO ${tables.sums} VALUES ($1::bytea, $2::bytea)`
    await session.send(text, [writer, sealSum(sealer, missing, writer)])
    await session.send('COMMIT')
  })
  await untilReplicated(pool.query)
}
