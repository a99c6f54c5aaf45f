/**
 * Reading rows, and checking that a row and the uniques that lead to it agree.
 *
 * Every read sees the state of the transaction it runs in, or else the newest one.
 * @module
 */
import type { Digest, Row } from '../contract.ts'
import { equalDigests } from '../check-query.ts'
import { assertStored } from '../corrupt.ts'
import type { Environment } from './environment.ts'
import { decodeRow } from './row-codec.ts'
import { encodeRowKey } from './row-key.ts'
import { decodeUniqueEntry, type UniqueEntry } from './unique-entry.ts'

/** @throws ApiError `storage_corrupt` */
export function readUnique({ uniques }: Environment, unique: Digest): UniqueEntry | undefined {
  const value = uniques.getBinary(unique)
  return value === undefined ? undefined : decodeUniqueEntry(value)
}

/** The row as it lies there, unchecked. @throws ApiError `storage_corrupt` when it is no row */
export function readRow({ rows }: Environment, ordinal: number): Row | undefined {
  const value = rows.getBinary(encodeRowKey(ordinal))
  return value === undefined ? undefined : decodeRow(value, ordinal)
}

/** @throws ApiError `storage_corrupt` unless that unique leads back to this very row */
export function assertHeld(environment: Environment, row: Row, unique: Digest): void {
  const entry = readUnique(environment, unique)
  assertStored(
    entry !== undefined && entry.ordinal === row.ordinal && entry.version === row.version,
    'a row that its unique leads to, at the same version',
  )
}

/** A row that an index leads to. @throws ApiError `storage_corrupt`, also when it is not there */
export function readIndexedRow(environment: Environment, ordinal: number): Row {
  const row = readRow(environment, ordinal)
  assertStored(row?.uniques[0] !== undefined, 'a row for every entry of an index')
  assertHeld(environment, row, row.uniques[0])
  return row
}

/**
 * @returns the one row that holds the unique
 * @throws ApiError `storage_corrupt` when the unique leads to a row that does not hold it, or that
 *   stands at another version
 */
export function findRow(environment: Environment, unique: Digest): Row | undefined {
  const entry = readUnique(environment, unique)
  if (entry === undefined) return undefined
  const row = readRow(environment, entry.ordinal)
  assertStored(row !== undefined, 'a row for every unique')
  assertStored(row.version === entry.version, 'a row at the version of its unique')
  assertStored(
    row.uniques.some(held => equalDigests(held, unique)),
    'a row that holds the unique that leads to it',
  )
  return row
}
