/**
 * The part of the sum over all rows that one writer keeps (`store/core/row-sum.ts`): a row of its
 * own, moved by each of its groups in the group's transaction, so that no writer waits for another.
 *
 * The writer knows its part, and moves it on the condition that the database has just that one. If
 * a COMMIT was not answered, it may be that of before or the one that was sent. If it is neither,
 * the database was put back, or somebody changed it: then that part stays as it is, and the writer
 * goes on under another id.
 *
 * Entries of the log have shares as rows do: they date the parts. Counted by number alone, a part
 * that was taken over could be put back in place of as many entries of another one.
 * @module
 */
import { equalBytes } from '../../../lib/bytes.ts'
import type { LogBundle, SumSealer } from '../../contract.ts'
import { firstShareOf } from '../../core/check-sum.ts'
import type { GroupDraft } from '../../core/decide-change.ts'
import { sealSum, sumAfter, type CommitChange, type RowSum } from '../../core/row-sum.ts'
import type { SumPart } from '../../operated.ts'
import type { LockedRows } from './lock-rows.ts'

/** A sealed part before and after a commit. */
export interface PartMove {
  readonly before: Uint8Array
  readonly after: Uint8Array
}

export interface WriterPart {
  /** Returns the move by a commit that is about to be sent; `undefined` if it changes nothing. */
  readonly move: (change: SummedCommitChange) => PartMove | undefined
  /**
   * Learns which part the database has.
   * @returns false if it is neither the known one nor the one that was sent
   */
  readonly learn: (stored: Uint8Array | undefined) => boolean
  /** Returns the sequence of the first entry of the log that has a share in the sum. */
  readonly firstShare: (parts: readonly SumPart[]) => number
  /** True while it is not known which one the database has. */
  readonly isUnsure: () => boolean
}

export const isUnchanged = ({ rows, entries, leaves }: SummedCommitChange): boolean =>
  rows.length + entries + leaves.pruned.length === 0

/** @param sum as sealed for this writer in the database */
export function makeWriterPart(writer: Uint8Array, sealer: SumSealer, sum: RowSum): WriterPart {
  let known = { sum, sealed: sealSum(sealer, sum, writer) }
  let sent: typeof known | undefined
  return {
    move(change) {
      if (isUnchanged(change)) return undefined
      const next = sumAfter(known.sum, change, sealer)
      sent = { sum: next, sealed: sealSum(sealer, next, writer) }
      return { before: known.sealed, after: sent.sealed }
    },
    learn(stored) {
      const found = [sent, known].find(each => each && stored && equalBytes(each.sealed, stored))
      if (found === undefined) return false
      known = found
      sent = undefined
      return true
    },
    firstShare: parts => firstShareOf(parts, sealer),
    isUnsure: () => sent !== undefined,
  }
}

/** A change of which a writer keeps account with the hashes of entries. */
export type SummedCommitChange = Required<CommitChange>

/** @param pruned hashes of the entries that a group removes from the log */
export function logChangeOf(
  bundles: readonly LogBundle[],
  pruned: readonly Uint8Array[] = [],
): Pick<SummedCommitChange, 'entries' | 'leaves'> {
  const appended = bundles.flatMap(({ leaves }) => leaves)
  return { entries: appended.length, leaves: { appended, pruned } }
}

/** Returns what a group changes that has locked its rows. */
export const changedRowsOf = ({ rows }: GroupDraft, locked: LockedRows): CommitChange['rows'] =>
  [...rows].map(([ordinal, to]) => ({ from: locked.rows.get(ordinal)?.row, to: to?.row }))
