/**
 * The sweep: rows whose deadline has passed leave the disk.
 *
 * Nothing depends on it being prompt: an expired row is unreadable from its instant on. Removal
 * names the version that was read, so a row that was prolonged meanwhile stays.
 * Source: contract section 10 (within 60 s while running, and of a start after any downtime).
 * @module
 */
import type { Deps } from '../deps.ts'
import {
  sweepBatchRows,
  sweepLateBatchRows,
  sweepLateMs,
  sweepOverdueBatchRows,
  sweepOverdueMs,
} from '../limits/work-limits.ts'
import type { Row } from '../store/contract.ts'

/** Small ones, for others wait for each; larger ones the later it is: all must go in time. */
function batchRowsAfter(lateMs: number): number {
  if (lateMs >= sweepOverdueMs) return sweepOverdueBatchRows
  return lateMs >= sweepLateMs ? sweepLateBatchRows : sweepBatchRows
}

/**
 * Removes what is due now, in bounded batches. A row that cannot be removed keeps others from it
 * only where a whole batch of such comes first.
 * @param heard is told of each row that was removed
 * @returns how many rows were removed
 * @throws what the store said of such a row, after the others
 */
export async function sweep(
  deps: Pick<Deps, 'store' | 'settled' | 'elapsedMs'>,
  heard: (row: Row) => void = () => {},
): Promise<number> {
  const startedMs = deps.elapsedMs()
  let removed = 0
  let overdueMs = 0
  for (;;) {
    const [atMs, nowMs] = [deps.elapsedMs(), deps.settled()]
    // Downtime does not count, in which nothing could be removed: `atMs` began with the process.
    const rows = batchRowsAfter(Math.max(atMs - startedMs, Math.min(atMs, overdueMs)))
    const due = await deps.store.due(nowMs, rows)
    overdueMs = nowMs - (due[0]?.deadlineMs ?? nowMs)
    const removals = await Promise.allSettled(
      due.map(async row => {
        const change = { remove: row.ordinal, ifVersion: row.version }
        const { ok } = await deps.store.write([change])
        if (ok) heard(row)
        return ok
      }),
    )
    const count = removals.filter(each => each.status === 'fulfilled' && each.value).length
    removed += count
    // Without progress the rest is for the next sweep: rows that moved meanwhile are read again.
    if (count > 0 && due.length === rows) continue
    for (const each of removals) if (each.status === 'rejected') throw each.reason
    return removed
  }
}
