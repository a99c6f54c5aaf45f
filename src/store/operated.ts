/**
 * What an operator may ask of the store, beside what a feature may (`contract.ts`).
 * @module
 */
import type { BeginProgress } from '../lib/progress.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import type { Row, Store } from './contract.ts'

export type FindingKind =
  /** Format, next ordinal or generation are missing, or an ordinal would be given twice. */
  | 'meta_damaged'
  /** Bytes that nothing of ours writes. */
  | 'row_damaged'
  | 'unique_damaged'
  | 'term_damaged'
  | 'deadline_damaged'
  | 'move_damaged'
  /** A row says so, and the index does not. */
  | 'unique_missing'
  | 'term_missing'
  | 'deadline_missing'
  /** One of the newest rows is not there, or not at the version that it must have. */
  | 'move_missing'
  /** The index says so, and the row does not, or is not there. */
  | 'unique_orphan'
  | 'term_orphan'
  | 'deadline_orphan'
  | 'tail_orphan'

/** Plain data without any stored value. `ordinal` is of the row, or of the first row of a chunk. */
export interface StoreFinding {
  readonly kind: FindingKind
  readonly ordinal?: number
}

export interface StoreFigures {
  /** By this process, since it opened the store: some of them share a commit. */
  readonly writes: number
  /** By all processes, since the store was made; absent where the engine does not count them. */
  readonly commits?: number
  /** Of all that is stored, without what is free. */
  readonly usedBytes: number
  /** Of the next inserted row. */
  readonly nextOrdinal: number
  /** Rows that the index does not lead to yet. */
  readonly waiting: number
}

export interface OperatedStore extends Store {
  /** Compares all rows with all indexes; empty when they agree. */
  integrity(progress?: BeginProgress): Promise<readonly StoreFinding[]>
  /**
   * Overwrites values that stand no more wherever they were left; looks once.
   * @returns how many pieces of them were found; `undefined` where that is out of its reach
   */
  scrub(sealed: readonly Uint8Array[]): Promise<number | undefined>
  /** Numbers of the store, for metrics. */
  figures(): MaybeLater<StoreFigures>
  /** All rows, oldest first, of one state. What is no row, `integrity` finds. */
  everyRow(): Iterable<Row> | AsyncIterable<Row>
}
