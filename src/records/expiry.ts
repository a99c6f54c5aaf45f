/**
 * Expiry of rows, whether or not the sweep has removed them.
 * @module
 */
import type { RowHeader } from '../store/contract.ts'

/** From the instant of its deadline on, removed or not (contract section 10). */
export const isExpired = ({ deadlineMs }: Pick<RowHeader, 'deadlineMs'>, nowMs: number): boolean =>
  deadlineMs !== undefined && deadlineMs <= nowMs
