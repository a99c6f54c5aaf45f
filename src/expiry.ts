/**
 * The sweep: rows whose deadline has passed leave the disk.
 *
 * Nothing depends on it being prompt: an expired row is unreadable from its instant on. Removal
 * names the version that was read, so a row that was prolonged meanwhile stays.
 * Source: contract section 10 (within 60 s while running, and of a start after any downtime).
 * @module
 */
import type { Deps } from './deps.ts'
import {
  sweepBatchRows,
  sweepLateBatchRows,
  sweepLateMs,
  sweepOverdueBatchRows,
  sweepOverdueMs,
} from './limits.ts'

/** Small ones, for others wait for each; larger ones the longer it lasts: all must go in time. */
function batchRowsAfter(lastedMs: number): number {
  if (lastedMs >= sweepOverdueMs) return sweepOverdueBatchRows
  return lastedMs >= sweepLateMs ? sweepLateBatchRows : sweepBatchRows
}

/**
 * Removes what is due now, in bounded batches.
 * @returns how many rows were removed
 */
export async function sweep(deps: Pick<Deps, 'store' | 'settled' | 'elapsedMs'>): Promise<number> {
  const startedMs = deps.elapsedMs()
  let removed = 0
  for (;;) {
    const rows = batchRowsAfter(deps.elapsedMs() - startedMs)
    const due = await deps.store.due(deps.settled(), rows)
    const outcomes = await Promise.all(
      due.map(row => deps.store.write([{ remove: row.ordinal, ifVersion: row.version }])),
    )
    const gone = outcomes.filter(outcome => outcome.ok).length
    removed += gone
    // Without progress the rest is for the next sweep: rows that moved meanwhile are read again.
    if (gone === 0 || due.length < rows) return removed
  }
}
