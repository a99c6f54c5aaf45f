/**
 * Memory that one request needs: for rows read for it, their opened values, and the answer itself.
 *
 * A caller who reads much reserves it first. Source: contract section 16 (`decision:`).
 * @module
 */
import type { Row } from '../store/contract.ts'

export interface Budget {
  /**
   * Reserves this many bytes in all, including those reserved before.
   * @throws ApiError `overloaded` if they are not free
   */
  readonly needs: (bytes: number) => void
}

/** Number of tokens that an answer shows whole, masked, or without their data. */
export type ShownCounts = Record<'reveal' | 'mask' | 'redact', number>

/** Rows that a request has read so far to test what no term covers. */
export interface RowsTested {
  count: number
}

/** The caller, with the budget of its request; absent if nothing bounds or counts the read. */
export interface Budgeted {
  readonly rowsTested?: RowsTested | undefined
  readonly budget?: Budget | undefined
  readonly shownCounts?: ShownCounts | undefined
}

/** Call it once the token is known to be in the answer. */
export function noteShown(
  { shownCounts }: Budgeted,
  transform: keyof ShownCounts | undefined,
): void {
  if (shownCounts !== undefined && transform !== undefined) shownCounts[transform] += 1
}

const bytesOf = ({ parts }: Row): number => parts.reduce((bytes, part) => bytes + part.length, 0)

/** @throws ApiError `overloaded` if they do not all fit into the budget */
export function reserveRows({ budget }: Budgeted, rows: readonly Row[]): void {
  budget?.needs(rows.reduce((bytes, row) => bytes + bytesOf(row), 0))
}
