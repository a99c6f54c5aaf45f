/**
 * Keys of chunks of ordinals: `prefix · chunk number u32`. The prefix says what the ordinals have
 * in common: a term (16 bytes) or a deadline (6 bytes). Within one table all have one length.
 *
 * Ordinal 65,538 is number 2 of chunk 1; under the term `aa…aa` its chunk has the key
 * `aa…aa · 00 00 00 01`.
 * @module
 */
import { chunkOrdinals } from '../../../limits.ts'
import { assertStored } from '../../corrupt.ts'
import { readU32, writeU32 } from '../../whole-numbers.ts'

const chunkNumberBytes = 4
const lastChunk = 2 ** 32 - 1

export const chunkOf = (ordinal: number): number => Math.floor(ordinal / chunkOrdinals)

/** The place of an ordinal within its chunk. */
export const lowOf = (ordinal: number): number => ordinal % chunkOrdinals

export const ordinalOf = (chunk: number, low: number): number => chunk * chunkOrdinals + low

export function encodeChunkKey(prefix: Uint8Array, chunk: number): Uint8Array {
  const key = new Uint8Array(prefix.length + chunkNumberBytes)
  key.set(prefix)
  writeU32(key, prefix.length, chunk)
  return key
}

/** @throws ApiError `storage_corrupt` */
export function decodeChunkKey(key: Uint8Array): { prefix: Uint8Array; chunk: number } {
  const prefixBytes = key.length - chunkNumberBytes
  assertStored(prefixBytes > 0, 'a chunk key with a prefix')
  return { prefix: key.subarray(0, prefixBytes), chunk: readU32(key, prefixBytes) }
}

/** All chunks of one prefix, in ascending order. */
export const chunkRange = (prefix: Uint8Array) => ({
  start: encodeChunkKey(prefix, 0),
  end: encodeChunkKey(prefix, lastChunk),
  inclusiveEnd: true,
})
