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

/** Small ones, for others wait for each; larger ones the longer rows are due: all go in time. */
function batchRowsAfter(dueForMs: number): number {
  if (dueForMs >= sweepOverdueMs) return sweepOverdueBatchRows
  return dueForMs >= sweepLateMs ? sweepLateBatchRows : sweepBatchRows
}

/**
 * Removes what is due now, in bounded batches.
 * @returns how many rows were removed
 */
export async function sweep(deps: Pick<Deps, 'store' | 'settled' | 'elapsedMs'>): Promise<number> {
  let dueSinceMs = deps.elapsedMs()
  let removed = 0
  for (;;) {
    const [atMs, nowMs] = [deps.elapsedMs(), deps.settled()]
    const rows = batchRowsAfter(atMs - dueSinceMs)
    const due = await deps.store.due(nowMs, rows)
    const overdueMs = nowMs - (due[0]?.deadlineMs ?? nowMs)
    // Nothing could be removed before the process began: downtime does not count.
    dueSinceMs = Math.max(0, Math.min(dueSinceMs, atMs - overdueMs))
    const outcomes = await Promise.all(
      due.map(row => deps.store.write([{ remove: row.ordinal, ifVersion: row.version }])),
    )
    const gone = outcomes.filter(outcome => outcome.ok).length
    removed += gone
    // Without progress the rest is for the next sweep: rows that moved meanwhile are read again.
    if (gone === 0 || due.length < rows) return removed
  }
}
