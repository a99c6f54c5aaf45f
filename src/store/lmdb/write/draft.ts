/**
 * What one transaction is about to write: a layer of memory over the store.
 *
 * A draft of a group holds the effects of every change set that was accepted so far. Each set works
 * on a draft of its own above that and joins it only as a whole, so a refused set leaves no trace.
 * Nothing reaches the engine before all sets are decided: `transaction` does not roll back what a
 * throw leaves half done (hardening L6).
 * @module
 */
import { keyRow, type KeyedRow } from '../../check-changes.ts'
import type { Digest } from '../../contract.ts'
import type { Environment } from '../environment.ts'
import { readMeta, type Meta } from '../meta.ts'
import { openPostingDraft, type PostingDraft } from '../index/posting-draft.ts'
import { readHeldRow, readUnique } from '../rows/stored-rows.ts'

/** A row that is to be written, with its bytes. */
export interface PreparedRow extends KeyedRow {
  readonly value: Uint8Array
}

/** Who holds a unique now; nobody, when it was given up. */
interface Holding {
  readonly unique: Digest
  readonly ordinal: number | undefined
}

export interface GroupDraft {
  readonly environment: Environment
  /** As stored. */
  readonly meta: Meta
  nextOrdinal: number
  generation: number
  /** Rows as they will be; `undefined` for a removed one. */
  readonly rows: Map<number, PreparedRow | undefined>
  /** Rows as stored that some set asked for: the credential of many sets is one row. */
  readonly stored: Map<number, KeyedRow>
  readonly holdings: Map<string, Holding>
  readonly terms: PostingDraft
  readonly deadlines: PostingDraft
}

/** How one set changes a row: from what it was before the set to what it is after. */
interface RowMove {
  readonly from: KeyedRow | undefined
  readonly to: PreparedRow | undefined
}

export interface SetDraft {
  readonly group: GroupDraft
  nextOrdinal: number
  generation: number
  readonly moves: Map<number, RowMove>
  readonly holdings: Map<string, Holding>
  /** Of the inserted and replaced rows, in the order of their changes. */
  readonly ordinals: number[]
}

/** @throws ApiError `storage_corrupt` */
export function openGroupDraft(environment: Environment): GroupDraft {
  const meta = readMeta(environment)
  return {
    environment,
    meta,
    ...meta,
    rows: new Map(),
    stored: new Map(),
    holdings: new Map(),
    terms: openPostingDraft(environment.terms),
    deadlines: openPostingDraft(environment.deadlines),
  }
}

export const openSetDraft = (group: GroupDraft): SetDraft => ({
  group,
  nextOrdinal: group.nextOrdinal,
  generation: group.generation,
  moves: new Map(),
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
export function currentRow({ group, moves }: SetDraft, ordinal: number): KeyedRow | undefined {
  const move = moves.get(ordinal)
  if (move !== undefined) return move.to
  if (group.rows.has(ordinal)) return group.rows.get(ordinal)
  return readStoredRow(group, ordinal)
}

/** The ordinal of the row that holds a unique, as this set sees it. */
export function currentHolder(draft: SetDraft, key: string, unique: Digest): number | undefined {
  const holding = draft.holdings.get(key) ?? draft.group.holdings.get(key)
  if (holding !== undefined) return holding.ordinal
  return readUnique(draft.group.environment, unique)?.ordinal
}

/** Replaces, adds or takes away a row within the set, and hands its uniques over. */
export function moveRow(
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
