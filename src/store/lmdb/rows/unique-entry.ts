/**
 * Entries of the table of uniques: the digest is the key; the value is where its row is.
 *
 * Layout of the value: ordinal u48 · row version u32. Row 258 at version 3 has
 * `00 00 00 00 01 02 · 00 00 00 03`. The version is there so that a row that is put back alone to
 * an older state of itself is noticed.
 * @module
 */
import { assertStored } from '../../corrupt.ts'
import { readU32, readU48, u48Bytes, writeU32, writeU48 } from '../../whole-numbers.ts'

export interface UniqueEntry {
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
