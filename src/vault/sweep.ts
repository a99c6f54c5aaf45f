/**
 * The sweep: removes rows whose deadline has passed from the disk.
 *
 * Nothing depends on its being prompt: an expired row is unreadable from that instant on
 * (`records/expiry.ts`). A removal names the version that was read, so a row that was extended
 * meanwhile stays. Source: contract section 10 (within 60 s while running, and of a start after any
 * downtime).
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
import type { EntriesOfRow } from './sweep-entries.ts'
import { removalOf } from '../records/read-row.ts'

/** Small, because other writes wait for each batch; larger the further the sweep lags behind. */
function batchRowsAfter(lateMs: number): number {
  if (lateMs >= sweepOverdueMs) return sweepOverdueBatchRows
  return lateMs >= sweepLateMs ? sweepLateBatchRows : sweepBatchRows
}

/**
 * Removes what is due now, in bounded batches. A row that cannot be removed holds up others only if
 * a whole batch of such rows comes first.
 * @param heard called with each row that was removed
 * @param entriesOf returns what is entered in the audit log with the removal of a row
 * @returns the number of rows removed
 * @throws the store's error for such a row, after the others
 */
export async function sweep(
  deps: Pick<Deps, 'store' | 'settled' | 'elapsedMs'>,
  heard: (row: Row) => void = () => {},
  entriesOf: EntriesOfRow = async () => [],
): Promise<number> {
  const startedMs = deps.elapsedMs()
  let removed = 0
  let overdueMs = 0
  for (;;) {
    const [atMs, nowMs] = [deps.elapsedMs(), deps.settled()]
    // Nothing could be removed during downtime, so it is no lag: `atMs` starts with the process.
    const rows = batchRowsAfter(Math.max(atMs - startedMs, Math.min(atMs, overdueMs)))
    const due = await deps.store.due(nowMs, rows)
    overdueMs = nowMs - (due[0]?.deadlineMs ?? nowMs)
    const removals = await Promise.allSettled(
      due.map(async row => {
        const { ok } = await deps.store.write([removalOf(row), ...(await entriesOf(row))])
        if (ok) heard(row)
        return ok
      }),
    )
    const count = removals.filter(each => each.status === 'fulfilled' && each.value).length
    removed += count
    // Without progress, the rest is left to the next sweep, which rereads rows that have moved.
    if (count > 0 && due.length === rows) continue
    for (const each of removals) if (each.status === 'rejected') throw each.reason
    return removed
  }
}

/** Returns the milliseconds for which the oldest expired row has been due; 0 if none is. */
export async function sweepLagMs({
  store,
  settled,
}: Pick<Deps, 'store' | 'settled'>): Promise<number> {
  const nowMs = settled()
  const [first] = await store.due(nowMs, 1)
  return first?.deadlineMs === undefined ? 0 : nowMs - first.deadlineMs
}
