/**
 * Changes, checked and encoded before they are queued, so that nothing about them can fail later.
 *
 * @module
 */
import { checkChange, checkCount, checkRow, keyRow } from '../../check-changes.ts'
import type { Change, NewRow } from '../../contract.ts'
import type { PreparedRow } from './draft.ts'
import { encodeRow } from '../rows/row-codec.ts'

export type PreparedChange =
  | { readonly kind: 'insert'; readonly row: PreparedRow }
  | {
      readonly kind: 'replace'
      readonly row: PreparedRow
      readonly ordinal: number
      readonly ifVersion: number
    }
  | { readonly kind: 'remove'; readonly ordinal: number; readonly ifVersion: number | undefined }
  | { readonly kind: 'require'; readonly ordinal: number; readonly ifVersion: number }
  | { readonly kind: 'bump' }

function prepareRow(row: NewRow): PreparedRow {
  const keyed = keyRow(row)
  checkRow(keyed)
  return { ...keyed, value: encodeRow(row) }
}

function prepareChange(change: Change): PreparedChange {
  checkChange(change)
  if ('insert' in change) return { kind: 'insert', row: prepareRow(change.insert) }
  if ('replace' in change) {
    const { ordinal, ifVersion } = change
    return { kind: 'replace', row: prepareRow(change.replace), ordinal, ifVersion }
  }
  if ('remove' in change) {
    return { kind: 'remove', ordinal: change.remove, ifVersion: change.ifVersion }
  }
  if ('require' in change) {
    return { kind: 'require', ordinal: change.require, ifVersion: change.ifVersion }
  }
  return { kind: 'bump' }
}

/** @throws ApiError `internal` when a change breaks what `contract.ts` says of it */
export function prepareChanges(changes: readonly Change[]): PreparedChange[] {
  checkCount(changes)
  return changes.map(prepareChange)
}
