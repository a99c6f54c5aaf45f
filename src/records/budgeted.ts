/**
 * Bounds and counts of one request: the memory for rows read for it, their opened values and its
 * answer; how many rows it tests, and how many tokens it shows.
 *
 * A request that reads much reserves memory first. Source: contract section 16 (`decision:`).
 * @module
 */
import type { Row } from '../store/contract.ts'

export interface Budget {
  /**
   * Reserves this many bytes in all, including those reserved before.
   * @throws ApiError `overloaded` if they are not free
   */
  readonly reserve: (bytes: number) => void
}

/** Number of tokens that an answer shows whole, masked, or without their data. */
export type ShownCounts = Record<'reveal' | 'mask' | 'redact', number>

/** Rows that a request has read so far to test what no term covers. */
export interface RowsTested {
  count: number
}

/** Members of a caller for one request; absent if nothing bounds or counts the read. */
export interface Budgeted {
  readonly rowsTested?: RowsTested | undefined
  readonly budget?: Budget | undefined
  readonly shownCounts?: ShownCounts | undefined
}

/** Counts a token, once it is known to be in the answer. */
export function noteShown(
  { shownCounts }: Budgeted,
  transform: keyof ShownCounts | undefined,
): void {
  if (shownCounts !== undefined && transform !== undefined) shownCounts[transform] += 1
}

const bytesOf = ({ parts }: Row): number => parts.reduce((bytes, part) => bytes + part.length, 0)

/** Reserves memory for rows. @throws ApiError `overloaded` if they do not all fit the budget */
export function reserveRows({ budget }: Budgeted, rows: readonly Row[]): void {
  budget?.reserve(rows.reduce((bytes, row) => bytes + bytesOf(row), 0))
}
