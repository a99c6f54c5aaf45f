/**
 * Layouts: keys and values of the tables of rows, uniques, moves and deadlines.
 * @module
 */
import { crc32 } from 'node:zlib'
import { assertStored, invariant } from '../../errors.ts'
import { readU48, u48Bytes, writeU48, readU32, writeU32, makeSlabs } from '../../bytes.ts'
import { rowSlabBytes, deadlineMsMax } from '../../limits.ts'
import { rowBytesMax, rowPartsMax } from '../limits.ts'
import {
  clearHeaderBytes,
  readClearHeader,
  termsOf,
  uniquesOf,
  writeClearHeader,
  type ClearHeader,
} from '../rows.ts'
import type { NewRow, Row } from '../contract.ts'

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
 * Keys of the table of moves: their sequence number as u48, so that the oldest comes first.
 */

export const encodeMoveKey = (number: number): Uint8Array => encodeRowKey(number)

/** @throws ApiError `storage_corrupt` */
export const decodeMoveKey = (key: Uint8Array): number => decodeRowKey(key)

/*
 * Values of the tables of uniques and of moves: where a row is, and at which version.
 *
 * Layout: ordinal u48 · version u32. Row 258 at version 3 has `00 00 00 00 01 02 · 00 00 00 03`.
 * The version is there so that a row that is put back alone to an older state of itself is noticed.
 */

export interface RowVersion {
  readonly ordinal: number
  /** Of a move, 0 where the row was removed. */
  readonly version: number
}

const rowVersionBytes = u48Bytes + 4

export function encodeRowVersion({ ordinal, version }: RowVersion): Uint8Array {
  const value = new Uint8Array(rowVersionBytes)
  writeU48(value, 0, ordinal)
  writeU32(value, u48Bytes, version)
  return value
}

/** @throws ApiError `storage_corrupt` */
export function decodeRowVersion(value: Uint8Array): RowVersion {
  assertStored(value.length === rowVersionBytes, 'an ordinal and a version of 10 bytes')
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
 * Layout: format u8 (2) · count of parts u8 · CRC-32 of the clear header, u32 · the clear header
 * (`store/rows.ts`) · each part, as its length u32 and its bytes; all big endian. Every row has
 * exactly one form: what decodes encodes to the same bytes.
 *
 * The checksum is for headers that are read without their parts, which authenticate them: of the
 * newest rows a header is all that leads to them, and a flipped bit of it must not hide one.
 */

const format = 2
const partCountAt = 1
const checksumAt = 2
const headerAt = 6
const lengthBytes = 4

/** @param row  within the bounds that `checkRow` states */
export function encodeRow(row: NewRow): Uint8Array {
  const partsAt = headerAt + clearHeaderBytes(row)
  const size = row.parts.reduce((sum, part) => sum + lengthBytes + part.length, partsAt)
  const value = new Uint8Array(size)
  value[0] = format
  value[partCountAt] = row.parts.length
  writeClearHeader(value, headerAt, row)
  writeU32(value, checksumAt, crc32(value.subarray(headerAt, partsAt)))
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

/**
 * The header of a row, without a look at its parts: a view of what was given.
 * @throws ApiError `storage_corrupt` when these are not the bytes of a row
 */
export function findRowHeader(value: Uint8Array): ClearHeader {
  const [known, partCount = 0] = value
  assertStored(known === format && partCount <= rowPartsMax, 'a row of a known format')
  return readClearHeader(value.subarray(headerAt))
}

/** Whether that header is what was written there. */
export const isSoundHeader = (value: Uint8Array, { clear }: ClearHeader): boolean =>
  crc32(clear) === readU32(value, checksumAt)

const oldFormat = 1
const oldHeaderAt = 2

/**
 * A row of the format before this one: without the checksum.
 * @throws ApiError `storage_corrupt` when these are not the bytes of such a row
 */
export function upgradeRow(value: Uint8Array): { bytes: Uint8Array; header: ClearHeader } {
  assertStored(value[0] === oldFormat, 'a row of the format before')
  const bytes = new Uint8Array(value.length + headerAt - oldHeaderAt)
  bytes.set(value.subarray(oldHeaderAt), headerAt)
  bytes[0] = format
  bytes[partCountAt] = value[partCountAt] ?? 0
  const header = findRowHeader(bytes)
  writeU32(bytes, checksumAt, crc32(header.clear))
  readParts(bytes, headerAt + header.clear.length, bytes[partCountAt] ?? 0)
  return { bytes, header }
}

/** For views of rows: of the engine's own bytes, or of copies, each first one costs a buffer. */
const roomFor = makeSlabs(rowSlabBytes, Buffer.allocUnsafeSlow)

/**
 * @param value  as read; copied
 * @throws ApiError `storage_corrupt` when these are not the bytes of a row
 */
export function decodeRow(value: Uint8Array, ordinal: number): Row {
  const copy = roomFor(value.length)
  copy.set(value)
  const header = findRowHeader(copy)
  assertStored(isSoundHeader(copy, header), 'a header as it was written')
  const { clear, version, deadlineMs } = header
  const row = {
    ordinal,
    version,
    clear,
    parts: readParts(copy, headerAt + clear.length, copy[partCountAt] ?? 0),
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
