/**
 * Reading rows, and checking that a row and the uniques that lead to it agree.
 *
 * Every read sees the state of the transaction it runs in, or else the newest one. Who reads by
 * uniques has brought the tail to that state.
 * @module
 */
import { assertStored, attempt } from '../../errors.ts'
import { firstUniqueOf, holdsUnique } from '../rows.ts'
import type { Digest, Row } from '../contract.ts'
import type { Environment } from './environment.ts'
import { findInTail, type IndexedEnvironment } from './index/tail.ts'
import {
  decodeRow,
  decodeRowKey,
  decodeRowVersion,
  encodeRowKey,
  type RowVersion,
} from './layout.ts'

/** Of folded rows alone. @throws ApiError `storage_corrupt` */
export function readFoldedUnique({ uniques }: Environment, unique: Digest): RowVersion | undefined {
  const value = uniques.getBinary(unique)
  return value === undefined ? undefined : decodeRowVersion(value)
}

/**
 * Looks at both places always: where a row stands must not be told by the time that it takes.
 * @throws ApiError `storage_corrupt`
 */
export function readUnique(
  environment: IndexedEnvironment,
  unique: Digest,
): RowVersion | undefined {
  const folded = readFoldedUnique(environment, unique)
  return findInTail(environment, unique) ?? folded
}

/** The row as it lies there, unchecked. @throws ApiError `storage_corrupt` when it is no row */
export function readRow({ rows }: Environment, ordinal: number): Row | undefined {
  const value = rows.getBinary(encodeRowKey(ordinal))
  return value === undefined ? undefined : decodeRow(value, ordinal)
}

/** @throws ApiError `storage_corrupt` unless that unique leads back to this very row */
function assertHeld(environment: IndexedEnvironment, row: Row, unique: Digest): void {
  const entry = readUnique(environment, unique)
  assertStored(
    entry !== undefined && entry.ordinal === row.ordinal && entry.version === row.version,
    'a row that its unique leads to, at the same version',
  )
}

/** @throws ApiError `storage_corrupt` unless each unique of the row leads to it */
export function readHeldRow(environment: IndexedEnvironment, ordinal: number): Row | undefined {
  const row = readRow(environment, ordinal)
  if (row === undefined) return undefined
  for (const unique of row.uniques) assertHeld(environment, row, unique)
  return row
}

/** A row that an index leads to. @throws ApiError `storage_corrupt`, also when it is not there */
export function readIndexedRow(environment: IndexedEnvironment, ordinal: number): Row {
  const row = readRow(environment, ordinal)
  assertStored(row !== undefined, 'a row for every entry of an index')
  assertHeld(environment, row, firstUniqueOf(row))
  return row
}

/** What a row takes which is found by its unique: that was looked up already. */
function readInVain(environment: Environment, ordinal: number): void {
  const row = readRow(environment, ordinal)
  if (row !== undefined) holdsUnique(row, firstUniqueOf(row))
}

/**
 * @param standIn ordinal of a row that is read where nothing holds the unique: what is not there
 *   takes the time of what is, or refusals could be told apart by it (contract section 2)
 * @returns the one row that holds the unique
 * @throws ApiError `storage_corrupt` when the unique leads to a row that does not hold it, or that
 *   stands at another version
 */
export function findRow(
  environment: IndexedEnvironment,
  unique: Digest,
  standIn: number,
): Row | undefined {
  const entry = readUnique(environment, unique)
  if (entry === undefined) {
    readInVain(environment, standIn)
    return undefined
  }
  const row = readRow(environment, entry.ordinal)
  assertStored(row !== undefined, 'a row for every unique')
  assertStored(row.version === entry.version, 'a row at the version of its unique')
  assertStored(holdsUnique(row, unique), 'a row that holds the unique that leads to it')
  return row
}

/** All rows in the order of their ordinals; what is no row is passed over. */
export function* readEveryRow({ rows }: Environment): Generator<Row> {
  for (const { key, value } of rows.getRange()) {
    const row = attempt(() => decodeRow(value, decodeRowKey(key)))
    if (row !== undefined) yield row
  }
}
