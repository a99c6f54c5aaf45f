/**
 * Changes that depend on a row as it was read: they name it by its first unique, since a database
 * that lost a commit may have given its ordinal to another row.
 * @module
 */
import type { Change, Row } from '../store/contract.ts'

/** Names a row, at the version that was read. */
export type ReadRow = Pick<Row, 'ordinal' | 'version' | 'uniques'>

export type Removal = Extract<Change, { remove: number }>
export type Requirement = Extract<Change, { require: number }>

/** Removes a row if it is as it was read. */
export const removalOf = ({ ordinal, version, uniques: [first] }: ReadRow): Removal => ({
  remove: ordinal,
  ifVersion: version,
  ifUnique: first,
})

/** Requires that a row is as it was read. */
export const unchanged = ({ ordinal, version, uniques: [first] }: ReadRow): Requirement => ({
  require: ordinal,
  ifVersion: version,
  ifUnique: first,
})
