/**
 * Reads the data file as pages: their heads, and the two meta pages.
 * @module
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { assertStored } from '../../../lib/errors.ts'

/*
 * The engine's file, read as numbered pages by plain reads: no damage in it can end the process, as
 * a damaged page under the engine's memory map would (hardening L32).
 *
 * Layout of the file format as lmdb 3.5.6 writes it: 64 bits, little endian. A page begins with its
 * number u64 · transaction u64 · unused u16 · kind u16 · end of its list of nodes u16 · begin of
 * its nodes u16 (for a run of overflow pages: their count u32). Source: its mdb.c.
 */

export const pageHeaderBytes = 24
/** Largest page size. */
const pageBytesMax = 65_536

export const pageKinds = { branch: 1, leaf: 2, overflow: 4, meta: 8 } as const

/** Bytes of one or more pages; a view of plain memory, overwritten by the next read into it. */
export interface PageBuffer {
  readonly bytes: Uint8Array
  readonly view: DataView
}

export function makePageBuffer(length: number): PageBuffer {
  const bytes = new Uint8Array(length)
  return { bytes, view: new DataView(bytes.buffer) }
}

/** Exact up to 2^53; a larger number still compares greater than any valid one. */
export const readU64 = (view: DataView, at: number): number =>
  view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32

export interface DataFile {
  /** Current length: another process may write. */
  lengthBytes(): number
  /** Returns true if the whole buffer was read from that position; `false` also for a bad disk. */
  read(buffer: PageBuffer, positionBytes: number): boolean
  close(): void
}

/** @throws the system's own error when the file is missing or cannot be read */
export function openDataFile(folder: string): DataFile {
  const handle = openSync(join(folder, 'data.mdb'), 'r')
  return {
    lengthBytes: () => fstatSync(handle).size,
    read({ bytes }, positionBytes) {
      try {
        return readSync(handle, bytes, 0, bytes.length, positionBytes) === bytes.length
      } catch {
        return false
      }
    },
    close: () => closeSync(handle),
  }
}

/*
 * The two meta pages, at the start of a store: none is opened without this check.
 *
 * Transaction N writes page N mod 2 in one sector, after everything it points to is on disk. So
 * after any crash both pages are valid and one transaction apart; the engine itself trusts the
 * second one unchecked and takes the one with the higher number. A damaged newest page would lose
 * the last transaction silently, and a short file end the process (hardening L32). Layout after the
 * page header: magic u32 · version u32 · address u64 · map size u64 · tree of free pages · tree of
 * tables · last page u64 · transaction u64 · boot u64.
 */

/** The record of a tree: flags u16, depth u16, counts and root as u64. */
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
    // The record of the free pages holds it in the field for the key size.
    pageBytes: view.getUint32(at + 24, true),
    freePages: decodeTreeRecord(view, at + 24),
    tables: decodeTreeRecord(view, at + 24 + treeRecordBytes),
    lastPage: readU64(view, at + 120),
    transaction: readU64(view, at + 128),
  }
}

const isPageSize = (bytes: number): boolean =>
  bytes >= pageBytesMin && bytes <= pageBytesMax && (bytes & (bytes - 1)) === 0

/** In a new file both pages have transaction 0. */
const areNeighbours = (first: MetaPage, second: MetaPage): boolean =>
  (first.transaction === 0 && second.transaction === 0) ||
  (first.transaction % 2 === 0 && Math.abs(first.transaction - second.transaction) === 1)

export interface MetaPages {
  readonly newer: MetaPage
  readonly older: MetaPage
}

/** @throws ApiError `storage_corrupt` */
export function readMetaPages(file: DataFile): MetaPages {
  // One read for both pages, because another process may be writing.
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
