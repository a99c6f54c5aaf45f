/**
 * Fast path for groups that only insert, as most do: decided as if nothing stood in the way, which
 * their one statement then verifies. They wait for one answer instead of two.
 * @module
 */
import {
  applySet,
  makeGroupDraft,
  type GroupDraft,
  type PreparedChange,
  type PreparedRow,
  type SetResult,
  type StoredState,
} from '../../core/decide-change.ts'
import type { ChangeSet } from '../../core/write-queue.ts'
import { arrayOf, type DatabaseSession } from '../pool.ts'
import { sendCommit, untilLanded } from './landed-commits.ts'
import type { Tables } from '../schema.ts'
import { faultOf } from '../database-error.ts'
import { insertParameters, insertWhereClearText, type By } from './insert-statement.ts'
import { numbersOf, placeholderFrom, requiredRow } from './lock-rows.ts'

export interface AtOnce {
  readonly decided: readonly SetResult[]
  readonly inserted: readonly PreparedRow[]
  /** Versions by ordinal. */
  readonly required: ReadonlyMap<number, number>
}

/** `undefined` if there are other changes than inserts, or a row is required at two versions. */
function requiredBy(changes: readonly PreparedChange[]): Map<number, number> | undefined {
  const required = new Map<number, number>()
  for (const change of changes) {
    if (change.kind === 'insert') continue
    if (change.kind !== 'require') return undefined
    const known = required.get(change.ordinal) ?? change.ifVersion
    if (known !== change.ifVersion) return undefined
    required.set(change.ordinal, known)
  }
  return required
}

/** State in which the rows are as required, and all uniques free. */
const clearWith = (required: ReadonlyMap<number, number>): StoredState => ({
  rowAt(ordinal) {
    const version = required.get(ordinal)
    return version === undefined ? undefined : requiredRow(ordinal, version)
  },
  holderOf: () => undefined,
})

const insertedIn = ({ rows }: GroupDraft): PreparedRow[] =>
  [...rows.values()].filter(row => row !== undefined)

/** @returns the result of a group if nothing stands in its way; `undefined`: not possible */
export function decideAtOnce(sets: readonly ChangeSet[]): AtOnce | undefined {
  const required = requiredBy(sets.flat())
  if (required === undefined) return undefined
  const from = { nextOrdinal: placeholderFrom, generation: 0 }
  const draft = makeGroupDraft(from, clearWith(required), () => {})
  const decided = sets.map(set => applySet(draft, set, faultOf))
  const inserted = insertedIn(draft)
  return inserted.length === 0 ? undefined : { decided, inserted, required }
}

/**
 * @returns ordinals of the inserted rows, in their order; `undefined`: something stood in the way,
 *   and nothing was done
 * @throws DatabaseError `again` if a unique was taken meanwhile
 */
export async function insertAtOnce(
  session: DatabaseSession,
  tables: Tables,
  { inserted, required }: AtOnce,
  by: By,
): Promise<readonly number[] | undefined> {
  const { send } = session
  const ordinals = [...required.keys()].toSorted((a, b) => a - b)
  const versions = ordinals.map(ordinal => required.get(ordinal) ?? 0)
  const [, cells, told] = await Promise.all([
    send('BEGIN'),
    send(insertWhereClearText(tables), [
      ...insertParameters(inserted, by),
      arrayOf(ordinals),
      arrayOf(versions),
    ]),
    sendCommit(session, tables, by),
  ])
  if (cells.length !== inserted.length) return undefined
  await untilLanded(session, told)
  return cells.map(([ordinal]) => Number(ordinal))
}

/**
 * Learns the outcome of an unanswered fast group. The group locks nothing until it has arrived as a
 * whole, so it may arrive late; if it has not landed by now, it never will. Its receipt is written
 * either way: a COMMIT that writes nothing waits for no standby.
 * @returns its ordinals; none: it has not landed; `undefined`: its writer has no receipt
 * @throws DatabaseError
 */
export async function settleAtOnce(
  session: DatabaseSession,
  tables: Tables,
  by: By,
): Promise<readonly number[] | undefined> {
  const text = `UPDATE ${tables.receipts} SET number = greatest(number, $2::bigint),
  ordinals = CASE WHEN number < $2::bigint THEN '{}' ELSE ordinals END,
  used_at = clock_timestamp() WHERE writer = $1::bytea RETURNING ordinals`
  const [, [receipt], told] = await Promise.all([
    session.send('BEGIN'),
    session.send(text, [by.writer, by.number]),
    sendCommit(session, tables, by),
  ])
  if (receipt === undefined) return undefined
  await untilLanded(session, told)
  return numbersOf(receipt[0])
}
