/**
 * When a row is over, whether the sweep has met it or not.
 *
 * @module
 */
import type { RowHeader } from '../store/contract.ts'

/** From the instant of its deadline a row is gone, removed or not (contract section 10). */
export const isExpired = ({ deadlineMs }: Pick<RowHeader, 'deadlineMs'>, nowMs: number): boolean =>
  deadlineMs !== undefined && deadlineMs <= nowMs
