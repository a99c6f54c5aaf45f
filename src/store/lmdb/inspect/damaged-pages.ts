/**
 * Damage of the data file: pages with no owner or several, and the lists of free pages.
 * @module
 */
import {
  ownPages,
  type Span,
  type PageWalk,
  treeDepthMax,
  walkTree,
  type TreeShape,
} from './page-tree.ts'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { utf8Text } from '../../../lib/bytes.ts'
import { findingsMax, pagesCheckedBytesMax } from '../../core/limits.ts'
import { ApiError, attempt } from '../../../lib/errors.ts'
import { noProgress, type BeginProgress } from '../../../lib/progress.ts'
import { laterTableNames, tableNames } from '../environment.ts'
import {
  decodeTreeRecord,
  readMetaPages,
  treeRecordBytes,
  type MetaPage,
  type MetaPages,
  type TreeRecord,
  makePageBuffer,
  openDataFile,
  readU64,
  type DataFile,
} from './page-file.ts'

/*
 * Lists of free pages, as the engine keeps them: one for each transaction that freed pages.
 *
 * Layout: count i64, then for each page its number i64. 0 is a gap; a negative number is the length
 * of a run, whose first page follows. Pages 7, 8, 9 and 12 may be `3 · 12 · -3 · 7`.
 */

const entryBytes = 8

/** Free pages behind the end of the file, which are only counted. */
interface FreePages {
  behindEnd: number
}

const readI64 = (view: DataView, at: number): number =>
  view.getUint32(at, true) + view.getInt32(at + 4, true) * 2 ** 32

function takeRun(walk: PageWalk, free: FreePages, first: number, count: number): boolean {
  const { owners, meta } = walk
  if (first + count > meta.lastPage + 1) return false
  const inFile = Math.max(0, Math.min(count, owners.length - first))
  free.behindEnd += count - inFile
  return inFile === 0 || ownPages(walk, first, inFile)
}

/** @returns true if it is a list of pages that nothing else owns */
export function takeFreeList(walk: PageWalk, free: FreePages, { buffer, from, to }: Span): boolean {
  const entries = (to - from) / entryBytes - 1
  if (!Number.isInteger(entries) || entries < 0) return false
  const count = readI64(buffer.view, from)
  if (count < 0 || count > entries) return false
  let run = 1
  for (let index = 1; index <= count; index += 1) {
    const entry = readI64(buffer.view, from + index * entryBytes)
    if (entry < 0) run = -entry
    if (entry > 0) {
      if (!takeRun(walk, free, entry, run)) return false
      run = 1
    }
  }
  // A trailing length without a page would describe whatever lies behind the list.
  return run === 1
}

/*
 * The walk over the whole file: the tree of free pages, the tree of tables, and every table.
 *
 * A page is free, or belongs to one tree, or neither: the engine sometimes forgets a page, which
 * only wastes its space. A page both free and in a tree would be overwritten. The walk takes one
 * byte of memory per page. Source: hardening D8, L32.
 */

/** Flag of a node whose data is the record of a tree. */
const holdsTree = 2
const numberBytes = 8

/** Compares as the engine does for plain keys: bytes first, then lengths. */
function compareBytes(a: Span, b: Span): number {
  const length = Math.min(a.to - a.from, b.to - b.from)
  for (let i = 0; i < length; i += 1) {
    const difference = (a.buffer.bytes[a.from + i] ?? 0) - (b.buffer.bytes[b.from + i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.to - a.from - (b.to - b.from)
}

const isNumber = ({ from, to }: Span): boolean => to - from === numberBytes

/** Keys that are not numbers have no order. */
const compareNumbers = (a: Span, b: Span): number =>
  isNumber(a) && isNumber(b) ? readU64(a.buffer.view, a.from) - readU64(b.buffer.view, b.from) : 0

const tableShape = (levels: number): TreeShape => ({
  compare: compareBytes,
  nodeFlags: 0,
  levels,
  accepts: () => true,
})

/** @returns number of free pages behind the end of the file */
function walkFreePages(walk: PageWalk): number {
  const free: FreePages = { behindEnd: 0 }
  const { meta } = walk
  const isWhole = walkTree(walk, meta.freePages, {
    compare: compareNumbers,
    nodeFlags: 0,
    levels: treeDepthMax,
    accepts: (key, value) =>
      isNumber(key) &&
      readU64(key.buffer.view, key.from) <= meta.transaction &&
      takeFreeList(walk, free, value),
  })
  if (!isWhole) walk.report(0)
  return free.behindEnd
}

function readTables(walk: PageWalk): ReadonlyMap<string, TreeRecord> {
  const records = new Map<string, TreeRecord>()
  const isWhole = walkTree(walk, walk.meta.tables, {
    compare: compareBytes,
    nodeFlags: holdsTree,
    levels: treeDepthMax,
    accepts({ buffer: { bytes }, from, to }, value) {
      if (value.to - value.from !== treeRecordBytes) return false
      const record = decodeTreeRecord(value.buffer.view, value.from)
      records.set(utf8Text(bytes.subarray(from, to)), record)
      return record.flags === 0
    },
  })
  if (!isWhole) walk.report(0)
  return records
}

const isLater = (name: string): boolean => laterTableNames.some(later => later === name)

/**
 * Tables are created one by one, before any row: only an empty store may lack some, or one that an
 * older version has made.
 */
function walkTables(walk: PageWalk, levels: number): void {
  const records = readTables(walk)
  const isEmpty = [...records.values()].every(({ entries }) => entries === 0)
  for (const name of walk.names) {
    // The engine's binding ends names with NUL.
    const record = records.get(`${name}\0`)
    const isWhole =
      record === undefined ? isEmpty || isLater(name) : walkTree(walk, record, tableShape(levels))
    if (!isWhole) walk.report(walk.meta.tables.root ?? 0)
  }
}

/**
 * Number of the commit that wrote the root of the tables, as every commit does. `undefined` if
 * there is none yet, or if it lies behind the end of a cut file; NaN if it cannot be read.
 */
function rootCommitOf(file: DataFile, { pageBytes, tables }: MetaPage): number | undefined {
  if (tables.root === undefined) return undefined
  const position = tables.root * pageBytes
  if (position + pageBytes > file.lengthBytes()) return undefined
  const root = makePageBuffer(pageBytes)
  return file.read(root, position) ? readU64(root.view, 8) : NaN
}

/**
 * False if the last commit was lost: a damaged number makes the newest meta page look like the
 * older one, or the older one like the newest, and the engine opens the state before. Only the
 * roots of the tables show it, which carry the number of their commit. A failed write of a meta
 * page looks the same, so this keeps no store from opening.
 */
function hasLast(file: DataFile, { newer, older }: MetaPages): boolean {
  const last = rootCommitOf(file, newer) ?? newer.transaction
  const before = rootCommitOf(file, older) ?? older.transaction
  return last >= newer.transaction && before <= older.transaction
}

const pagesIn = (file: DataFile, { pageBytes, lastPage }: MetaPage): number =>
  Math.min(Math.floor(file.lengthBytes() / pageBytes), lastPage + 1)

interface Walked {
  /** Ascending, without duplicates; page 0 stands for the meta pages. */
  readonly damaged: readonly number[]
  readonly freeBehindEnd: number
}

/** @param levels depth to which each table is walked */
function walkPages(
  file: DataFile,
  meta: MetaPage,
  levels: number,
  names: readonly string[] = tableNames,
  progress: BeginProgress = noProgress,
): Walked {
  const damaged = new Set<number>()
  const pages = pagesIn(file, meta)
  const done = progress(pages, 'pages')
  let owned = 0
  const walk: PageWalk = {
    file,
    meta,
    names,
    owners: new Uint8Array(pages),
    buffers: [],
    report: page => {
      if (damaged.size < findingsMax) damaged.add(page)
    },
    onOwned: count => done((owned += count)),
  }
  const freeBehindEnd = walkFreePages(walk)
  walkTables(walk, levels)
  return { damaged: [...damaged].sort((a, b) => a - b), freeBehindEnd }
}

function withDataFile<T>(folder: string, task: (file: DataFile) => T): T {
  const file = openDataFile(folder)
  try {
    return task(file)
  } finally {
    file.close()
  }
}

interface PageFindings {
  /**
   * Numbers of the pages that are not as the engine left them, at most `findingsMax`; only page 0
   * if the meta pages lead nowhere.
   */
  readonly damaged: readonly number[]
  /** True if a commit followed the newest valid one; all pages belong to the latter. */
  readonly hasLostCommit: boolean
}

/** Walks all pages of a store without writers; only reads the file. */
export const examinePages = (folder: string, progress: BeginProgress = noProgress): PageFindings =>
  withDataFile(folder, file => {
    const metas = attempt(() => readMetaPages(file))
    if (metas === undefined) return { damaged: [0], hasLostCommit: false }
    const { damaged } = walkPages(file, metas.newer, treeDepthMax, tableNames, progress)
    return { damaged, hasLostCommit: !hasLast(file, metas) }
  })

/** @throws ApiError `storage_corrupt` that names the first of these pages */
function assertNone(damaged: readonly number[]): void {
  const [page] = damaged
  if (page === undefined) return
  throw new ApiError('storage_corrupt', `page ${page} of its file is damaged`)
}

/**
 * Walks the pages of the newest commit: all of them, or down to the roots of the tables unless
 * pages may be missing at the end. The engine writes no free page, so a file may lack its last
 * ones; if others are missing too, only a full walk tells whether a tree has lost them.
 * @throws ApiError `storage_corrupt`
 */
function assertPages(file: DataFile, meta: MetaPage, isWhole: boolean): void {
  const { damaged, freeBehindEnd } = walkPages(file, meta, isWhole ? treeDepthMax : 1)
  assertNone(damaged)
  if (isWhole || freeBehindEnd === meta.lastPage + 1 - pagesIn(file, meta)) return
  assertNone(walkPages(file, meta, treeDepthMax).damaged)
}

/**
 * Checks a store without writers before the engine opens it: valid meta pages, and pages that the
 * engine can walk, because a damaged one kills the process silently. A folder without a database is
 * a new store.
 * @param isEveryPage true to walk below the roots of the tables even above `pagesCheckedBytesMax`
 * @throws ApiError `storage_corrupt`
 */
export function assertDataFile(folder: string, isEveryPage = false): void {
  const path = join(folder, 'data.mdb')
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 }
  if (size === 0) return
  const isWhole = isEveryPage || size <= pagesCheckedBytesMax
  withDataFile(folder, file => assertPages(file, readMetaPages(file).newer, isWhole))
}

/**
 * @throws ApiError `storage_corrupt` unless the file, which others may write, begins like a store
 */
export const assertMetaPages = (folder: string): void =>
  withDataFile(folder, file => void readMetaPages(file))

/**
 * Checks a store that others write: all pages of the newest commit. A reader of that commit or an
 * older one must exist meanwhile, so that no page is reused. Later commits come from a process that
 * checked the store when it opened it, though not every page of a large file.
 * @throws ApiError `storage_corrupt`
 */
export const assertLivePages = (folder: string): void =>
  withDataFile(folder, file =>
    assertNone(walkPages(file, readMetaPages(file).newer, treeDepthMax).damaged),
  )
