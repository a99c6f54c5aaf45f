/**
 * Changes, checked and encoded before they are queued, so that they cannot fail later.
 * @module
 */
import type { Change, Digest, LogBundle, NewRow, UnsealedEntry } from '../contract.ts'
import { encodeRow } from './row-format.ts'
import { checkChange, checkCount, checkRow, keyOf, type KeyedRow } from './row.ts'

/** A row to be written, with its bytes. */
export interface PreparedRow extends KeyedRow {
  readonly value: Uint8Array
}

export type DerivedChange = Extract<Change, { derived: Uint8Array }>
export type RequiredDerived = Extract<Change, { requireDerived: Uint8Array }>

export type PreparedChange =
  | { readonly kind: 'insert'; readonly row: PreparedRow }
  | {
      readonly kind: 'replace'
      readonly row: PreparedRow
      readonly ordinal: number
      readonly ifVersion: number
    }
  | { readonly kind: 'reseal'; readonly row: PreparedRow; readonly ordinal: number }
  | {
      readonly kind: 'remove'
      readonly ordinal: number
      readonly ifVersion: number | undefined
      readonly uniqueKey: string | undefined
    }
  | {
      readonly kind: 'require'
      readonly ordinal: number
      readonly ifVersion: number
      readonly unique: Digest | undefined
      readonly uniqueKey: string | undefined
    }
  | { readonly kind: 'bump' }
  | { readonly kind: 'log'; readonly bundle: LogBundle }
  | { readonly kind: 'entry'; readonly entry: UnsealedEntry }
  | { readonly kind: 'derived'; readonly derived: DerivedChange }
  | { readonly kind: 'requireDerived'; readonly required: RequiredDerived }
  | { readonly kind: 'prune'; readonly below: number }

function prepareRow(row: NewRow): PreparedRow {
  checkRow(row)
  return { row, uniqueKeys: row.uniques.map(keyOf), value: encodeRow(row) }
}

function prepareChange(change: Change): PreparedChange {
  checkChange(change)
  if ('insert' in change) return { kind: 'insert', row: prepareRow(change.insert) }
  if ('replace' in change) {
    const { ordinal, ifVersion } = change
    return { kind: 'replace', row: prepareRow(change.replace), ordinal, ifVersion }
  }
  if ('reseal' in change) {
    return { kind: 'reseal', row: prepareRow(change.reseal), ordinal: change.ordinal }
  }
  if ('remove' in change) {
    const { remove: ordinal, ifVersion, ifUnique } = change
    return { kind: 'remove', ordinal, ifVersion, uniqueKey: ifUnique && keyOf(ifUnique) }
  }
  if ('require' in change) {
    const { require: ordinal, ifVersion, ifUnique: unique } = change
    return { kind: 'require', ordinal, ifVersion, unique, uniqueKey: unique && keyOf(unique) }
  }
  if ('log' in change) return { kind: 'log', bundle: change.log }
  if ('entry' in change) return { kind: 'entry', entry: change.entry }
  if ('derived' in change) return { kind: 'derived', derived: change }
  if ('requireDerived' in change) return { kind: 'requireDerived', required: change }
  if ('pruneLog' in change) return { kind: 'prune', below: change.pruneLog }
  return { kind: 'bump' }
}

/** @throws ApiError `internal` when a change breaks the rules of `contract.ts` */
export function prepareChanges(changes: readonly Change[]): PreparedChange[] {
  checkCount(changes)
  return changes.map(prepareChange)
}
