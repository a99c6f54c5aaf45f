/**
 * Layouts of the keys of all tables except `meta`, and of values that are an ordinal and a version.
 * The other values: `store-state.ts`, `core/row-format.ts`, `core/place-set.ts`.
 * @module
 */
import { readU32, readU48, u48Bytes, writeU32, writeU48 } from '../../lib/bytes.ts'
import { assertStored } from '../../lib/errors.ts'
import { deadlineMsMax, termBytes } from '../../limits/work-limits.ts'

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
 * Keys of the table of moves: the sequence number as u48, so that the oldest comes first.
 */

export const encodeMoveKey = (number: number): Uint8Array => encodeRowKey(number)

/** @throws ApiError `storage_corrupt` */
export const decodeMoveKey = (key: Uint8Array): number => decodeRowKey(key)

/*
 * Values of the tables of uniques and of moves: a row's ordinal and version.
 *
 * Layout: ordinal u48 · version u32. Row 258 at version 3 has `00 00 00 00 01 02 · 00 00 00 03`.
 * The version reveals a row that was restored alone to an older state of itself.
 */

export interface RowVersion {
  readonly ordinal: number
  /** In a move, 0 if the row was removed. */
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
 * Keys of the tables of terms and of deadlines: chunks of ordinals that share one of them.
 *
 * Keys of terms are `chunk number u32 · term`: the newest rows change one range of the table,
 * however large the others are. Keys of deadlines are `deadline · chunk number u32`, so due rows
 * come first. Ordinal 65,538 is number 2 of chunk 1; under the term `aa…aa` its chunk has the key
 * `00 00 00 01 · aa…aa`.
 */

const chunkNumberBytes = 4

export interface ChunkName {
  /** The term, or the deadline. */
  readonly shared: Uint8Array
  readonly chunk: number
}

export function encodeTermKey(term: Uint8Array, chunk: number): Uint8Array {
  const key = new Uint8Array(chunkNumberBytes + term.length)
  writeU32(key, 0, chunk)
  key.set(term, chunkNumberBytes)
  return key
}

/** @throws ApiError `storage_corrupt` */
export function decodeTermKey(key: Uint8Array): ChunkName {
  assertStored(key.length === chunkNumberBytes + termBytes, 'a key of a chunk and a term')
  return { shared: key.subarray(chunkNumberBytes), chunk: readU32(key, 0) }
}

export function encodeDeadlineKey(deadline: Uint8Array, chunk: number): Uint8Array {
  const key = new Uint8Array(deadline.length + chunkNumberBytes)
  key.set(deadline)
  writeU32(key, deadline.length, chunk)
  return key
}

/** @throws ApiError `storage_corrupt` */
export function decodeDeadlineKey(key: Uint8Array): ChunkName {
  assertStored(key.length === u48Bytes + chunkNumberBytes, 'a key of a deadline and a chunk')
  return { shared: key.subarray(0, u48Bytes), chunk: readU32(key, u48Bytes) }
}

/*
 * Deadlines in those keys: Unix milliseconds as u48, so that the earliest comes first.
 *
 * decision: rows with one deadline share chunks, as rows with one term do. A hundred thousand rows
 * that expire together are then a few entries to subtract from a page, not as many keys. Chunk 1 of
 * the deadline 2030-01-01 has the key `01 b8 f9 73 18 00 · 00 00 00 01`.
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

/**
 * Range of all chunks whose deadline is after an instant, and at or before `nowMs`; `undefined` if
 * there can be none.
 */
export function dueRange(
  nowMs: number,
  afterMs = -1,
): { start?: Uint8Array; end?: Uint8Array } | undefined {
  if (nowMs <= afterMs || afterMs >= deadlineMsMax) return undefined
  const start = { start: encodeDeadline(afterMs + 1) }
  return nowMs >= deadlineMsMax ? start : { ...start, end: encodeDeadline(nowMs + 1) }
}
