/**
 * Walking over rows in steps, so that a long walk keeps no other request waiting.
 *
 * Each step sees the store as it then is: a row that comes during the walk mostly is not met, since
 * it stands above, but where others write to the same database it may be; one that leaves is met or
 * not.
 * @module
 */
import { invalid } from '../lib/errors.ts'
import { walkedRowsMax } from '../limits/limits.ts'
import { makeRoom, type Budgeted } from './budgeted.ts'
import type { Query, Row, Store } from '../store/contract.ts'

export interface Walk extends Budgeted {
  /** Only rows with an ordinal below this one; all where it is absent. */
  readonly before?: number | undefined
  /** Rows whose deadline is at or before this instant are left out. */
  readonly nowMs: number
  /** Rows that are read at once; who needs only a few of them asks for no more. */
  readonly stepRows: number
  /** Awaited after each row, when its reader has dealt with it: others may have their turn. */
  readonly pause: () => Promise<void> | undefined
}

/**
 * The rows of a query, newest first.
 * @throws ApiError `overloaded` where a step has no room, `invalid_request` instead of a walk that
 *   is longer than any answer is worth
 */
export async function* walkRows(
  store: Pick<Store, 'page'>,
  query: Query,
  { before: below, nowMs, stepRows, pause, room }: Walk,
): AsyncGenerator<Row> {
  let before = below
  for (let walked = 0; walked < walkedRowsMax; walked += stepRows) {
    const window = { offset: 0, limit: stepRows, nowMs, uncounted: true } as const
    const { rows } = await store.page(query, before === undefined ? window : { ...window, before })
    makeRoom({ room }, rows)
    for (const row of rows) {
      yield row
      await pause()
    }
    before = rows.at(-1)?.ordinal
    if (before === undefined || rows.length < stepRows) return
  }
  throw invalid('query', `expected a question for which at most ${walkedRowsMax} rows are read`)
}
