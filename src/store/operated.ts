/**
 * Operations of a store for operators, beside those for features (`contract.ts`).
 * @module
 */
import type { BeginProgress } from '../lib/progress.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import type { Row, Store } from './contract.ts'

export type FindingKind =
  /** The format, the next ordinal or the generation is missing, or an ordinal would be reused. */
  | 'meta_damaged'
  /** Bytes that Coffer never writes. */
  | 'row_damaged'
  | 'unique_damaged'
  | 'term_damaged'
  | 'deadline_damaged'
  | 'move_damaged'
  /** The row has it, but the index does not. */
  | 'unique_missing'
  | 'term_missing'
  | 'deadline_missing'
  /** One of the newest rows is missing, or not at the version that it must have. */
  | 'move_missing'
  /** The index has it, but the row does not, or is missing. */
  | 'unique_orphan'
  | 'term_orphan'
  | 'deadline_orphan'
  | 'tail_orphan'
  /** The log has a gap, bytes that are no bundle, or another range than its bundles. */
  | 'log_damaged'

/** Plain data without any stored value. `ordinal` names the row, or the first row of a chunk. */
export interface StoreFinding {
  readonly kind: FindingKind
  readonly ordinal?: number
  /** First entry of a bundle of the log. */
  readonly sequence?: number
}

export interface StoreFigures {
  /** Writes by this process since it opened the store; some of them share a commit. */
  readonly writes: number
  /** Commits of all processes since the store was made; absent if the engine counts none. */
  readonly commits?: number
  /** Bytes of all stored data, without free space. */
  readonly usedBytes: number
  /** Ordinal of the next inserted row. */
  readonly nextOrdinal: number
  /** Bytes of the audit log among them, and of what follows from it. */
  readonly logBytes: number
  /** Rows that the index does not cover yet. */
  readonly waiting: number
}

/** The part of the sum over all rows that one writer keeps. */
export interface SumPart {
  /** Empty for the one sum of a folder. */
  readonly writer: Uint8Array
  readonly sealed: Uint8Array
}

/** The sum over all rows, as it is kept. */
export interface StoredSum {
  /** Empty if there is none. */
  readonly parts: readonly SumPart[]
  /** Number of entries ever written to the log; `undefined` if its range is damaged. */
  readonly logNext: number | undefined
}

/** Takes an entry of the log by its sequence and its hash. */
export type TakeLeaf = (sequence: number, leaf: Uint8Array) => void

export interface OperatedStore extends Store {
  /** Compares all rows with all indexes; empty if they agree. */
  integrity(progress?: BeginProgress): Promise<readonly StoreFinding[]>
  /**
   * Overwrites removed values wherever copies were left; looks once.
   * @returns number of pieces of them found; `undefined` if the engine cannot reach them
   */
  scrub(sealed: readonly Uint8Array[]): Promise<number | undefined>
  /** Numbers of the store, for metrics. */
  figures(): MaybeLater<StoreFigures>
  /**
   * Hands over all rows, oldest first, from one snapshot; `integrity` finds entries that are not
   * rows.
   * @param entriesFor where writers keep parts of the sum: returns what takes all entries of the
   *   log, whose shares are in it
   * @returns the sum over all rows, of the same snapshot
   */
  eachRow(
    take: (row: Row) => void,
    entriesFor: (parts: readonly SumPart[]) => TakeLeaf,
  ): MaybeLater<StoredSum>
}
