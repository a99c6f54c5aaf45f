/**
 * Puts the result of a group: a few statements for all of it, each with arrays.
 *
 * Uniques that change hands are removed before the others are put. Inserted rows get their ordinals
 * from the sequence, in the statement that puts them.
 * @module
 */
import { invariant } from '../../../lib/errors.ts'
import { uniqueBytes } from '../../../limits/work-limits.ts'
import type { Digest, NewRow } from '../../contract.ts'
import type { GroupDraft, SealedLog } from '../../core/decide-change.ts'
import type { PreparedRow } from '../../core/prepare-change.ts'
import { keyOf } from '../../core/row.ts'
import { sealLog } from '../../core/seal-entries.ts'
import { nthOf, packDigests, packValues } from '../packed-parameters.ts'
import { arrayOf, type DatabaseSession } from '../pool.ts'
import { sendCommit, untilLanded } from './landed-commits.ts'
import type { Tables } from '../schema.ts'
import { DatabaseError } from '../database-error.ts'
import { readParts } from '../summed-rows.ts'
import { changeChunks, termChanges } from './term-chunks.ts'
import { deadlinesOf, insertParameters, insertText, type CommitId } from './insert-statement.ts'
import { placeholderFrom, type LockedRows } from './lock-rows.ts'
import { putLog, readPruned } from './log-statements.ts'
import { changedRowsOf, isUnchanged, logChangeOf, type WriterPart } from './writer-part.ts'

/** The results for rows and uniques. */
interface Puts {
  readonly inserted: readonly PreparedRow[]
  readonly updated: readonly (readonly [ordinal: number, row: PreparedRow])[]
  readonly removed: readonly number[]
  /** Given up, or moving to another row. */
  readonly freed: readonly Digest[]
  /** Uniques that a row keeps, at its new version. */
  readonly kept: readonly HeldUnique[]
  /** New uniques of existing rows. */
  readonly taken: readonly HeldUnique[]
}

interface HeldUnique {
  readonly unique: Digest
  readonly ordinal: number
  readonly version: number
}

const uniquesHeldBy = (ordinal: number, { uniques, version }: NewRow): HeldUnique[] =>
  uniques.map(unique => ({ unique, ordinal, version }))

function putsOf({ rows }: GroupDraft, locked: LockedRows): Puts {
  const inserted: PreparedRow[] = []
  const updated: (readonly [number, PreparedRow])[] = []
  const removed: number[] = []
  for (const [ordinal, row] of [...rows].sort(([a], [b]) => a - b)) {
    if (row === undefined) removed.push(ordinal)
    else if (ordinal >= placeholderFrom) inserted.push(row)
    else updated.push([ordinal, row])
  }
  const before = new Map<string, number>()
  const freed: Digest[] = []
  for (const ordinal of [...updated.map(([each]) => each), ...removed]) {
    const keys = new Set(rows.get(ordinal)?.uniqueKeys)
    const { row, uniqueKeys = [] } = locked.rows.get(ordinal) ?? {}
    const uniques = row?.uniques ?? []
    uniqueKeys.forEach((key, i) => {
      const unique = uniques[i]
      before.set(key, ordinal)
      if (unique !== undefined && !keys.has(key)) freed.push(unique)
    })
  }
  const held = updated.flatMap(([ordinal, { row }]) => uniquesHeldBy(ordinal, row))
  const isKept = ({ unique, ordinal }: HeldUnique): boolean => before.get(keyOf(unique)) === ordinal
  return {
    inserted,
    updated,
    removed,
    freed,
    kept: held.filter(isKept),
    taken: held.filter(each => !isKept(each)),
  }
}

const nthDigest = nthOf('$1', 'i', uniqueBytes)

type Send = DatabaseSession['send']

function putUniques(send: Send, tables: Tables, { freed, kept, taken }: Puts) {
  const sent: Promise<unknown>[] = []
  const { uniques } = tables
  if (freed.length > 0) {
    const text = `DELETE FROM ${uniques} u USING generate_series(1, $2::int) i
WHERE u.digest = ${nthDigest}`
    sent.push(send(text, [packDigests(freed, uniqueBytes), freed.length]))
  }
  const arrays = (held: readonly HeldUnique[]) => [
    packDigests(
      held.map(({ unique }) => unique),
      uniqueBytes,
    ),
    arrayOf(held.map(({ ordinal }) => ordinal)),
    arrayOf(held.map(({ version }) => version)),
  ]
  const given = 'unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY g(ordinal, version, i)'
  if (kept.length > 0) {
    const text = `UPDATE ${uniques} u SET version = g.version FROM ${given}
WHERE u.digest = ${nthDigest}`
    sent.push(send(text, arrays(kept)))
  }
  if (taken.length > 0) {
    const text = `INSERT INTO ${uniques} SELECT ${nthDigest}, ordinal, version FROM ${given}`
    sent.push(send(text, arrays(taken)))
  }
  return sent
}

function putUpdates(send: Send, { rows, recent }: Tables, { updated, removed }: Puts) {
  const sent: Promise<unknown>[] = []
  if (updated.length > 0) {
    const prepared = updated.map(([, row]) => row)
    const { bytes, at, sizes } = packValues(prepared.map(({ value }) => value))
    const text = `UPDATE ${rows} r
SET version = g.version, deadline_ms = g.deadline, value = substring($1::bytea FROM g.at FOR g.size)
FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::int[])
  g(ordinal, version, deadline, at, size)
WHERE r.ordinal = g.ordinal`
    sent.push(
      send(text, [
        bytes,
        arrayOf(updated.map(([ordinal]) => ordinal)),
        arrayOf(prepared.map(({ row }) => row.version)),
        deadlinesOf(prepared),
        arrayOf(at),
        arrayOf(sizes),
      ]),
    )
  }
  if (removed.length > 0) {
    const text = (table: string) => `DELETE FROM ${table} WHERE ordinal = ANY($1::bigint[])`
    for (const table of [rows, recent]) sent.push(send(text(table), [arrayOf(removed)]))
  }
  return sent
}

const receiptText = ({ receipts }: Tables): string => `UPDATE ${receipts}
SET number = $2::bigint, used_at = clock_timestamp(), ordinals = '{}' WHERE writer = $1::bytea`

function putInserts(
  send: Send,
  tables: Tables,
  inserted: readonly PreparedRow[],
  commitId: CommitId,
) {
  if (inserted.length === 0) return send(receiptText(tables), [commitId.writer, commitId.number])
  return send(insertText(tables), insertParameters(inserted, commitId))
}

/** @throws ApiError `internal` if others keep a sum, which a writer without a part cannot move */
async function assertUnsummed({ send }: DatabaseSession, { sums }: Tables): Promise<void> {
  const [kept] = await send(`SELECT FROM ${sums} LIMIT 1`)
  invariant(kept === undefined, 'a store that keeps a sum is written with its keys')
}

/**
 * @returns the bundles that a group removes from the log, and those hashes of their entries that
 *   have a share in the sum
 * @throws ApiError `storage_corrupt`; DatabaseError
 */
async function prunedBy(
  send: Send,
  tables: Tables,
  { pruneBelow }: SealedLog,
  part: WriterPart | undefined,
) {
  if (pruneBelow === 0) return { bundles: [], leaves: [] }
  const bundles = await readPruned(send, tables, pruneBelow)
  const from = part?.firstShare(await readParts(send, tables)) ?? Infinity
  const leaves = bundles.flatMap(bundle =>
    bundle.leaves.filter((_, at) => bundle.first + at >= from),
  )
  return { bundles, leaves }
}

/** A commit by a writer with its part, if it keeps one. */
export interface SummedCommit extends CommitId {
  readonly part: WriterPart | undefined
}

/**
 * Puts a whole group, and commits it.
 * @returns ordinals of the inserted rows, in their order
 * @throws DatabaseError; ApiError as `sealLog` and the writer's part do
 */
export async function putGroup(
  session: DatabaseSession,
  tables: Tables,
  draft: GroupDraft,
  locked: LockedRows,
  commitId: SummedCommit,
): Promise<readonly number[]> {
  const { send } = session
  const { writer, part } = commitId
  const log = sealLog(draft.log)
  const pruned = await prunedBy(send, tables, log, part)
  const change = {
    rows: changedRowsOf(draft, locked),
    ...logChangeOf(log.bundles, pruned.leaves),
  }
  // Nothing is sent before this: without it, no COMMIT may follow.
  const moved = part?.move(change)
  if (part === undefined && !isUnchanged(change)) await assertUnsummed(session, tables)
  const puts = putsOf(draft, locked)
  const changes = termChanges(draft, locked)
  // Chunks are locked and read before they are put.
  const sent: Promise<unknown>[] = await changeChunks(session, tables, changes)
  sent.push(...putUniques(send, tables, puts), ...putUpdates(send, tables, puts))
  if (moved !== undefined) {
    const text = `UPDATE ${tables.sums} SET sealed = $2::bytea WHERE writer = $1::bytea`
    sent.push(send(text, [writer, moved.after]))
  }
  if (draft.generation > 0) {
    const text = `UPDATE ${tables.state} SET generation = generation + $1::bigint`
    sent.push(send(text, [draft.generation]))
  }
  const inserting = putInserts(send, tables, puts.inserted, commitId)
  sent.push(...putLog(session, tables, writer, log, locked.derived, pruned.bundles))
  const committing = sendCommit(session, tables, commitId)
  const [cells, progress] = await Promise.all([inserting, committing, ...sent])
  // Without inserts, only the receipt was written, and no row comes back. On a mismatch, the group
  // landed before, and its receipt says how.
  if (cells.length !== puts.inserted.length) throw new DatabaseError('lost')
  await untilLanded(session, progress)
  part?.learn(moved?.after)
  return cells.map(([ordinal]) => Number(ordinal))
}
