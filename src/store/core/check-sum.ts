/**
 * The check of the sum over all rows, by a process with the keys: it adds up those that are there.
 * @module
 */
import { equalBytes } from '../../lib/bytes.ts'
import type { NewRow, SumSealer } from '../contract.ts'
import type { StoredSum, SumPart, TakeLeaf } from '../operated.ts'
import { combineSums, emptySum, openSum, sumAfter, type RowSum } from './row-sum.ts'

export type SumFinding =
  | 'sum_missing'
  /** It, or a part of it, does not open: it was changed, or is of another vault or writer. */
  | 'sum_damaged'
  /** It was kept with another number of entries in the log than there are, in all its parts. */
  | 'sum_outdated'
  /** Other rows were added up than are there, or other states of them. */
  | 'rows_differ'

export interface SumCheck {
  /** Takes each row, in any order. */
  readonly add: (row: NewRow) => void
  /**
   * Returns what takes each entry of the log, in any order, where parts are kept.
   * @param parts those that are
   */
  readonly entriesFor: (parts: readonly SumPart[]) => TakeLeaf
  /** The sum over what was taken so far, without a number of entries. */
  readonly found: () => RowSum
  readonly end: (stored: StoredSum) => readonly SumFinding[]
}

/** @returns sequence of the first entry with a share; none has one if a part does not open */
export const firstShareOf = (parts: readonly SumPart[], sealer: SumSealer): number =>
  sumOf(parts, sealer)?.numbered ?? Infinity

/** @returns the sum of all parts; `undefined` if one does not open */
export function sumOf(parts: readonly SumPart[], sealer: SumSealer): RowSum | undefined {
  let sum = emptySum
  for (const { writer, sealed } of parts) {
    const part = openSum(sealer, sealed, writer)
    if (part === undefined) return undefined
    sum = combineSums(sum, part, 1)
  }
  return sum
}

export function makeSumCheck(sealer: SumSealer): SumCheck {
  let found = emptySum
  return {
    add(row) {
      found = sumAfter(found, { rows: [{ from: undefined, to: row }], entries: 0 }, sealer)
    },
    entriesFor(parts) {
      const from = firstShareOf(parts, sealer)
      return (sequence, leaf) => {
        if (sequence < from) return
        const leaves = { appended: [leaf], pruned: [] }
        found = sumAfter(found, { rows: [], entries: 0, leaves }, sealer)
      }
    },
    found: () => found,
    end({ parts, logNext }) {
      if (parts.length === 0) return ['sum_missing']
      const kept = sumOf(parts, sealer)
      if (kept === undefined) return ['sum_damaged']
      const areSame = found.rows === kept.rows && equalBytes(found.total, kept.total)
      return [
        ...(areSame ? [] : ['rows_differ' as const]),
        ...(kept.entries === logNext ? [] : ['sum_outdated' as const]),
      ]
    },
  }
}
