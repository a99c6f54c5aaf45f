/**
 * Packs many digests or rows into one parameter, which the statement slices.
 * @module
 */
import { hexOf } from '../../lib/bytes.ts'
import { termBytes, uniqueBytes } from '../../limits/work-limits.ts'
import type { Digest, NewRow } from '../contract.ts'
import { headerAt } from '../core/row-format.ts'
import { termsAt, uniquesAt } from '../core/row.ts'

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

/** Counted from 1, as the database does. */
const firstUniqueAt = headerAt + uniquesAt + 1

/** SQL of the first unique within the bytes of a row; other bytes if it has none. */
export const firstUniqueText = `substring(value FROM ${firstUniqueAt} FOR ${uniqueBytes})`

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

/** Rows, concatenated, and where their digests lie in the bytes. */
interface PackedRows extends Packed {
  readonly termOffsets: readonly number[]
  readonly termSizes: readonly number[]
  /** For each unique, the number of its row, from 1 on. */
  readonly uniqueRows: readonly number[]
  readonly uniqueOffsets: readonly number[]
}

/** @param rows each with its bytes (`encodeRow`) */
export function packRows(
  rows: readonly { readonly row: NewRow; readonly value: Uint8Array }[],
): PackedRows {
  const packed = packValues(rows.map(({ value }) => value))
  const headersAt = packed.at.map(each => each + headerAt)
  const uniques = rows.flatMap(({ row }, i) =>
    row.uniques.map((_, n) => ({
      number: i + 1,
      at: (headersAt[i] ?? 0) + uniquesAt + n * uniqueBytes,
    })),
  )
  return {
    ...packed,
    termOffsets: rows.map(({ row }, i) => (headersAt[i] ?? 0) + termsAt(row)),
    termSizes: rows.map(({ row }) => row.terms.length * termBytes),
    uniqueRows: uniques.map(({ number }) => number),
    uniqueOffsets: uniques.map(({ at }) => at),
  }
}
