/**
 * Rows as bytes, for every engine.
 * @module
 */
import { crc32 } from 'node:zlib'
import { makeScratch, makeSlabs, readU32, writeU32 } from '../../lib/bytes.ts'
import { assertStored, attempt, invariant } from '../../lib/errors.ts'
import { headerScratchBytes, rowSlabBytes } from '../../limits/work-limits.ts'
import type { Glimpse, NewRow, Row } from '../contract.ts'
import { glimpseBytes, rowBytesMax, rowPartsMax } from './limits.ts'
import {
  clearHeaderBytes,
  readClearHeader,
  termsOf,
  uniquesOf,
  writeClearHeader,
  type ClearHeader,
} from './row.ts'

/*
 * Values of the table of rows, in every engine: everything of a row except its ordinal, its key.
 *
 * Layout: format u8 (2) · count of parts u8 · CRC-32 of the clear header, u32 · the clear header
 * (`store/core/row.ts`) · each part, as its length u32 and its bytes; all big endian. Every row has
 * exactly one form: decoded bytes encode to themselves.
 *
 * The checksum protects headers that are read without the parts that authenticate them: the newest
 * rows are found by their headers alone, and a flipped bit must not hide one.
 */

/** Version of this layout. */
const rowFormat = 2
const partCountAt = 1
const checksumAt = 2
export const headerAt = 6
const lengthBytes = 4

/** Cuts rows from shared buffers: allocating one for each row would cost more. */
const allocate = makeSlabs(rowSlabBytes, Buffer.allocUnsafeSlow)
const headerScratch = makeScratch(headerScratchBytes)

/** @param row  within the bounds that `checkRow` states */
export function encodeRow(row: NewRow): Uint8Array {
  const header = headerScratch(clearHeaderBytes(row))
  writeClearHeader(header, 0, row)
  const partsAt = headerAt + header.length
  const size = row.parts.reduce((sum, part) => sum + lengthBytes + part.length, partsAt)
  const value = allocate(size)
  value[0] = rowFormat
  value[partCountAt] = row.parts.length
  writeU32(value, checksumAt, crc32(header))
  value.set(header, headerAt)
  let at = partsAt
  for (const part of row.parts) {
    writeU32(value, at, part.length)
    value.set(part, at + lengthBytes)
    at += lengthBytes + part.length
  }
  invariant(at === value.length, 'an encoded row fills its bytes')
  return value
}

function readFirstParts(value: Uint8Array, from: number, count: number) {
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
  return { parts, end: at }
}

/** @throws ApiError `storage_corrupt` unless they fill the bytes */
function readParts(value: Uint8Array, from: number, count: number): Uint8Array[] {
  const { parts, end } = readFirstParts(value, from, count)
  assertStored(end === value.length, 'nothing after the last part of a row')
  return parts
}

/**
 * Returns a view of the header of a row, without reading its parts.
 * @throws ApiError `storage_corrupt` when these are not the bytes of a row
 */
export function findRowHeader(value: Uint8Array): ClearHeader {
  const [known, partCount = 0] = value
  assertStored(known === rowFormat && partCount <= rowPartsMax, 'a row of a known format')
  return readClearHeader(value, headerAt)
}

/** True if the header matches its checksum. */
export const isSoundHeader = (value: Uint8Array, { clear }: ClearHeader): boolean =>
  crc32(clear) === readU32(value, checksumAt)

function copyOf(value: Uint8Array): Uint8Array {
  const copy = allocate(value.length)
  copy.set(value)
  return copy
}

/** @param parts  reads the parts, given their start and their count */
function viewRow(
  copy: Uint8Array,
  ordinal: number,
  parts: (from: number, count: number) => Uint8Array[],
): Row {
  const header = findRowHeader(copy)
  assertStored(isSoundHeader(copy, header), 'a header as it was written')
  const { clear, version, deadlineMs } = header
  const row = {
    ordinal,
    version,
    clear,
    parts: parts(headerAt + clear.length, copy[partCountAt] ?? 0),
    // Decoded on demand: a reader of a token needs none of them.
    get uniques() {
      return uniquesOf(clear)
    },
    get terms() {
      return termsOf(clear)
    },
  }
  return deadlineMs === undefined ? row : Object.assign(row, { deadlineMs })
}

/**
 * @param value  as read; copied
 * @throws ApiError `storage_corrupt` when these are not the bytes of a row
 */
export function decodeRow(value: Uint8Array, ordinal: number): Row {
  const copy = copyOf(value)
  return viewRow(copy, ordinal, (from, count) => readParts(copy, from, count))
}

/** Extent of a row's glimpse. */
interface GlimpseExtent {
  readonly parts: number
  /** End of the last of them. */
  readonly end: number
}

/**
 * Counts the first parts that end within `glimpseBytes`, but at least one.
 * @param value  the row's first bytes, or all of them
 * @param parts  the most to count
 * @returns `undefined` if the first part does not fit in these bytes
 */
export function glimpseExtentOf(value: Uint8Array, parts: number): GlimpseExtent | undefined {
  const header = attempt(() => findRowHeader(value))
  if (header === undefined) return undefined
  let end = headerAt + header.clear.length
  let count = 0
  while (count < Math.min(parts, value[partCountAt] ?? 0)) {
    const valueAt = end + lengthBytes
    const next = valueAt <= value.length ? valueAt + readU32(value, end) : Infinity
    if (count > 0 && next > glimpseBytes) break
    if (next > value.length) return undefined
    end = next
    count += 1
  }
  return { parts: count, end }
}

/**
 * Decodes a short row whole, and a longer one as far as `glimpseExtentOf` says; copies no more.
 * @param value  as read: the whole row, or its first bytes
 * @param size  of the whole row, in bytes
 * @throws ApiError `storage_corrupt` when these are not the bytes of a row
 */
export function decodeGlimpse(
  value: Uint8Array,
  size: number,
  ordinal: number,
  parts: number,
): Glimpse {
  if (size <= glimpseBytes) return decodeRow(value, ordinal)
  const extent = glimpseExtentOf(value, parts)
  assertStored(extent !== undefined, 'a row as long as its parts')
  const copy = copyOf(value.subarray(0, extent.end))
  let partCount = 0
  const row = viewRow(copy, ordinal, (from, count) => {
    partCount = count
    return readFirstParts(copy, from, extent.parts).parts
  })
  const partBytes = size - headerAt - row.clear.length - lengthBytes * partCount
  return Object.assign(row, { partCount, partBytes })
}
