/**
 * The sum over all rows of a store, which each commit moves: MSet-Add-Hash, a multiset hash.
 *
 * Each row has a share of 32 bytes, as good as random without the key that it was made with; the
 * sum is that of all shares, modulo 2^256. It does not depend on the order of the rows, so a commit
 * subtracts the shares of the rows that it changes and adds those of their new states. Nor does it
 * depend on who does so: writers that do not wait for each other keep a part each, and the sum is
 * that of the parts. Source: Clarke et al., "Incremental Multiset Hash Functions", ASIACRYPT 2003,
 * section 5.
 * @module
 */
import { byteAt, equalBytes, readU48, u48Bytes, writeU48 } from '../../lib/bytes.ts'
import { assertStored, attempt } from '../../lib/errors.ts'
import { sumBytes } from '../../limits/work-limits.ts'
import type { NewRow, SumSealer } from '../contract.ts'

export interface RowSum {
  /** 32 bytes, the most significant one first. */
  readonly total: Uint8Array
  /** Number of rows, modulo 2^48: a part may have removed more than it has inserted. */
  readonly rows: number
  /** Number of entries ever written to the log by the commits that it counts. */
  readonly entries: number
  /**
   * Number of those without a share in the total, all older than the others: the total of a folder
   * has none of entries, since one sum that moves with the log needs none.
   */
  readonly numbered: number
}

/** Changes of a commit. */
export interface CommitChange {
  readonly rows: readonly SummedChange[]
  /** Number of entries that it appends to the log. */
  readonly entries: number
  /**
   * Hashes of entries, which have shares where writers keep parts: else two parts with as many
   * entries could stand for each other.
   */
  readonly leaves?: ChangedLeaves
}

interface ChangedLeaves {
  readonly appended: readonly Uint8Array[]
  readonly pruned: readonly Uint8Array[]
}

/** A row before and after a change; `undefined` if it is not there. */
interface SummedChange {
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

export const emptySum: RowSum = {
  total: new Uint8Array(sumBytes),
  rows: 0,
  entries: 0,
  numbered: 0,
}

const rowsModulus = 2 ** (8 * u48Bytes)
const wrapped = (rows: number): number => (rows + rowsModulus) % rowsModulus

/** Returns the sum after changes, each of another row. */
export function sumAfter(
  { total: before, rows: count, entries, numbered }: RowSum,
  change: CommitChange,
  { share, entryShare }: Pick<SumSealer, 'share' | 'entryShare'>,
): RowSum {
  const total = Uint8Array.from(before)
  let rows = count
  for (const { from, to } of change.rows) {
    if (from !== undefined) {
      addShare(total, share(from), -1)
      rows -= 1
    }
    if (to !== undefined) {
      addShare(total, share(to), 1)
      rows += 1
    }
  }
  const { appended = [], pruned = [] } = change.leaves ?? {}
  for (const leaf of appended) addShare(total, entryShare(leaf), 1)
  for (const leaf of pruned) addShare(total, entryShare(leaf), -1)
  return { total, rows: wrapped(rows), entries: entries + change.entries, numbered }
}

/** @param sign 1 to add the second one to the first, -1 to subtract it */
export function combineSums(a: RowSum, b: RowSum, sign: 1 | -1): RowSum {
  const total = Uint8Array.from(a.total)
  addShare(total, b.total, sign)
  return {
    total,
    rows: wrapped(a.rows + sign * b.rows),
    entries: a.entries + sign * b.entries,
    numbered: a.numbered + sign * b.numbered,
  }
}

/** Sums are sealed with the writer that keeps them; the one sum of a folder has none. */
export const noWriter: Uint8Array = new Uint8Array()
/** Bytes of a writer's id. */
const writerBytes = 16

const entriesAt = sumBytes + u48Bytes
const numberedAt = entriesAt + u48Bytes

/**
 * Layout: total 32 · rows u48 · entries of the log u48 · numbered ones u48 · writer. Without a
 * writer, and in parts that an earlier coffer sealed, all are numbered: then nothing says so.
 */
function encodeSum({ total, rows, entries, numbered }: RowSum, writer: Uint8Array): Uint8Array {
  const writerAt = writer.length === 0 ? numberedAt : numberedAt + u48Bytes
  const bytes = new Uint8Array(writerAt + writer.length)
  bytes.set(total)
  writeU48(bytes, sumBytes, rows)
  writeU48(bytes, entriesAt, entries)
  if (writerAt > numberedAt) writeU48(bytes, numberedAt, numbered)
  bytes.set(writer, writerAt)
  return bytes
}

/** @throws ApiError `storage_corrupt` */
function decodeSum(bytes: Uint8Array, writer: Uint8Array): RowSum {
  const writerAt = bytes.length - writer.length
  const isTold = writerAt === numberedAt + u48Bytes
  // A longer one could pass for the end of a part that somebody else keeps.
  const isWriter = writer.length === 0 || writer.length === writerBytes
  assertStored(isWriter && (isTold || writerAt === numberedAt), 'a sum over all rows')
  assertStored(equalBytes(bytes.subarray(writerAt), writer), 'the sum of this writer')
  const entries = readU48(bytes, entriesAt)
  return {
    total: bytes.slice(0, sumBytes),
    rows: readU48(bytes, sumBytes),
    entries,
    numbered: isTold ? readU48(bytes, numberedAt) : entries,
  }
}

export const sealSum = ({ seal }: SumSealer, sum: RowSum, writer = noWriter): Uint8Array =>
  seal(encodeSum(sum, writer))

/** @returns `undefined` if these bytes are no sum of that writer */
export function openSum(
  { open }: SumSealer,
  sealed: Uint8Array,
  writer = noWriter,
): RowSum | undefined {
  const opened = open(sealed)
  return opened && attempt(() => decodeSum(opened, writer))
}
