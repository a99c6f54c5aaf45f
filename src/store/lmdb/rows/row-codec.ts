/**
 * Values of the table of rows: everything of a row but its ordinal, which is the key.
 *
 * Layout: format u8 (1) · count of parts u8 · the clear header (`clear-header.ts`) · each part, as
 * its length u32 big endian and its bytes. Every row has exactly one form: what decodes encodes to
 * the same bytes.
 * @module
 */
import { openSlabs } from '../../../bytes.ts'
import { invariant } from '../../../errors.ts'
import { rowBytesMax, rowPartsMax, rowSlabBytes } from '../../../limits.ts'
import {
  clearHeaderBytes,
  readClearHeader,
  termsOf,
  uniquesOf,
  writeClearHeader,
} from '../../clear-header.ts'
import type { NewRow, Row } from '../../contract.ts'
import { assertStored } from '../../corrupt.ts'
import { readU32, writeU32 } from '../../whole-numbers.ts'

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
const roomFor = openSlabs(rowSlabBytes, Buffer.allocUnsafeSlow)

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
