/**
 * Prefixes of the table of deadlines: Unix milliseconds as u48, so that the earliest comes first.
 *
 * decision: rows with one deadline share chunks, as rows with one term do. A hundred thousand rows
 * that end at one instant are then a few entries to subtract from a page, not as many keys. Chunk 1
 * of the deadline 2030-01-01 has the key `01 b8 f9 73 18 00 · 00 00 00 01`.
 * @module
 */
import { deadlineMsMax } from '../../../limits.ts'
import { assertStored } from '../../corrupt.ts'
import { readU48, u48Bytes, writeU48 } from '../../whole-numbers.ts'

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
