/**
 * Keys of the table of rows: the ordinal as u48. Row 258 has the key `00 00 00 00 01 02`.
 *
 * @module
 */
import { assertStored } from '../../corrupt.ts'
import { readU48, u48Bytes, writeU48 } from '../../whole-numbers.ts'

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
