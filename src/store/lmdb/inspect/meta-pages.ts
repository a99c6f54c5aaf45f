/**
 * The two meta pages: where a store begins, and the check without which none is opened.
 *
 * Transaction N writes page N mod 2 in one sector, after all that it points to is on disk. So in
 * every state that a crash can leave, both pages are valid and one transaction apart; the engine
 * itself trusts the second one unseen and takes the one of the higher number. A damaged newest page
 * would lose the last transaction in silence, and a short file end the process (hardening L32).
 * Layout after the page header: magic u32 · version u32 · address u64 · map size u64 · tree of free
 * pages · tree of tables · last page u64 · transaction u64 · boot u64.
 * @module
 */
import { assertStored } from '../../corrupt.ts'
import {
  makePageBuffer,
  pageBytesMax,
  pageHeaderBytes,
  pageKinds,
  readU64,
  type DataFile,
} from './page-file.ts'

/** A tree as its record says: flags u16, depth u16, counts and root as u64. */
export interface TreeRecord {
  readonly flags: number
  readonly depth: number
  readonly branchPages: number
  readonly leafPages: number
  readonly overflowPages: number
  readonly entries: number
  /** `undefined` for an empty tree. */
  readonly root: number | undefined
}

export interface MetaPage {
  readonly pageBytes: number
  readonly lastPage: number
  readonly transaction: number
  readonly freePages: TreeRecord
  readonly tables: TreeRecord
}

const magic = 0xbeefc0de
const version = 2
export const treeRecordBytes = 48
const metaBytes = 144
const pageBytesMin = 512
const noPage = 0xffffffff

export function decodeTreeRecord(view: DataView, at: number): TreeRecord {
  const isEmpty =
    view.getUint32(at + 40, true) === noPage && view.getUint32(at + 44, true) === noPage
  return {
    flags: view.getUint16(at + 4, true),
    depth: view.getUint16(at + 6, true),
    branchPages: readU64(view, at + 8),
    leafPages: readU64(view, at + 16),
    overflowPages: readU64(view, at + 24),
    entries: readU64(view, at + 32),
    root: isEmpty ? undefined : readU64(view, at + 40),
  }
}

/** @throws ApiError `storage_corrupt` when there is no meta page at that position */
function decodeMetaPage(view: DataView, position: number): MetaPage {
  const at = position + pageHeaderBytes
  assertStored(at + metaBytes <= view.byteLength, 'a file with both meta pages')
  assertStored(
    view.getUint16(position + 18, true) === pageKinds.meta &&
      view.getUint32(at, true) === magic &&
      view.getUint16(at + 4, true) === version,
    'meta pages of a known format',
  )
  return {
    // The record of the free pages has it in place of a size of keys.
    pageBytes: view.getUint32(at + 24, true),
    freePages: decodeTreeRecord(view, at + 24),
    tables: decodeTreeRecord(view, at + 24 + treeRecordBytes),
    lastPage: readU64(view, at + 120),
    transaction: readU64(view, at + 128),
  }
}

const isPageSize = (bytes: number): boolean =>
  bytes >= pageBytesMin && bytes <= pageBytesMax && (bytes & (bytes - 1)) === 0

/** A new file has both pages at 0. */
const areNeighbours = (first: MetaPage, second: MetaPage): boolean =>
  (first.transaction === 0 && second.transaction === 0) ||
  (first.transaction % 2 === 0 && Math.abs(first.transaction - second.transaction) === 1)

export interface MetaPages {
  readonly newer: MetaPage
  readonly older: MetaPage
}

/** @throws ApiError `storage_corrupt` */
export function readMetaPages(file: DataFile): MetaPages {
  // In one read: a writer of another process may be under way.
  const buffer = makePageBuffer(Math.min(file.lengthBytes(), 2 * pageBytesMax))
  assertStored(file.read(buffer, 0), 'a file that can be read')
  const first = decodeMetaPage(buffer.view, 0)
  assertStored(isPageSize(first.pageBytes), 'pages of a known size')
  const second = decodeMetaPage(buffer.view, first.pageBytes)
  assertStored(
    second.pageBytes === first.pageBytes && second.freePages.flags === first.freePages.flags,
    'meta pages of one file',
  )
  assertStored(areNeighbours(first, second), 'meta pages one transaction apart')
  return first.transaction > second.transaction
    ? { newer: first, older: second }
    : { newer: second, older: first }
}
