/**
 * The store contract: everything an engine must implement, and everything a feature may rely on.
 *
 * The store is blind and untrusted. It holds sealed bytes and keyed digests, never a plaintext, a
 * name, an id, a metadata value or an API key. A row, its uniques, its terms and its deadline
 * change in one atomic step. Source: docs/decisions.md, "The store is blind".
 * @module
 */
import { ApiError } from '../lib/errors.ts'
import type { MaybeLater } from '../lib/waiting.ts'

/** A keyed digest. 32 bytes for a unique, 16 for a term. */
export type Digest = Uint8Array

/** The clear part of a row, which the engine can read. The sealed parts authenticate all of it. */
export interface RowHeader {
  /** Each is held by at most one row at a time. The first one names the row for its whole life. */
  readonly uniques: readonly Digest[]
  /** Each is held by any number of rows; no duplicates within one row. */
  readonly terms: readonly Digest[]
  /** Unix milliseconds at which the row expires, even if it is removed later. */
  readonly deadlineMs?: number
}

export interface NewRow extends RowHeader {
  /** 1 on insert, the replaced version + 1 on replace. */
  readonly version: number
  readonly parts: readonly Uint8Array[]
}

/** A row whose last parts may not have been read. */
export interface Glimpse extends Row {
  /** Number of parts that the row has in the store; absent if all were read. */
  readonly partCount?: number
  /** Bytes of all of these; absent if all were read. */
  readonly partBytes?: number
}

export interface Row extends NewRow {
  /**
   * Assigned at insert, ascending, possibly with gaps; newest first means descending. Never reused,
   * unless a database loses the commits that had them, in a failover: none of these was answered.
   * If several writers commit at once, as in a database, a lower one may land after a higher.
   */
  readonly ordinal: number
  /** The header's stored bytes, in their one canonical form; the parts are bound to them. */
  readonly clear: Uint8Array
}

/**
 * Boolean algebra over digests. Negation is always relative, and digests must bound `ordinals` (in
 * an `all` with them, or in a `from` before them), so every query is bounded. `ordinals` are given
 * newest first, without duplicates; those without a row match nothing.
 */
export type Query =
  | { readonly term: Digest }
  | { readonly unique: Digest }
  | { readonly ordinals: readonly number[] }
  | { readonly all: readonly Query[] }
  | { readonly any: readonly Query[] }
  | { readonly from: Query; readonly except: Query }

export interface PageWindow {
  /** Rows to skip, newest first. */
  readonly offset: number
  readonly limit: number
  /** Only rows with an ordinal below this one; set when a cursor continues. */
  readonly before?: number
  /** Rows whose deadline is at or before this instant are left out, also from the total. */
  readonly nowMs: number
  /** No total is needed: the walk stops at the end of the window. */
  readonly uncounted?: true
}

export interface RowPage {
  readonly rows: readonly Row[]
  /** Number of rows that match the query in all, whatever the window shows; 0 if uncounted. */
  readonly total: number
}

/** Entries of the log that one write adds. */
export interface LogBundle {
  /** Hash of each entry, 32 bytes, in their order; at least one. */
  readonly leaves: readonly Uint8Array[]
  /** The entries themselves, which the store cannot read. */
  readonly sealed: Uint8Array
}

export interface StoredBundle extends LogBundle {
  /** Sequence of its first entry. Entries are numbered from 0, without gaps. */
  readonly first: number
}

/** An entry of the log that is not sealed yet: those of one commit are sealed together. */
export interface UnsealedEntry {
  /** Bytes that it takes, at most. */
  readonly bytes: number
  /**
   * Seals entries that have this same function.
   * @throws ApiError `unavailable` if that cannot be done: then nothing of their commit lands
   */
  readonly seal: (entries: readonly UnsealedEntry[]) => LogBundle
}

/** Sequence of the oldest entry that is kept, and the number of entries ever written. */
export interface LogRange {
  readonly from: number
  readonly next: number
}

/** A value kept beside the log, which follows from its entries: a hash, a checkpoint, a list. */
export interface DerivedValue {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/**
 * One step of a write. Its checks are optimistic concurrency control. `reseal` swaps the parts of
 * a row and keeps its header and version, so readers who have read the row notice nothing.
 * `require` writes nothing and holds only if that row is still at that version. `ifUnique` is the
 * first unique that the row must have: a database that lost commits may give their ordinals anew.
 * `bumpGeneration` invalidates every cache kept under the old generation. `log` appends a bundle,
 * and `entry` one entry, which come behind all bundles of the commit; they get their sequence as
 * the write lands. `pruneLog` removes all bundles that end below that sequence. `derived` is the
 * key of a value that is put, or removed if there is none; `requireDerived` that of one which
 * holds only if it is `ifValue` still, or absent without one.
 */
export type Change =
  | { readonly insert: NewRow }
  | { readonly replace: NewRow; readonly ordinal: number; readonly ifVersion: number }
  | { readonly reseal: NewRow; readonly ordinal: number }
  | {
      readonly remove: number
      readonly ifVersion?: number
      readonly ifUnique?: Digest | undefined
    }
  | {
      readonly require: number
      readonly ifVersion: number
      readonly ifUnique?: Digest | undefined
    }
  | { readonly bumpGeneration: true }
  | { readonly log: LogBundle }
  | { readonly entry: UnsealedEntry }
  | { readonly derived: Uint8Array; readonly value: Uint8Array | undefined }
  | { readonly requireDerived: Uint8Array; readonly ifValue: Uint8Array | undefined }
  | { readonly pruneLog: number }

/**
 * `at` is the index of the refused change. `unique_taken` names the digest and the row that holds
 * it; the ordinal means nothing if this same write would have inserted that row. `version_moved`
 * means that the row was replaced or removed since it was read, or the value beside the log.
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

/** Functions with which a store makes the sum over its rows, of keys that it never sees. */
export interface SumSealer {
  /**
   * Returns the share of a row in the sum: 32 bytes, valid until the next call, as good as random
   * without the key, and others for each state of a row.
   */
  share(row: NewRow): Uint8Array
  /** Returns the share of an entry of the log, by its hash; as good as that of a row. */
  entryShare(leaf: Uint8Array): Uint8Array
  seal(sum: Uint8Array): Uint8Array
  /** @returns `undefined` if these bytes were not sealed so */
  open(sealed: Uint8Array): Uint8Array | undefined
}

/** Thrown by every call of a store that was closed. */
export class StoreClosed extends ApiError {
  constructor() {
    super('unavailable', 'the store is closed')
  }
}

export interface Store {
  /**
   * Takes the same time for a missing row as for a present one, so refusals look alike. Synchronous
   * if the engine need not wait.
   * @throws ApiError `storage_corrupt` when the row and the unique that led to it disagree.
   */
  find(unique: Digest): MaybeLater<Row | undefined>
  /**
   * Like `find`, for deciding about the row: of a row larger than `glimpseBytes` it keeps only the
   * first `parts` that end within that size (always at least one), and sends no more over a
   * network. Memory kept for a hidden row must not grow with its content.
   * @throws ApiError `storage_corrupt` as `find`, but for the parts that are not read
   */
  glance(unique: Digest, parts: number): MaybeLater<Glimpse | undefined>
  /** Newest first, from one consistent state. @throws ApiError `storage_corrupt`, as `find`. */
  page(query: Query, window: PageWindow): Promise<RowPage>
  /**
   * Applies all changes or none. Resolves when they are on disk and visible to every later read.
   * `ordinals` has one entry for each insert and replace, in their order.
   * @throws ApiError `storage_full` for inserts and replaces while room is short
   */
  write(changes: readonly Change[]): Promise<WriteOutcome>
  /** Rows of any kind from that ordinal on, oldest first; entries that are not rows are skipped. */
  rowsFrom(ordinal: number, limit: number): Promise<readonly Row[]>
  /** Rows whose deadline is at or before `nowMs`, earliest first. */
  due(nowMs: number, limit: number): Promise<readonly Row[]>
  /**
   * Changes with every `bumpGeneration`, in every process that shares the store. Synchronous if the
   * engine need not wait, because every request asks.
   * @param isPatient true to wait as long as for a write; for the first read of one
   */
  generation(isPatient?: boolean): MaybeLater<number>
  /**
   * Grows with the rows, by one per few thousand, within 32 bits; a hint, which may lag. New
   * uniques carry it behind their first byte, so that neighbours are written together.
   */
  era(): number
  logRange(): MaybeLater<LogRange>
  /**
   * Bundles of the log: from the one that holds the sequence `from` on, oldest first; or those that
   * begin below `before`, newest first. They are fewer than `limit` where they are long, and none
   * only where there is none.
   * @throws ApiError `storage_corrupt` for bytes that are no bundle
   */
  bundles(
    range: { readonly from: number } | { readonly before: number },
    limit: number,
  ): Promise<readonly StoredBundle[]>
  /** Values beside the log with keys from `from` on and below `to`, in ascending order. */
  derived(from: Uint8Array, to: Uint8Array, limit: number): Promise<readonly DerivedValue[]>
  /**
   * Hands over what the sum over all rows is made with. A store without rows begins one, and one
   * that has it refuses changes of rows and entries of the log until then. An engine may keep none.
   */
  keepSum(sealer: SumSealer): void
  close(): Promise<void>
}
