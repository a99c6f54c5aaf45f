/**
 * Reads of rows, through the tail and the index, with the check that a row and its uniques agree.
 *
 * Every read sees the state of its transaction, or else the newest one. A caller that reads by
 * uniques has already brought the tail to that state.
 * @module
 */
import { assertStored, attempt } from '../../../lib/errors.ts'
import { firstUniqueOf, holdsUnique } from '../../core/row.ts'
import type { Digest, Glimpse, Row } from '../../contract.ts'
import { checkUnique } from '../../core/queries.ts'
import type { LmdbEnvironment } from '../environment.ts'
import { decodeRowKey, decodeRowVersion, encodeRowKey, type RowVersion } from '../layout.ts'
import { decodeGlimpse, decodeRow } from '../../core/row-format.ts'
import { type IndexedEnvironment, findInTail } from './tail.ts'

/** Reads folded rows only. @throws ApiError `storage_corrupt` */
export function readFoldedUnique(
  { uniques }: LmdbEnvironment,
  unique: Digest,
): RowVersion | undefined {
  const value = uniques.getBinary(unique)
  return value === undefined ? undefined : decodeRowVersion(value)
}

/**
 * Always looks in both places, so that timing does not reveal where a row is.
 * @throws ApiError `storage_corrupt`
 */
export function readUnique(
  environment: IndexedEnvironment,
  unique: Digest,
): RowVersion | undefined {
  const folded = readFoldedUnique(environment, unique)
  return findInTail(environment, unique) ?? folded
}

/**
 * The engine lends the bytes until its next read: copy at once, and no more than is kept. Asking
 * for bytes of one's own would copy a row once more, a long one twice.
 */
function lendRow({ rows }: LmdbEnvironment, ordinal: number): Uint8Array | undefined {
  const lent = rows.getBinaryFast(encodeRowKey(ordinal))
  // Its length is the row's, but its views cover the whole loan.
  return lent?.subarray(0, lent.length)
}

/** Returns the stored row, unchecked. @throws ApiError `storage_corrupt` when it is not a row */
export function readRow(environment: LmdbEnvironment, ordinal: number): Row | undefined {
  const lent = lendRow(environment, ordinal)
  return lent === undefined ? undefined : decodeRow(lent, ordinal)
}

/** @throws ApiError `storage_corrupt` unless that unique leads back to this same row */
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

/** Reads a row found in an index. @throws ApiError `storage_corrupt`, also if it is missing */
export function readIndexedRow(environment: IndexedEnvironment, ordinal: number): Row {
  const row = readRow(environment, ordinal)
  assertStored(row !== undefined, 'a row for every entry of an index')
  assertHeld(environment, row, firstUniqueOf(row))
  return row
}

type ReadOne<T extends Row> = (environment: LmdbEnvironment, ordinal: number) => T | undefined

const readGlimpse =
  (parts: number): ReadOne<Glimpse> =>
  (environment, ordinal) => {
    const lent = lendRow(environment, ordinal)
    return lent === undefined ? undefined : decodeGlimpse(lent, lent.length, ordinal, parts)
  }

/** Does the work of reading a found row, whose unique has already been looked up. */
function readInVain(environment: LmdbEnvironment, ordinal: number, read: ReadOne<Row>): void {
  const row = read(environment, ordinal)
  if (row !== undefined) holdsUnique(row, firstUniqueOf(row))
}

/**
 * @param standIn ordinal of a row to read if nothing holds the unique: a missing row must take as
 *   long as a present one, or refusals could be told apart (contract section 2)
 * @returns the one row that holds the unique
 * @throws ApiError `internal` when it is not a unique
 * @throws ApiError `storage_corrupt` when the unique leads to a row that does not hold it, or that
 *   is at another version
 */
function findBy<T extends Row>(
  environment: IndexedEnvironment,
  unique: Digest,
  standIn: number,
  read: ReadOne<T>,
): T | undefined {
  checkUnique(unique)
  const entry = readUnique(environment, unique)
  if (entry === undefined) {
    readInVain(environment, standIn, read)
    return undefined
  }
  const row = read(environment, entry.ordinal)
  assertStored(row !== undefined, 'a row for every unique')
  assertStored(row.version === entry.version, 'a row at the version of its unique')
  assertStored(holdsUnique(row, unique), 'a row that holds the unique that leads to it')
  return row
}

/** Like `findBy`, for the whole row. */
export const findRow = (
  environment: IndexedEnvironment,
  unique: Digest,
  standIn: number,
): Row | undefined => findBy(environment, unique, standIn, readRow)

/** Like `findBy`, for the first parts of a row. */
export const findGlimpse = (
  environment: IndexedEnvironment,
  unique: Digest,
  standIn: number,
  parts: number,
): Glimpse | undefined => findBy(environment, unique, standIn, readGlimpse(parts))

/** All rows from an ordinal on, in order; entries that are not rows are skipped. */
export function* readEveryRow({ rows }: LmdbEnvironment, from = 0): Generator<Row> {
  for (const { key, value } of rows.getRange({ start: encodeRowKey(from) })) {
    const row = attempt(() => decodeRow(value, decodeRowKey(key)))
    if (row !== undefined) yield row
  }
}
