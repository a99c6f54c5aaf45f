/**
 * Packs many digests or rows into one parameter, which the statement slices.
 * @module
 */
import { hexOf } from '../../lib/bytes.ts'
import type { Digest } from '../contract.ts'

/** Concatenates digests of one size. */
export function packDigests(digests: readonly Digest[], size: number): Uint8Array {
  const packed = new Uint8Array(digests.length * size)
  digests.forEach((digest, i) => packed.set(digest, i * size))
  return packed
}

/** Texts (`keyOf`) of digests packed by `packDigests`, without a view of each. */
export function keysIn(packed: Uint8Array, size: number): string[] {
  const hex = hexOf(packed)
  const keys: string[] = []
  for (let at = 0; at < hex.length; at += 2 * size) keys.push(hex.slice(at, at + 2 * size))
  return keys
}

/** SQL of the nth packed digest, counted from 1. */
export const nthOf = (packed: string, nth: string, size: number): string =>
  `substring(${packed}::bytea FROM ${nth}::int * ${size} - ${size - 1} FOR ${size})`

/** Values of various sizes, concatenated. */
interface Packed {
  readonly bytes: Uint8Array
  /** Offset of each, from 1 on as the database counts. */
  readonly at: readonly number[]
  readonly sizes: readonly number[]
}

export function packValues(values: readonly Uint8Array[]): Packed {
  const at: number[] = []
  let next = 1
  for (const { length } of values) {
    at.push(next)
    next += length
  }
  return { bytes: Buffer.concat(values), at, sizes: values.map(({ length }) => length) }
}
