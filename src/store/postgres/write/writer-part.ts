/**
 * The part of the sum over all rows that one writer keeps (`store/core/row-sum.ts`): a row of its
 * own, moved by each of its groups in the group's transaction, so that no writer waits for another.
 *
 * The writer knows its part, and moves it on the condition that the database has just that one. If
 * a COMMIT was not answered, it may be that of before or the one that was sent. If it is neither,
 * the database was put back, or somebody changed it: then that part stays as it is, and the writer
 * goes on under another id.
 * @module
 */
import { equalBytes } from '../../../lib/bytes.ts'
import type { LogBundle, SumSealer } from '../../contract.ts'
import type { GroupDraft } from '../../core/decide-change.ts'
import { sealSum, sumAfter, type CommitChange, type RowSum } from '../../core/row-sum.ts'
import type { LockedRows } from './lock-rows.ts'

/** A sealed part before and after a commit. */
export interface PartMove {
  readonly before: Uint8Array
  readonly after: Uint8Array
}

export interface WriterPart {
  /** Returns the move by a commit that is about to be sent; `undefined` if it changes nothing. */
  readonly move: (change: CommitChange) => PartMove | undefined
  /**
   * Learns which part the database has.
   * @returns false if it is neither the known one nor the one that was sent
   */
  readonly learn: (stored: Uint8Array | undefined) => boolean
  /** True while it is not known which one the database has. */
  readonly isUnsure: () => boolean
}

export const isUnchanged = ({ rows, entries }: CommitChange): boolean =>
  rows.length === 0 && entries === 0

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
    isUnsure: () => sent !== undefined,
  }
}

export const countEntries = (bundles: readonly LogBundle[]): number =>
  bundles.reduce((sum, { leaves }) => sum + leaves.length, 0)

/** Returns what a group changes that has locked its rows. */
export const changeOf = (
  { rows }: GroupDraft,
  locked: LockedRows,
  bundles: readonly LogBundle[],
): CommitChange => ({
  rows: [...rows].map(([ordinal, to]) => ({ from: locked.rows.get(ordinal)?.row, to: to?.row })),
  entries: countEntries(bundles),
})
