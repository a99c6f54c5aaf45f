/**
 * Walks over rows in steps, so that a long walk does not block other requests.
 *
 * Each step sees the store as it is then. A row added during the walk is usually not seen, since
 * its ordinal is higher, but may be in a database, where the lower one of two ordinals may land
 * last; a removed row may or may not be seen.
 * @module
 */
import type { ApiError } from '../lib/errors.ts'
import { walkedRowsMax } from '../limits/limits.ts'
import { reserveRows, type Budgeted } from './budgeted.ts'
import { assertAwaited } from './pace.ts'
import type { Query, Row, Store } from '../store/contract.ts'

export interface Walk extends Budgeted {
  /** Only rows with an ordinal below this one; all rows if absent. */
  readonly before?: number | undefined
  /** Rows with a deadline at or before this instant are left out. */
  readonly nowMs: number
  /** Rows read at once; a caller that needs few should ask for no more. */
  readonly stepRows: number
  /** Awaited after each row that was handled, so that others get their turn. */
  readonly pause: () => Promise<void> | undefined
  /** Makes the error of a walk that reaches `walkedRowsMax`: it says what asked for the walk. */
  readonly tooManyRows: () => ApiError
}

/**
 * Yields the rows of a query, newest first.
 * @throws ApiError `overloaded` if a step does not fit into the budget, `request_timeout` once
 *   nobody waits for the answer, `tooManyRows` if all walks of the request reach `walkedRowsMax`
 */
export async function* walkRows(
  store: Pick<Store, 'page'>,
  query: Query,
  walk: Walk,
): AsyncGenerator<Row> {
  const { nowMs, stepRows, pause, tooManyRows, budget, rowsTested = { count: 0 } } = walk
  let { before } = walk
  while (rowsTested.count < walkedRowsMax) {
    assertAwaited(walk)
    const window = { offset: 0, limit: stepRows, nowMs, uncounted: true } as const
    const { rows } = await store.page(query, before === undefined ? window : { ...window, before })
    rowsTested.count += rows.length
    reserveRows({ budget }, rows)
    for (const row of rows) {
      yield row
      await pause()
    }
    before = rows.at(-1)?.ordinal
    if (before === undefined || rows.length < stepRows) return
  }
  throw tooManyRows()
}
