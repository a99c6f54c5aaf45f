/**
 * Copies the live entries of a store, and no other byte of it.
 *
 * The engine moves pages of removed rows to its list of free pages and leaves their bytes there;
 * the gap of a page in use keeps old bytes too. So every entry of every table is put into a new
 * file, in key order. The engine's own backup without free pages has produced files that do not
 * open (hardening L16). The store must have no writer meanwhile.
 * @module
 */
import type { RangeOptions } from 'lmdb'
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { compactBatchBytes } from '../../core/limits.ts'
import { equalDigests } from '../../core/queries.ts'
import { assertStored, invariant } from '../../../lib/errors.ts'
import {
  countBytes,
  noProgress,
  type ReportDone,
  type BeginProgress,
} from '../../../lib/progress.ts'
import {
  openEnvironment,
  openNamed,
  openTables,
  tableNames,
  type LmdbEnvironment,
  type LmdbTable,
  type LmdbTables,
  usedBytesOf,
} from '../environment.ts'
import { applyPut } from '../put.ts'
import { ownerOnlyFolder } from '../../../lib/files.ts'
import { assertLivePages, assertMetaPages } from '../inspect/damaged-pages.ts'

type Entries = Iterator<{ readonly key: Uint8Array; readonly value: Uint8Array }>

const entriesOf = (table: LmdbTable, seen: RangeOptions = {}): Entries =>
  table.getRange(seen)[Symbol.iterator]()

/** @returns true if entries are left */
function copyBatch(entries: Entries, table: LmdbTable, count: ReportDone): boolean {
  for (let bytes = 0; bytes < compactBatchBytes;) {
    const next = entries.next()
    if (next.done === true) return false
    const { key, value } = next.value
    applyPut({ table, key, value, isLast: true })
    bytes += key.length + value.length
    count(key.length + value.length)
  }
  return true
}

/**
 * @param seen  range options of the copied entries
 * @param count receives the bytes of each entry
 */
function copyTable(
  from: LmdbTable,
  to: LmdbTable,
  { root }: LmdbEnvironment,
  seen: RangeOptions,
  count: ReportDone,
): void {
  const entries = entriesOf(from, seen)
  while (root.transactionSync(() => copyBatch(entries, to, count)));
}

/** @throws ApiError `storage_corrupt` unless both tables hold the same entries */
function assertEqualTables(
  a: LmdbTable,
  b: LmdbTable,
  seen: RangeOptions,
  count: ReportDone,
): void {
  const entries = entriesOf(b)
  for (const { key, value } of a.getRange(seen)) {
    const next = entries.next()
    const isEqual =
      next.done !== true &&
      equalDigests(key, next.value.key) &&
      equalDigests(value, next.value.value)
    assertStored(isEqual, 'a copy with the entries of its store')
    count(key.length + value.length)
  }
  assertStored(entries.next().done === true, 'a copy without any other entry')
}

export function syncFile(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

async function withEnvironment<T>(path: string, task: (of: LmdbEnvironment) => T): Promise<T> {
  const environment = openEnvironment(path)
  try {
    return await task(environment)
  } finally {
    await environment.root.close()
  }
}

/** @returns size in bytes of a copy of the store, within a few pages */
export const copyBytesOf = (path: string): Promise<number> => withEnvironment(path, usedBytesOf)

/** Returns each table with its copy, without those that an older version has not made. */
const pairsOf = (from: LmdbTables, to: LmdbTables): readonly (readonly [LmdbTable, LmdbTable])[] =>
  tableNames.flatMap(name => {
    const [table, copy] = [from[name], to[name]]
    if (table === undefined) return []
    invariant(copy !== undefined, 'a copy has all tables')
    return [[table, copy]]
  })

/** @throws ApiError `storage_corrupt` unless the finished copy is equal */
function copyAll(
  from: LmdbTables,
  to: LmdbEnvironment,
  seen: RangeOptions,
  progress: BeginProgress,
): void {
  const bytes = usedBytesOf(from)
  const pairs = pairsOf(from, to)
  const copied = countBytes(progress(bytes, 'copying'))
  for (const [table, copy] of pairs) copyTable(table, copy, to, seen, copied)
  const compared = countBytes(progress(bytes, 'comparing'))
  for (const [table, copy] of pairs) assertEqualTables(table, copy, seen, compared)
}

/**
 * @param from the folder of a store without writers
 * @param to   a folder that must not exist; once this resolves, its contents are on disk
 * @throws ApiError `storage_corrupt` if the copy is not equal; the engine's or the system's own
 *   error, such as of a full disk
 */
export async function copyStore(
  from: string,
  to: string,
  progress: BeginProgress = noProgress,
): Promise<void> {
  mkdirSync(to, { mode: ownerOnlyFolder })
  await withEnvironment(from, store =>
    withEnvironment(to, copy => copyAll(store, copy, {}, progress)),
  )
  syncFile(join(to, 'data.mdb'))
}

/**
 * Checks the pages of a store that others may write, then opens it; a reader keeps the pages
 * unchanged until then.
 * @throws ApiError `storage_corrupt`, and leaves nothing open
 */
async function openSound(from: string): Promise<LmdbEnvironment> {
  assertMetaPages(from)
  const { root } = openTables(from, [], true)
  try {
    const held = root.useReadTransaction()
    assertLivePages(from)
    const tables = openNamed(root, tableNames)
    held.done()
    root.resetReadTxn()
    return { root, ...tables }
  } catch (error) {
    await root.close()
    throw error
  }
}

/**
 * Like `copyStore`, for a store that others may write meanwhile: copies one snapshot. Pages freed
 * meanwhile are not reused until it is done.
 * @throws as `copyStore`; opens the engine only if the pages are sound
 */
export async function copySnapshot(
  from: string,
  to: string,
  progress: BeginProgress = noProgress,
): Promise<void> {
  mkdirSync(to, { mode: ownerOnlyFolder })
  const live = await openSound(from)
  const transaction = live.root.useReadTransaction()
  try {
    await withEnvironment(to, copy => copyAll(live, copy, { transaction }, progress))
  } finally {
    transaction.done()
    await live.root.close()
  }
  syncFile(join(to, 'data.mdb'))
}
