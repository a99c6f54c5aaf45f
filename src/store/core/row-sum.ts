/**
 * The sum over all rows of a store, which each commit moves: MSet-Add-Hash, a multiset hash.
 *
 * Each row has a share of 32 bytes, as good as random without the key that it was made with; the
 * sum is that of all shares, modulo 2^256. It does not depend on the order of the rows, so a commit
 * subtracts the shares of the rows that it changes and adds those of their new states. Source:
 * Clarke et al., "Incremental Multiset Hash Functions", ASIACRYPT 2003, section 5.
 * @module
 */
import { byteAt, readU48, u48Bytes, writeU48 } from '../../lib/bytes.ts'
import { assertStored } from '../../lib/errors.ts'
import { sumBytes } from '../../limits/work-limits.ts'
import type { NewRow, SumSealer } from '../contract.ts'

export interface RowSum {
  /** 32 bytes, the most significant one first. */
  readonly total: Uint8Array
  /** Number of rows. */
  readonly rows: number
  /** Number of entries ever written to the log when the sum was kept. */
  readonly logNext: number
}

/** A row before and after a change; `undefined` if it is not there. */
export interface SummedChange {
  readonly from: NewRow | undefined
  readonly to: NewRow | undefined
}

/** @param sign 1 to add, -1 to subtract */
function addShare(total: Uint8Array, share: Uint8Array, sign: 1 | -1): void {
  let carry = 0
  for (let at = sumBytes - 1; at >= 0; at -= 1) {
    carry += byteAt(total, at) + sign * byteAt(share, at)
    total[at] = carry & 0xff
    // Rounds towards minus infinity, so that it borrows as well.
    carry >>= 8
  }
}

export const emptySum = (logNext: number): RowSum => ({
  total: new Uint8Array(sumBytes),
  rows: 0,
  logNext,
})

/** Returns the sum after changes, each of another row. */
export function sumAfter(
  { total: before, rows: count }: RowSum,
  changes: Iterable<SummedChange>,
  { share }: Pick<SumSealer, 'share'>,
  logNext: number,
): RowSum {
  const total = Uint8Array.from(before)
  let rows = count
  for (const { from, to } of changes) {
    if (from !== undefined) {
      addShare(total, share(from), -1)
      rows -= 1
    }
    if (to !== undefined) {
      addShare(total, share(to), 1)
      rows += 1
    }
  }
  return { total, rows, logNext }
}

/** Layout: total 32 · rows u48 · next entry of the log u48. */
export function encodeSum({ total, rows, logNext }: RowSum): Uint8Array {
  const bytes = new Uint8Array(sumBytes + 2 * u48Bytes)
  bytes.set(total)
  writeU48(bytes, sumBytes, rows)
  writeU48(bytes, sumBytes + u48Bytes, logNext)
  return bytes
}

/** @throws ApiError `storage_corrupt` */
export function decodeSum(bytes: Uint8Array): RowSum {
  assertStored(bytes.length === sumBytes + 2 * u48Bytes, 'a sum over all rows')
  return {
    total: bytes.slice(0, sumBytes),
    rows: readU48(bytes, sumBytes),
    logNext: readU48(bytes, sumBytes + u48Bytes),
  }
}
