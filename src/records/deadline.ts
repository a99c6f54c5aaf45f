/**
 * Whether a row is expired, whether or not the sweep has removed it.
 * @module
 */
import type { RowHeader } from '../store/contract.ts'

/** From the instant of its deadline on, removed or not (contract section 10). */
export const isExpired = ({ deadlineMs }: Pick<RowHeader, 'deadlineMs'>, nowMs: number): boolean =>
  deadlineMs !== undefined && deadlineMs <= nowMs
