/**
 * Drafts of a group over the tables of a store, with the changes of its indexes.
 * @module
 */
import type { Digest } from '../../contract.ts'
import { makeGroupDraft, type GroupDraft, type RowChange } from '../../core/decide-change.ts'
import { keyRow, type KeyedRow } from '../../core/row.ts'
import { isFolded, type StoreState } from '../store-state.ts'
import {
  deadlinePostings,
  deadlinesOfStore,
  makePostingDraft,
  termPostings,
  termsOfStore,
  type PostingDraft,
} from '../index/postings.ts'
import { type IndexedEnvironment } from '../index/tail.ts'
import { readHeldRow, readUnique } from '../index/read-rows.ts'

/*
 * Nothing reaches the engine before all sets are decided: `transaction` does not roll back after a
 * throw (hardening L6).
 */

export interface StoreDraft extends GroupDraft {
  readonly environment: IndexedEnvironment
  /** As stored. */
  readonly state: StoreState
  /** Keys of indexed uniques that their rows have given up. */
  readonly freed: Set<string>
  readonly terms: PostingDraft
  readonly deadlines: PostingDraft
}

/** Caches stored rows: the credential of many sets is one row, read once. */
function makeRowReader(environment: IndexedEnvironment) {
  const keyedRows = new Map<number, KeyedRow>()
  return (ordinal: number): KeyedRow | undefined => {
    const known = keyedRows.get(ordinal)
    if (known !== undefined) return known
    const row = readHeldRow(environment, ordinal)
    if (row === undefined) return undefined
    const keyed = keyRow(row)
    keyedRows.set(ordinal, keyed)
    return keyed
  }
}

type Indexes = Pick<StoreDraft, 'state' | 'freed' | 'terms' | 'deadlines'>

/** Frees the uniques by which the index leads to a row. */
function freeUniques({ freed, state }: Indexes, ordinal: number, from: KeyedRow): void {
  // The index does not have rows that this group inserted.
  if (ordinal >= state.foldingTo) return
  const { uniques } = from.row
  from.uniqueKeys.forEach((key, i) => {
    const unique = uniques[i]
    if (unique !== undefined && isFolded(state, unique, ordinal)) freed.add(key)
  })
}

/** Reads everything before it changes anything. */
function changeIndexes(indexes: Indexes, rowChanges: ReadonlyMap<number, RowChange>): void {
  const { state, terms, deadlines } = indexes
  const postings = [...rowChanges].flatMap(([ordinal, { from, to }]) => [
    ...termPostings(terms, state, ordinal, from, to),
    ...deadlinePostings(deadlines, ordinal, from, to),
  ])
  for (const { draft, low, isIn } of postings) draft.places.set(low, isIn)
  for (const [ordinal, { from }] of rowChanges) {
    if (from !== undefined) freeUniques(indexes, ordinal, from)
  }
}

export function makeStoreDraft(environment: IndexedEnvironment, state: StoreState): StoreDraft {
  const indexes = {
    state,
    freed: new Set<string>(),
    terms: makePostingDraft(termsOfStore(environment)),
    deadlines: makePostingDraft(deadlinesOfStore(environment)),
  }
  const holderOf = (unique: Digest) => readUnique(environment, unique)?.ordinal
  const stored = { rowAt: makeRowReader(environment), holderOf }
  const draft = makeGroupDraft(state, stored, rowChanges => changeIndexes(indexes, rowChanges))
  return Object.assign(draft, { environment, ...indexes })
}
