/**
 * Values of the table of rows: everything of a row but its ordinal, which is the key.
 *
 * Layout, big endian: format u8 (1) · has deadline u8 (0, 1) · version u32 · deadline u48 (0 when
 * there is none) · counts of uniques, terms and parts u16 each · uniques, 32 bytes each · terms, 16
 * bytes each · parts, each as length u32 · bytes. A row at version 3 without deadline, with one
 * unique, two terms and one part begins `01 00 00000003 000000000000 0001 0002 0001`.
 * Every row has exactly one form: what decodes encodes to the same bytes.
 * @module
 */
import { invariant } from '../../errors.ts'
import {
  rowBytesMax,
  rowPartsMax,
  rowTermsMax,
  rowUniquesMax,
  termBytes,
  uniqueBytes,
} from '../../limits.ts'
import type { Digest, NewRow, Row } from '../contract.ts'
import { assertStored } from '../corrupt.ts'
import { readU32, readU48, writeU32, writeU48 } from './u48.ts'

const format = 1
const versionAt = 2
const deadlineAt = 6
const uniqueCountAt = 12
const termCountAt = 14
const partCountAt = 16
const headerBytes = 18
const lengthBytes = 4

function writeCount(target: Uint8Array, at: number, count: number): void {
  target[at] = count >>> 8
  target[at + 1] = count
}

const readCount = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)

function sizeOf({ uniques, terms, parts }: NewRow): number {
  const fixed = headerBytes + uniques.length * uniqueBytes + terms.length * termBytes
  return parts.reduce((size, part) => size + lengthBytes + part.length, fixed)
}

function writeHeader(target: Uint8Array, row: NewRow): void {
  target[0] = format
  target[1] = row.deadlineMs === undefined ? 0 : 1
  writeU32(target, versionAt, row.version)
  writeU48(target, deadlineAt, row.deadlineMs ?? 0)
  writeCount(target, uniqueCountAt, row.uniques.length)
  writeCount(target, termCountAt, row.terms.length)
  writeCount(target, partCountAt, row.parts.length)
}

/** @param row  within the bounds that `checkRow` states */
export function encodeRow(row: NewRow): Uint8Array {
  const value = new Uint8Array(sizeOf(row))
  writeHeader(value, row)
  let at = headerBytes
  for (const digests of [row.uniques, row.terms]) {
    for (const digest of digests) {
      value.set(digest, at)
      at += digest.length
    }
  }
  for (const part of row.parts) {
    writeU32(value, at, part.length)
    value.set(part, at + lengthBytes)
    at += lengthBytes + part.length
  }
  invariant(at === value.length, 'an encoded row fills its bytes')
  return value
}

/** Views of plain bytes, whatever kind of array the engine gave. */
const viewOf = (value: Uint8Array, at: number, length: number): Uint8Array =>
  new Uint8Array(value.buffer, value.byteOffset + at, length)

/** So few bytes are copied in less time than a view of them is made. */
function copyOf(value: Uint8Array, at: number, length: number): Uint8Array {
  const copy = new Uint8Array(length)
  for (let i = 0; i < length; i += 1) copy[i] = value[at + i] ?? 0
  return copy
}

function readDigests(value: Uint8Array, at: number, count: number, bytes: number): Digest[] {
  assertStored(at + count * bytes <= value.length, 'a row as long as its digests')
  const digests: Digest[] = []
  for (let i = 0; i < count; i += 1) digests.push(copyOf(value, at + i * bytes, bytes))
  return digests
}

function readParts(value: Uint8Array, from: number, count: number): Uint8Array[] {
  const parts: Uint8Array[] = []
  let at = from
  for (let i = 0; i < count; i += 1) {
    assertStored(at + lengthBytes <= value.length, 'a row as long as its parts')
    const length = readU32(value, at)
    at += lengthBytes
    assertStored(length <= rowBytesMax && at + length <= value.length, 'parts within their row')
    parts.push(viewOf(value, at, length))
    at += length
  }
  assertStored(at === value.length, 'nothing after the last part of a row')
  return parts
}

/** `undefined` stands for no deadline. */
function readDeadline(value: Uint8Array): number | undefined {
  const hasDeadline = value[1]
  const deadlineMs = readU48(value, deadlineAt)
  assertStored(
    hasDeadline === 1 || (hasDeadline === 0 && deadlineMs === 0),
    'a row that says whether it has a deadline',
  )
  return hasDeadline === 1 ? deadlineMs : undefined
}

/**
 * @param value  as read; the row's parts are views of it
 * @throws ApiError `storage_corrupt` when these are not the bytes of a row
 */
export function decodeRow(value: Uint8Array, ordinal: number): Row {
  assertStored(value.length >= headerBytes, 'a row with a header')
  assertStored(value[0] === format, 'a row of a known format')
  const version = readU32(value, versionAt)
  const uniqueCount = readCount(value, uniqueCountAt)
  const termCount = readCount(value, termCountAt)
  const partCount = readCount(value, partCountAt)
  assertStored(
    version > 0 &&
      uniqueCount > 0 &&
      uniqueCount <= rowUniquesMax &&
      termCount <= rowTermsMax &&
      partCount <= rowPartsMax,
    'a row within its bounds',
  )
  const termsAt = headerBytes + uniqueCount * uniqueBytes
  const uniques = readDigests(value, headerBytes, uniqueCount, uniqueBytes)
  const terms = readDigests(value, termsAt, termCount, termBytes)
  const parts = readParts(value, termsAt + termCount * termBytes, partCount)
  const deadlineMs = readDeadline(value)
  if (deadlineMs === undefined) return { ordinal, version, uniques, terms, parts }
  return { ordinal, version, uniques, terms, parts, deadlineMs }
}
