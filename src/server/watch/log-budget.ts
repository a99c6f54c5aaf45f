/**
 * The room that the audit log may take, and the share of it that was taken.
 * @module
 */
import { logBudgetWarnShare, mapBytes } from '../../limits/operation-limits.ts'
import type { Settings } from '../../settings/settings.ts'

/** In bytes; `undefined` for a log in a database that nothing bounds. */
export const logBudgetBytes = (
  { auditBytesMax }: Pick<Settings, 'auditBytesMax'>,
  isInDatabase: boolean,
): number | undefined => auditBytesMax ?? (isInDatabase ? undefined : mapBytes)

/** True from the share on of which an operator has to know. */
export const isLogNearlyFull = (bytes: number, budgetBytes: number | undefined): boolean =>
  budgetBytes !== undefined && bytes >= budgetBytes * logBudgetWarnShare
