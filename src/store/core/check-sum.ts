/**
 * The check of the sum over all rows, by a process with the keys: it adds up those that are there.
 * @module
 */
import { bufferOf } from '../../lib/bytes.ts'
import { attempt } from '../../lib/errors.ts'
import type { NewRow, SumSealer } from '../contract.ts'
import type { StoredSum } from '../operated.ts'
import { decodeSum, emptySum, sumAfter } from './row-sum.ts'

export type SumFinding =
  | 'sum_missing'
  /** It does not open: it was changed, or is of another vault. */
  | 'sum_damaged'
  /** It was kept with another number of entries in the log than there are. */
  | 'sum_outdated'
  /** Other rows were added up than are there, or other states of them. */
  | 'rows_differ'

export interface SumCheck {
  /** Takes each row, in any order. */
  readonly add: (row: NewRow) => void
  readonly end: (stored: StoredSum) => readonly SumFinding[]
}

export function makeSumCheck(sealer: SumSealer): SumCheck {
  let found = emptySum(0)
  return {
    add(row) {
      found = sumAfter(found, [{ from: undefined, to: row }], sealer, 0)
    },
    end({ sealed, logNext }) {
      if (sealed === undefined) return ['sum_missing']
      const opened = sealer.open(sealed)
      const kept = opened && attempt(() => decodeSum(opened))
      if (kept === undefined) return ['sum_damaged']
      const areSame = found.rows === kept.rows && bufferOf(found.total).equals(kept.total)
      return [
        ...(areSame ? [] : ['rows_differ' as const]),
        ...(kept.logNext === logNext ? [] : ['sum_outdated' as const]),
      ]
    },
  }
}
