/**
 * Change sets, decided one after the other against what the ones before have left.
 *
 * Each set is accepted or refused as a whole. Nothing here writes to the engine.
 * Source: contract.ts, `Change` and `WriteOutcome`.
 * @module
 */
import { invariant, type ApiError } from '../../../errors.ts'
import type { KeyedRow } from '../../check-changes.ts'
import type { WriteOutcome } from '../../contract.ts'
import {
  currentHolder,
  currentRow,
  moveRow,
  openSetDraft,
  type GroupDraft,
  type PreparedRow,
  type SetDraft,
} from './draft.ts'
import { faultOf } from '../fault.ts'
import { deadlinePostings, termPostings } from '../index/posting-draft.ts'
import type { PreparedChange } from './prepare-changes.ts'

/** What became of one set: an outcome, or why it could not be decided. */
export type SetResult = { readonly outcome: WriteOutcome } | { readonly fault: ApiError }

type Refused = Extract<WriteOutcome, { readonly ok: false }>

const versionMoved = (at: number): Refused => ({ ok: false, at, reason: 'version_moved' })

/** @param own  the ordinal that may hold them already */
function refuseTaken(draft: SetDraft, row: PreparedRow, at: number, own?: number): Refused | void {
  for (const [i, key] of row.uniqueKeys.entries()) {
    const unique = row.row.uniques[i]
    invariant(unique !== undefined, 'a row has a key for each unique')
    const ordinal = currentHolder(draft, key, unique)
    if (ordinal !== undefined && ordinal !== own) {
      return { ok: false, at, reason: 'unique_taken', unique, ordinal }
    }
  }
}

function rowAt(draft: SetDraft, ordinal: number, ifVersion: number): KeyedRow | undefined {
  const current = currentRow(draft, ordinal)
  return current?.row.version === ifVersion ? current : undefined
}

function insertRow(draft: SetDraft, row: PreparedRow, at: number): Refused | void {
  const refused = refuseTaken(draft, row, at)
  if (refused) return refused
  const ordinal = draft.nextOrdinal
  draft.nextOrdinal += 1
  moveRow(draft, ordinal, undefined, row)
  draft.ordinals.push(ordinal)
}

function replaceRow(
  draft: SetDraft,
  { row, ordinal, ifVersion }: Extract<PreparedChange, { kind: 'replace' }>,
  at: number,
): Refused | void {
  const current = rowAt(draft, ordinal, ifVersion)
  if (current === undefined) return versionMoved(at)
  invariant(current.uniqueKeys[0] === row.uniqueKeys[0], 'a row keeps its first unique')
  const refused = refuseTaken(draft, row, at, ordinal)
  if (refused) return refused
  moveRow(draft, ordinal, current, row)
  draft.ordinals.push(ordinal)
}

function removeRow(
  draft: SetDraft,
  { ordinal, ifVersion }: Extract<PreparedChange, { kind: 'remove' }>,
  at: number,
): Refused | void {
  const current = currentRow(draft, ordinal)
  if (ifVersion !== undefined && current?.row.version !== ifVersion) return versionMoved(at)
  if (current !== undefined) moveRow(draft, ordinal, current, undefined)
}

function applyChange(draft: SetDraft, change: PreparedChange, at: number): Refused | void {
  switch (change.kind) {
    case 'insert':
      return insertRow(draft, change.row, at)
    case 'replace':
      return replaceRow(draft, change, at)
    case 'remove':
      return removeRow(draft, change, at)
    case 'require':
      return rowAt(draft, change.ordinal, change.ifVersion) ? undefined : versionMoved(at)
    case 'bump':
      draft.generation += 1
  }
}

/** Hands the effects of an accepted set to its group. Reads all before it changes anything. */
function joinGroup({ group, moves, holdings, nextOrdinal, generation }: SetDraft): void {
  const postings = [...moves].flatMap(([ordinal, { from, to }]) => [
    ...termPostings(group.terms, ordinal, from, to),
    ...deadlinePostings(group.deadlines, ordinal, from, to),
  ])
  for (const { draft, low, isIn } of postings) draft.places.set(low, isIn)
  for (const [ordinal, { to }] of moves) group.rows.set(ordinal, to)
  for (const [key, holding] of holdings) group.holdings.set(key, holding)
  group.nextOrdinal = nextOrdinal
  group.generation = generation
}

function decideSet(group: GroupDraft, changes: readonly PreparedChange[]): WriteOutcome {
  const draft = openSetDraft(group)
  for (const [at, change] of changes.entries()) {
    const refused = applyChange(draft, change, at)
    if (refused) return refused
  }
  joinGroup(draft)
  return { ok: true, ordinals: draft.ordinals }
}

/** Decides one set; its faults, such as a row that is damaged, are its own and harm no other. */
export function applySet(group: GroupDraft, changes: readonly PreparedChange[]): SetResult {
  try {
    return { outcome: decideSet(group, changes) }
  } catch (error) {
    return { fault: faultOf(error) }
  }
}
