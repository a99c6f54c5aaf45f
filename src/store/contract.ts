/**
 * The store contract: all that an engine must implement, and all that a feature may know of one.
 *
 * The store is blind and untrusted. It holds sealed bytes and keyed digests, never a plaintext, a
 * name, an id, a metadata value or an API key. One row, all its uniques, terms and its deadline
 * move together or not at all. Source: docs/decisions.md, "The store is blind".
 * @module
 */
import type { MaybeLater } from '../lib/waiting.ts'

/** A keyed digest. 32 bytes for a unique, 16 for a term. */
export type Digest = Uint8Array

/** What the engine may see of a row beside its sealed parts. All of it is authenticated by them. */
export interface RowHeader {
  /** Held by at most one row at a time. The first one names the row for its whole life. */
  readonly uniques: readonly Digest[]
  /** Held by any number of rows; no duplicates within one row. */
  readonly terms: readonly Digest[]
  /** Unix milliseconds from which the row is expired, even before it is removed. */
  readonly deadlineMs?: number
}

export interface NewRow extends RowHeader {
  /** 1 on insert, the replaced version + 1 on replace. */
  readonly version: number
  readonly parts: readonly Uint8Array[]
}

/** A row of which the last parts may not have been read. */
export interface Glimpse extends Row {
  /** How many parts the row has in the store; absent where all are here. */
  readonly partCount?: number
}

export interface Row extends NewRow {
  /**
   * Ever growing, given at insert, never used twice, perhaps with gaps: newest first is descending
   * order.
   */
  readonly ordinal: number
  /** The header as it lies in the store, in its one form: what its parts are bound to. */
  readonly clear: Uint8Array
}

/**
 * Boolean algebra over digests. Negation is always relative, and `ordinals` only narrow or widen
 * within what digests bound (an `all` with them, a `from` before them), so that every query is
 * bounded. `ordinals` are given newest first, each once; those without a row match nothing.
 */
export type Query =
  | { readonly term: Digest }
  | { readonly unique: Digest }
  | { readonly ordinals: readonly number[] }
  | { readonly all: readonly Query[] }
  | { readonly any: readonly Query[] }
  | { readonly from: Query; readonly except: Query }

export interface PageWindow {
  /** Rows to pass over, newest first. */
  readonly offset: number
  readonly limit: number
  /** Only rows with an ordinal below this one: where a cursor goes on. */
  readonly before?: number
  /** Rows whose deadline is at or before this instant are left out, also of the total. */
  readonly nowMs: number
  /** Nobody asks for the total: the walk ends with the window. */
  readonly uncounted?: true
}

export interface RowPage {
  readonly rows: readonly Row[]
  /** How many rows match the query in all, whatever the window shows; 0 when it is uncounted. */
  readonly total: number
}

/**
 * One step of a write. The checks are part of it: optimistic concurrency. `reseal` puts other parts
 * in the place of those of a row whose header stays as it is, its version too, so that nothing
 * moves for a reader who has read it. `require` writes nothing and holds only while that row stands
 * at that version; `bumpGeneration` ends every cache that is kept under the old generation.
 */
export type Change =
  | { readonly insert: NewRow }
  | { readonly replace: NewRow; readonly ordinal: number; readonly ifVersion: number }
  | { readonly reseal: NewRow; readonly ordinal: number }
  | { readonly remove: number; readonly ifVersion?: number }
  | { readonly require: number; readonly ifVersion: number }
  | { readonly bumpGeneration: true }

/**
 * `at` is the index of the refused change. `unique_taken` names the digest and the row that has it,
 * whose ordinal means nothing where this very write would have inserted it;
 * `version_moved` says that the row was replaced or removed since it was read.
 */
export type WriteOutcome =
  | { readonly ok: true; readonly ordinals: readonly number[] }
  | {
      readonly ok: false
      readonly at: number
      readonly reason: 'unique_taken'
      readonly unique: Digest
      readonly ordinal: number
    }
  | { readonly ok: false; readonly at: number; readonly reason: 'version_moved' }

export interface Store {
  /**
   * Takes as long for a row that is not there as for one that is: refusals must not be told apart.
   * At once, where the engine need not wait for it.
   * @throws ApiError `storage_corrupt` when the row and the unique that led to it disagree.
   */
  find(unique: Digest): MaybeLater<Row | undefined>
  /**
   * As `find`, for a verdict over the row: of one of more than `glimpseBytes` no more is kept than
   * its first `parts`, and of these no more than what ends within so many bytes, but always the
   * first one; nor is more sent over a network. What is kept of a hidden row must not grow with
   * what stands behind.
   * @throws ApiError `storage_corrupt` as `find`, but for the parts that are not read
   */
  glance(unique: Digest, parts: number): MaybeLater<Glimpse | undefined>
  /** Newest first, from one consistent state. @throws ApiError `storage_corrupt`, as `find`. */
  page(query: Query, window: PageWindow): Promise<RowPage>
  /**
   * All changes or none. Resolves when they are on disk and visible to every later read.
   * `ordinals` has one entry for each insert and replace, in their order.
   * @throws ApiError `storage_full` for inserts and replaces while room is short
   */
  write(changes: readonly Change[]): Promise<WriteOutcome>
  /** Rows from that ordinal on, oldest first, of any kind; what is no row is passed over. */
  rowsFrom(ordinal: number, limit: number): Promise<readonly Row[]>
  /** Rows whose deadline is at or before `nowMs`, earliest first. */
  due(nowMs: number, limit: number): Promise<readonly Row[]>
  /**
   * Moves with every `bumpGeneration`, in every process that shares the store. At once where the
   * engine need not wait for it: each request asks.
   * @param isPatient whether it is waited for as long as for a write, by the first read of one
   */
  generation(isPatient?: boolean): MaybeLater<number>
  /**
   * Grows with the rows, one for some thousands of them, within 32 bits; a hint, which may lag.
   * Uniques that follow each other are written together: new ones have it behind their first byte.
   */
  era(): number
  close(): Promise<void>
}
