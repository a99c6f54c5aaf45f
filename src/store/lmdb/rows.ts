/**
 * Rows in their tables: keys, layouts, and looking a row up by its unique.
 * @module
 */
import { assertStored, invariant, attempt } from '../../errors.ts'
import { readU48, u48Bytes, writeU48, readU32, writeU32, makeSlabs } from '../../bytes.ts'
import { deadlineMsMax, rowBytesMax, rowPartsMax, rowSlabBytes } from '../../limits.ts'
import {
  clearHeaderBytes,
  readClearHeader,
  termsOf,
  uniquesOf,
  writeClearHeader,
  firstUniqueOf,
  holdsUnique,
} from '../clear-header.ts'
import type { NewRow, Row, Digest } from '../contract.ts'
import type { Environment } from './environment.ts'

/*
 * Keys of the table of rows: the ordinal as u48. Row 258 has the key `00 00 00 00 01 02`.
 */

export function encodeRowKey(ordinal: number): Uint8Array {
  const key = new Uint8Array(u48Bytes)
  writeU48(key, 0, ordinal)
  return key
}

/** @throws ApiError `storage_corrupt` */
export function decodeRowKey(key: Uint8Array): number {
  assertStored(key.length === u48Bytes, 'a row key of 6 bytes')
  return readU48(key, 0)
}

/*
 * Entries of the table of uniques: the digest is the key; the value is where its row is.
 *
 * Layout of the value: ordinal u48 · row version u32. Row 258 at version 3 has
 * `00 00 00 00 01 02 · 00 00 00 03`. The version is there so that a row that is put back alone to
 * an older state of itself is noticed.
 */

interface UniqueEntry {
  readonly ordinal: number
  readonly version: number
}

const entryBytes = u48Bytes + 4

export function encodeUniqueEntry({ ordinal, version }: UniqueEntry): Uint8Array {
  const value = new Uint8Array(entryBytes)
  writeU48(value, 0, ordinal)
  writeU32(value, u48Bytes, version)
  return value
}

/** @throws ApiError `storage_corrupt` */
export function decodeUniqueEntry(value: Uint8Array): UniqueEntry {
  assertStored(value.length === entryBytes, 'a unique entry of 10 bytes')
  return { ordinal: readU48(value, 0), version: readU32(value, u48Bytes) }
}

/*
 * Prefixes of the table of deadlines: Unix milliseconds as u48, so that the earliest comes first.
 *
 * decision: rows with one deadline share chunks, as rows with one term do. A hundred thousand rows
 * that end at one instant are then a few entries to subtract from a page, not as many keys. Chunk 1
 * of the deadline 2030-01-01 has the key `01 b8 f9 73 18 00 · 00 00 00 01`.
 */

export function encodeDeadline(deadlineMs: number): Uint8Array {
  const prefix = new Uint8Array(u48Bytes)
  writeU48(prefix, 0, deadlineMs)
  return prefix
}

/** @throws ApiError `storage_corrupt` */
export function decodeDeadline(prefix: Uint8Array): number {
  assertStored(prefix.length === u48Bytes, 'a deadline of 6 bytes')
  return readU48(prefix, 0)
}

/** All chunks whose deadline is at or before `nowMs`; `undefined` when there can be none. */
export const dueRange = (nowMs: number): { end?: Uint8Array } | undefined => {
  if (nowMs < 0) return undefined
  return nowMs >= deadlineMsMax ? {} : { end: encodeDeadline(nowMs + 1) }
}

/*
 * Values of the table of rows: everything of a row but its ordinal, which is the key.
 *
 * Layout: format u8 (1) · count of parts u8 · the clear header (`clear-header.ts`) · each part, as
 * its length u32 big endian and its bytes. Every row has exactly one form: what decodes encodes to
 * the same bytes.
 */

const format = 1
const headerAt = 2
const lengthBytes = 4

/** @param row  within the bounds that `checkRow` states */
export function encodeRow(row: NewRow): Uint8Array {
  const partsAt = headerAt + clearHeaderBytes(row)
  const size = row.parts.reduce((sum, part) => sum + lengthBytes + part.length, partsAt)
  const value = new Uint8Array(size)
  value[0] = format
  value[1] = row.parts.length
  writeClearHeader(value, headerAt, row)
  let at = partsAt
  for (const part of row.parts) {
    writeU32(value, at, part.length)
    value.set(part, at + lengthBytes)
    at += lengthBytes + part.length
  }
  invariant(at === value.length, 'an encoded row fills its bytes')
  return value
}

function readParts(value: Uint8Array, from: number, count: number): Uint8Array[] {
  const parts: Uint8Array[] = []
  let at = from
  while (parts.length < count) {
    assertStored(at + lengthBytes <= value.length, 'a row as long as its parts')
    const length = readU32(value, at)
    at += lengthBytes
    assertStored(length <= rowBytesMax && at + length <= value.length, 'parts within their row')
    parts.push(value.subarray(at, at + length))
    at += length
  }
  assertStored(at === value.length, 'nothing after the last part of a row')
  return parts
}

/** For views of rows: of the engine's own bytes, or of copies, each first one costs a buffer. */
const roomFor = makeSlabs(rowSlabBytes, Buffer.allocUnsafeSlow)

/**
 * @param value  as read; copied
 * @throws ApiError `storage_corrupt` when these are not the bytes of a row
 */
export function decodeRow(value: Uint8Array, ordinal: number): Row {
  const [known, partCount = 0] = value
  assertStored(known === format && partCount <= rowPartsMax, 'a row of a known format')
  const copy = roomFor(value.length)
  copy.set(value)
  const bytes = copy.subarray(headerAt)
  const { clear, version, deadlineMs } = readClearHeader(bytes)
  const row = {
    ordinal,
    version,
    clear,
    parts: readParts(bytes, clear.length, partCount),
    // Whoever reads a token asks for none of them.
    get uniques() {
      return uniquesOf(clear)
    },
    get terms() {
      return termsOf(clear)
    },
  }
  return deadlineMs === undefined ? row : Object.assign(row, { deadlineMs })
}

/*
 * Reading rows, and checking that a row and the uniques that lead to it agree.
 *
 * Every read sees the state of the transaction it runs in, or else the newest one.
 */

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
function assertHeld(environment: Environment, row: Row, unique: Digest): void {
  const entry = readUnique(environment, unique)
  assertStored(
    entry !== undefined && entry.ordinal === row.ordinal && entry.version === row.version,
    'a row that its unique leads to, at the same version',
  )
}

/** @throws ApiError `storage_corrupt` unless each unique of the row leads to it */
export function readHeldRow(environment: Environment, ordinal: number): Row | undefined {
  const row = readRow(environment, ordinal)
  if (row === undefined) return undefined
  for (const unique of row.uniques) assertHeld(environment, row, unique)
  return row
}

/** A row that an index leads to. @throws ApiError `storage_corrupt`, also when it is not there */
export function readIndexedRow(environment: Environment, ordinal: number): Row {
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
  environment: Environment,
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
