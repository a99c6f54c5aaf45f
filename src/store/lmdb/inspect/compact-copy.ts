/**
 * A copy of a store that holds its live entries and no other byte of it.
 *
 * The engine gives pages of removed rows to its list of free pages and leaves their bytes there,
 * and the gap of a page in use keeps what stood in it. So every entry of every table is put into a
 * new file, in the order of its keys. The engine's own way, a backup that leaves free pages out,
 * has made files that do not open (hardening L16). The store must have no writer meanwhile.
 * @module
 */
import type { RangeOptions } from 'lmdb'
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { compactBatchBytes } from '../../core/limits.ts'
import { equalDigests } from '../../core/queries.ts'
import { assertStored } from '../../../lib/errors.ts'
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
  takePut,
} from '../environment.ts'
import { ownerOnlyFolder } from '../../../lib/files.ts'
import { assertLivePages, assertMetaPages } from './damaged-pages.ts'

/** What the engine tells of a table; its types leave it open. */
interface TableStats {
  readonly pageSize: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

function bytesOf(table: LmdbTable): number {
  const stats = table.getStats() as TableStats
  const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = stats
  return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages)
}

type Tables = Pick<LmdbEnvironment, (typeof tableNames)[number]>

/** What the tables of a store take, within a few pages. */
export const usedBytesOf = (store: Tables): number =>
  tableNames.reduce((bytes, name) => bytes + bytesOf(store[name]), 0)

/** The number of the newest commit. */
export const lastCommitOf = ({ root }: LmdbEnvironment): number =>
  (root.getStats() as { readonly lastTxnId: number }).lastTxnId

type Entries = Iterator<{ readonly key: Uint8Array; readonly value: Uint8Array }>

const entriesOf = (table: LmdbTable, seen: RangeOptions = {}): Entries =>
  table.getRange(seen)[Symbol.iterator]()

/** @returns whether entries are left */
function copyBatch(entries: Entries, table: LmdbTable, count: ReportDone): boolean {
  for (let bytes = 0; bytes < compactBatchBytes;) {
    const next = entries.next()
    if (next.done === true) return false
    const { key, value } = next.value
    takePut({ table, key, value, isLast: true })
    bytes += key.length + value.length
    count(key.length + value.length)
  }
  return true
}

/**
 * @param seen  what is copied
 * @param count told the bytes of each entry
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

/** @returns how many bytes a copy of a store takes, within a few pages */
export const copyBytesOf = (path: string): Promise<number> => withEnvironment(path, usedBytesOf)

/** @throws ApiError `storage_corrupt` unless the copy is equal then */
function copyAll(
  from: Tables,
  to: LmdbEnvironment,
  seen: RangeOptions,
  progress: BeginProgress,
): void {
  const bytes = usedBytesOf(from)
  const copied = countBytes(progress(bytes, 'copying'))
  for (const name of tableNames) copyTable(from[name], to[name], to, seen, copied)
  const compared = countBytes(progress(bytes, 'comparing'))
  for (const name of tableNames) assertEqualTables(from[name], to[name], seen, compared)
}

/**
 * @param from the folder of a store that nobody writes to
 * @param to   a folder that does not exist; what is in it when this resolves is on disk
 * @throws ApiError `storage_corrupt` where the copy is not equal; the engine's or the system's own
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
 * Opens a store that others may write, once its pages were looked at: a reader keeps them as they
 * are until then.
 * @throws ApiError `storage_corrupt`, with nothing left open
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
 * As `copyStore`, of a store that others may write meanwhile: all as of one moment. Pages that they
 * free until it is done are not used again.
 * @throws as `copyStore`, with the engine opened only where its pages are sound
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
