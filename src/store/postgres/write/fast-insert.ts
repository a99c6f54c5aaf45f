/**
 * Fast path for groups that only insert and log, as most do: a group is decided on the assumption
 * that its uniques are free and its required rows unchanged, and its first statement verifies that;
 * the one that logs does nothing unless that one has. So it waits for one answer instead of two.
 * @module
 */
import {
  applySet,
  makeGroupDraft,
  type GroupDraft,
  type SetResult,
  type StoredState,
} from '../../core/decide-change.ts'
import type { PreparedChange, PreparedRow } from '../../core/prepare-change.ts'
import type { Digest, LogBundle } from '../../contract.ts'
import { uniqueBytes } from '../../../limits/work-limits.ts'
import { packDigests } from '../packed-parameters.ts'
import { sealLog } from '../../core/seal-entries.ts'
import type { ChangeSet } from '../../core/write-queue.ts'
import { arrayOf, type Cells, type DatabaseSession } from '../pool.ts'
import { sendCommit, untilLanded } from './landed-commits.ts'
import type { Tables } from '../schema.ts'
import { faultOf } from '../database-error.ts'
import {
  insertParameters,
  insertWhereClearText,
  receiptWhereClearText,
  type CommitId,
  type FastCommit,
} from './insert-statement.ts'
import { numbersOf, partIn, partText, placeholderFrom, requiredRow } from './lock-rows.ts'
import { appendBundles } from './log-statements.ts'
import { logChangeOf, type SummedCommitChange } from './writer-part.ts'

/** A decided group, and what its statement must verify. */
export interface FastInsert {
  readonly decided: readonly SetResult[]
  readonly inserted: readonly PreparedRow[]
  readonly bundles: readonly LogBundle[]
  /** The rows that must not have changed, by ordinal. */
  readonly required: ReadonlyMap<number, RequiredRow>
}

/** A row as a change requires it; without a unique, any row of that version will do. */
interface RequiredRow {
  readonly version: number
  readonly unique: Digest | undefined
  readonly uniqueKey: string | undefined
}

/**
 * `undefined` if there are other changes than inserts and entries of the log, or a row is required
 * in two ways.
 */
function requiredBy(changes: readonly PreparedChange[]): Map<number, RequiredRow> | undefined {
  const required = new Map<number, RequiredRow>()
  for (const change of changes) {
    if (['insert', 'log', 'entry'].includes(change.kind)) continue
    if (change.kind !== 'require') return undefined
    const { ordinal, ifVersion: version, unique, uniqueKey } = change
    const known = required.get(ordinal) ?? { version, unique, uniqueKey }
    if (known.version !== version || known.uniqueKey !== uniqueKey) return undefined
    required.set(ordinal, known)
  }
  return required
}

/** State in which the rows are as required, and all uniques free. */
const clearWith = (required: ReadonlyMap<number, RequiredRow>): StoredState => ({
  rowAt(ordinal) {
    const row = required.get(ordinal)
    return row && requiredRow(ordinal, row)
  },
  holderOf: () => undefined,
  derivedAt: () => undefined,
})

const insertedIn = ({ rows }: GroupDraft): PreparedRow[] =>
  [...rows.values()].filter(row => row !== undefined)

/** @returns the result that the statement will verify; `undefined` if the group must lock rows */
export function decideFastInsert(sets: readonly ChangeSet[]): FastInsert | undefined {
  const required = requiredBy(sets.flat())
  if (required === undefined) return undefined
  const from = { nextOrdinal: placeholderFrom, generation: 0 }
  const draft = makeGroupDraft(from, clearWith(required), () => {})
  const decided = sets.map(set => applySet(draft, set, faultOf))
  const inserted = insertedIn(draft)
  const { bundles } = sealLog(draft.log)
  if (inserted.length === 0 && bundles.length === 0) return undefined
  return { decided, inserted, bundles, required }
}

/** The change of the sum by a group that goes at once. */
export const fastChangeOf = ({ inserted, bundles }: FastInsert): SummedCommitChange => ({
  rows: inserted.map(({ row }) => ({ from: undefined, to: row })),
  ...logChangeOf(bundles),
})

/** Sends what verifies a group, and inserts its rows and its receipt. */
function sendInserts(
  { send }: DatabaseSession,
  tables: Tables,
  { inserted, required }: FastInsert,
  commit: FastCommit,
): Promise<readonly Cells[]> {
  const ordinals = [...required.keys()].toSorted((a, b) => a - b)
  const versions = ordinals.map(ordinal => required.get(ordinal)?.version ?? 0)
  const named = ordinals.filter(ordinal => required.get(ordinal)?.unique !== undefined)
  const uniques = named.flatMap(ordinal => required.get(ordinal)?.unique ?? [])
  const { writer, number, part } = commit
  const { before = null, after = null } = part ?? {}
  const names = [arrayOf(named), packDigests(uniques, uniqueBytes)]
  const last = [arrayOf(ordinals), arrayOf(versions), before, after, ...names]
  return inserted.length === 0
    ? send(receiptWhereClearText(tables), [writer, number, ...last])
    : send(insertWhereClearText(tables), [...insertParameters(inserted, commit), ...last])
}

/**
 * @returns ordinals of the inserted rows, in their order, or 0 if it has none; `undefined` if a
 *   row, a unique or the writer's part was not as assumed, and nothing was done
 * @throws DatabaseError `again` if a unique was taken meanwhile
 */
export async function runFastInsert(
  session: DatabaseSession,
  tables: Tables,
  fastInsert: FastInsert,
  commit: FastCommit,
): Promise<readonly number[] | undefined> {
  const { inserted, bundles } = fastInsert
  const [, cells, , progress] = await Promise.all([
    session.send('BEGIN ISOLATION LEVEL READ COMMITTED'),
    sendInserts(session, tables, fastInsert, commit),
    bundles.length === 0 ? undefined : appendBundles(session, tables, commit.writer, bundles),
    sendCommit(session, tables, commit),
  ])
  if (cells.length !== Math.max(1, inserted.length)) return undefined
  await untilLanded(session, progress)
  return cells.map(([ordinal]) => Number(ordinal))
}

interface Settled {
  /** Empty if it has not landed; `undefined` if the writer has no receipt. */
  readonly ordinals: readonly number[] | undefined
  readonly part: Uint8Array | undefined
}

/**
 * Learns the outcome of an unanswered fast group. The group locks nothing until it has arrived as a
 * whole, so it may arrive late; if it has not landed by now, it never will. Its receipt is written
 * either way: a COMMIT that writes nothing waits for no standby.
 * @returns its ordinals, and the writer's part as it stands
 * @throws DatabaseError
 */
export async function settleFastInsert(
  session: DatabaseSession,
  tables: Tables,
  commitId: CommitId,
): Promise<Settled> {
  const text = `UPDATE ${tables.receipts} SET number = greatest(number, $2::bigint),
  ordinals = CASE WHEN number < $2::bigint THEN '{}' ELSE ordinals END,
  used_at = clock_timestamp() WHERE writer = $1::bytea RETURNING ordinals`
  const [, [receipt], part, progress] = await Promise.all([
    session.send('BEGIN ISOLATION LEVEL READ COMMITTED'),
    session.send(text, [commitId.writer, commitId.number]),
    session.send(partText(tables), [commitId.writer]),
    sendCommit(session, tables, commitId),
  ])
  if (receipt === undefined) return { ordinals: undefined, part: partIn(part) }
  await untilLanded(session, progress)
  return { ordinals: numbersOf(receipt[0]), part: partIn(part) }
}
