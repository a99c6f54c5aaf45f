/**
 * Changes of one write: checked, gathered in a draft, and applied to it.
 * @module
 */
import { keyRow, type KeyedRow, checkChange, checkCount, checkRow } from '../../rows.ts'
import type { Digest, Change, NewRow, WriteOutcome } from '../../contract.ts'
import { faultOf, isFolded, type State } from '../environment.ts'
import {
  deadlinePostings,
  deadlinesOfStore,
  makePostingDraft,
  termPostings,
  termsOfStore,
  type PostingDraft,
} from '../index/postings.ts'
import { type IndexedEnvironment, readHeldRow, readUnique } from '../index/tail.ts'
import { encodeRow } from '../layout.ts'
import { invariant, type ApiError } from '../../../errors.ts'

/*
 * What one transaction is about to write: a layer of memory over the store.
 *
 * A draft of a group holds the effects of every change set that was accepted so far. Each set works
 * on a draft of its own above that and joins it only as a whole, so a refused set leaves no trace.
 * Nothing reaches the engine before all sets are decided: `transaction` does not roll back what a
 * throw leaves half done (hardening L6).
 */

/** A row that is to be written, with its bytes. */
interface PreparedRow extends KeyedRow {
  readonly value: Uint8Array
}

/** Who holds a unique now; nobody, when it was given up. */
interface Holding {
  readonly unique: Digest
  readonly ordinal: number | undefined
}

export interface GroupDraft {
  readonly environment: IndexedEnvironment
  /** As stored. */
  readonly state: State
  nextOrdinal: number
  generation: number
  /** Rows as they will be; `undefined` for a removed one. */
  readonly rows: Map<number, PreparedRow | undefined>
  /** Rows as stored that some set asked for: the credential of many sets is one row. */
  readonly stored: Map<number, KeyedRow>
  readonly holdings: Map<string, Holding>
  /** Keys of uniques that the index leads to and that their rows have given up. */
  readonly freed: Set<string>
  readonly terms: PostingDraft
  readonly deadlines: PostingDraft
}

/** How one set changes a row: from what it was before the set to what it is after. */
interface RowMove {
  readonly from: KeyedRow | undefined
  readonly to: PreparedRow | undefined
}

interface SetDraft {
  readonly group: GroupDraft
  nextOrdinal: number
  generation: number
  readonly moves: Map<number, RowMove>
  /** Rows that get other parts and are what they were in everything else. */
  readonly resealed: Map<number, PreparedRow>
  readonly holdings: Map<string, Holding>
  /** Of the inserted and replaced rows, in the order of their changes. */
  readonly ordinals: number[]
}

export const makeGroupDraft = (environment: IndexedEnvironment, state: State): GroupDraft => ({
  environment,
  state,
  nextOrdinal: state.nextOrdinal,
  generation: state.generation,
  rows: new Map(),
  stored: new Map(),
  holdings: new Map(),
  freed: new Set(),
  terms: makePostingDraft(termsOfStore(environment)),
  deadlines: makePostingDraft(deadlinesOfStore(environment)),
})

const makeSetDraft = (group: GroupDraft): SetDraft => ({
  group,
  nextOrdinal: group.nextOrdinal,
  generation: group.generation,
  moves: new Map(),
  resealed: new Map(),
  holdings: new Map(),
  ordinals: [],
})

/** @throws ApiError `storage_corrupt` unless each unique of the row leads to it */
function readStoredRow({ environment, stored }: GroupDraft, ordinal: number): KeyedRow | undefined {
  const known = stored.get(ordinal)
  if (known !== undefined) return known
  const row = readHeldRow(environment, ordinal)
  if (row === undefined) return undefined
  const keyed = keyRow(row)
  stored.set(ordinal, keyed)
  return keyed
}

/** The row as this set sees it. @throws ApiError `storage_corrupt` */
function currentRow({ group, moves }: SetDraft, ordinal: number): KeyedRow | undefined {
  const move = moves.get(ordinal)
  if (move !== undefined) return move.to
  if (group.rows.has(ordinal)) return group.rows.get(ordinal)
  return readStoredRow(group, ordinal)
}

/** The ordinal of the row that holds a unique, as this set sees it. */
function currentHolder(draft: SetDraft, key: string, unique: Digest): number | undefined {
  const holding = draft.holdings.get(key) ?? draft.group.holdings.get(key)
  if (holding !== undefined) return holding.ordinal
  return readUnique(draft.group.environment, unique)?.ordinal
}

/** Replaces, adds or takes away a row within the set, and hands its uniques over. */
function moveRow(
  draft: SetDraft,
  ordinal: number,
  current: KeyedRow | undefined,
  to: PreparedRow | undefined,
): void {
  const earlier = draft.moves.get(ordinal)
  draft.moves.set(ordinal, { from: earlier === undefined ? current : earlier.from, to })
  const given = current?.row.uniques
  current?.uniqueKeys.forEach((key, i) => {
    const unique = given?.[i]
    if (unique !== undefined) draft.holdings.set(key, { unique, ordinal: undefined })
  })
  to?.uniqueKeys.forEach((key, i) => {
    const unique = to.row.uniques[i]
    if (unique !== undefined) draft.holdings.set(key, { unique, ordinal })
  })
}

/*
 * Changes, checked and encoded before they are queued, so that nothing about them can fail later.
 */

export type PreparedChange =
  | { readonly kind: 'insert'; readonly row: PreparedRow }
  | {
      readonly kind: 'replace'
      readonly row: PreparedRow
      readonly ordinal: number
      readonly ifVersion: number
    }
  | { readonly kind: 'reseal'; readonly row: PreparedRow; readonly ordinal: number }
  | { readonly kind: 'remove'; readonly ordinal: number; readonly ifVersion: number | undefined }
  | { readonly kind: 'require'; readonly ordinal: number; readonly ifVersion: number }
  | { readonly kind: 'bump' }

function prepareRow(row: NewRow): PreparedRow {
  const keyed = keyRow(row)
  checkRow(keyed)
  return { ...keyed, value: encodeRow(row) }
}

function prepareChange(change: Change): PreparedChange {
  checkChange(change)
  if ('insert' in change) return { kind: 'insert', row: prepareRow(change.insert) }
  if ('replace' in change) {
    const { ordinal, ifVersion } = change
    return { kind: 'replace', row: prepareRow(change.replace), ordinal, ifVersion }
  }
  if ('reseal' in change) {
    return { kind: 'reseal', row: prepareRow(change.reseal), ordinal: change.ordinal }
  }
  if ('remove' in change) {
    return { kind: 'remove', ordinal: change.remove, ifVersion: change.ifVersion }
  }
  if ('require' in change) {
    return { kind: 'require', ordinal: change.require, ifVersion: change.ifVersion }
  }
  return { kind: 'bump' }
}

/** @throws ApiError `internal` when a change breaks what `contract.ts` says of it */
export function prepareChanges(changes: readonly Change[]): PreparedChange[] {
  checkCount(changes)
  return changes.map(prepareChange)
}

/*
 * Change sets, decided one after the other against what the ones before have left.
 *
 * Each set is accepted or refused as a whole. Nothing here writes to the engine.
 * Source: contract.ts, `Change` and `WriteOutcome`.
 */

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

const hasHeaderOf = (a: KeyedRow, b: KeyedRow): boolean =>
  a.row.deadlineMs === b.row.deadlineMs &&
  a.uniqueKeys.join() === b.uniqueKeys.join() &&
  a.termKeys.join() === b.termKeys.join()

function resealRow(
  draft: SetDraft,
  { row, ordinal }: Extract<PreparedChange, { kind: 'reseal' }>,
  at: number,
): Refused | void {
  invariant(!draft.moves.has(ordinal), 'a row is not moved and resealed at once')
  const current = rowAt(draft, ordinal, row.row.version)
  if (current === undefined) return versionMoved(at)
  invariant(hasHeaderOf(current, row), 'a resealed row has the header that it had')
  draft.resealed.set(ordinal, row)
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
    case 'reseal':
      return resealRow(draft, change, at)
    case 'remove':
      return removeRow(draft, change, at)
    case 'require':
      return rowAt(draft, change.ordinal, change.ifVersion) ? undefined : versionMoved(at)
    case 'bump':
      draft.generation += 1
  }
}

/** Of a row before a set: what the index leads to it by. */
function freeUniques({ freed, state }: GroupDraft, ordinal: number, from: KeyedRow): void {
  // Nothing leads to a row that this group has inserted.
  if (ordinal >= state.foldingTo) return
  const { uniques } = from.row
  from.uniqueKeys.forEach((key, i) => {
    const unique = uniques[i]
    if (unique !== undefined && isFolded(state, unique, ordinal)) freed.add(key)
  })
}

/** Hands the effects of an accepted set to its group. Reads all before it changes anything. */
function joinGroup(draft: SetDraft): void {
  const { group, moves, resealed, holdings, nextOrdinal, generation } = draft
  const postings = [...moves].flatMap(([ordinal, { from, to }]) => [
    ...termPostings(group.terms, group.state, ordinal, from, to),
    ...deadlinePostings(group.deadlines, ordinal, from, to),
  ])
  for (const { draft, low, isIn } of postings) draft.places.set(low, isIn)
  for (const [ordinal, { from, to }] of moves) {
    if (from !== undefined) freeUniques(group, ordinal, from)
    group.rows.set(ordinal, to)
  }
  for (const [ordinal, row] of resealed) group.rows.set(ordinal, row)
  for (const [key, holding] of holdings) group.holdings.set(key, holding)
  group.nextOrdinal = nextOrdinal
  group.generation = generation
}

function decideSet(group: GroupDraft, changes: readonly PreparedChange[]): WriteOutcome {
  const draft = makeSetDraft(group)
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
