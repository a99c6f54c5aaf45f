/**
 * The sweep: rows whose deadline has passed leave the disk.
 *
 * Nothing depends on it being prompt: an expired row is unreadable from its instant on. Removal
 * names the version that was read, so a row that was prolonged meanwhile stays.
 * Source: contract section 10 (within 60 s while running, and of a start after any downtime).
 * @module
 */
import type { Deps } from './deps.ts'
import { sweepBatchRows } from './limits.ts'

/**
 * Removes what is due now, in bounded batches.
 * @returns how many rows were removed
 */
export async function sweep(deps: Pick<Deps, 'store' | 'settled'>): Promise<number> {
  let removed = 0
  for (;;) {
    const due = await deps.store.due(deps.settled(), sweepBatchRows)
    const outcomes = await Promise.all(
      due.map(row => deps.store.write([{ remove: row.ordinal, ifVersion: row.version }])),
    )
    const gone = outcomes.filter(outcome => outcome.ok).length
    removed += gone
    // Without progress the rest is for the next sweep: rows that moved meanwhile are read again.
    if (gone === 0 || due.length < sweepBatchRows) return removed
  }
}
