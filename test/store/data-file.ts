/**
 * The engine's file as a test changes it: whole pages in memory, the roots of trees, and kinds of
 * damage.
 * @module
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  readMetaPages,
  type MetaPage,
  openDataFile,
} from '../../src/store/lmdb/inspect/page-file.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../support/folders.ts'
import { foldAll } from './fold.ts'
import { insertOf, replaceOf, written } from './rows.ts'

/** Data that does not fit a page. */
export const bigPart = new Uint8Array(9_000).fill(7)

export interface DataPages {
  readonly meta: MetaPage
  /** Offset of the newer meta page within the file. */
  readonly metaAt: number
  readonly bytes: Buffer
  /** Returns the offset of a page. */
  at(page: number): number
  /** Returns the offset of the node of that index, in a branch or a leaf. */
  nodeAt(page: number, index: number): number
  save(): void
}

export function readPages(folder: string): DataPages {
  const file = openDataFile(folder)
  const meta = readMetaPages(file).newer
  file.close()
  const path = join(folder, 'data.mdb')
  const bytes = readFileSync(path)
  const at = (page: number): number => page * meta.pageBytes
  return {
    meta,
    metaAt: at(meta.transaction % 2),
    bytes,
    at,
    nodeAt: (page, index) => at(page) + 24 + bytes.readUInt16LE(at(page) + 24 + 2 * index),
    save: () => writeFileSync(path, bytes),
  }
}

/** Returns the offset of a table's record, behind its name in a leaf of the tree of tables. */
export function tableRecordAt({ bytes, meta, at }: DataPages, name: string): number {
  const from = at(meta.tables.root ?? 0)
  const found = bytes.indexOf(`${name}\0`, from, 'latin1')
  if (found < from || found > from + meta.pageBytes) throw new Error('expected a table')
  return found + name.length + 1
}

export const rootOf = (pages: DataPages, name: string): number =>
  pages.bytes.readUInt32LE(tableRecordAt(pages, name) + 40)

/** The leaf of a table where its first entries are. */
export function firstLeafOf(pages: DataPages, table: string): number {
  let page = rootOf(pages, table)
  while (pages.bytes.readUInt16LE(pages.at(page) + 18) === 1) {
    page = pages.bytes.readUInt32LE(pages.nodeAt(page, 0))
  }
  return page
}

/** Rows enough for branches, all folded, some in overflow pages, and free pages between. */
export async function makeBusyStore(): Promise<string> {
  const path = temporaryFolder()
  const store = await openLmdbStore({ path })
  for (let from = 1; from < 200; from += 20) {
    const sketches = Array.from({ length: 20 }, (_, i) => ({
      uniques: [from + i],
      terms: [1, 1_000 + from + i],
      deadlineMs: 5_000 + ((from + i) % 3),
      ...(i === 5 ? { parts: [bigPart] } : {}),
    }))
    await written(store, ...sketches.map(insertOf))
  }
  for (const ordinal of [3, 30, 31, 32, 33]) await store.write([{ remove: ordinal }])
  await written(store, replaceOf(50, { uniques: [50], terms: [2], version: 2 }))
  await store.close()
  await foldAll(path)
  return path
}

export function copyOf(store: string): string {
  const path = temporaryFolder()
  cpSync(join(store, 'data.mdb'), join(path, 'data.mdb'))
  return path
}

export type Change = (pages: DataPages) => void

/** @returns the folder of a copy in which that was changed */
export function damagedCopyOf(store: string, change: Change): string {
  const path = copyOf(store)
  const pages = readPages(path)
  change(pages)
  pages.save()
  return path
}

/** Adds to a number of two bytes. */
export const add = (bytes: Buffer, at: number, by: number) =>
  bytes.writeUInt16LE((bytes.readUInt16LE(at) + by) & 0xffff, at)

export const inRowsRoot =
  (offset: number, by: number): Change =>
  pages =>
    add(pages.bytes, pages.at(rootOf(pages, 'rows')) + offset, by)

export const inLeaf =
  (offset: number, by: number): Change =>
  pages =>
    add(pages.bytes, pages.at(firstLeafOf(pages, 'uniques')) + offset, by)

export const inRecord =
  (offset: number, by: number): Change =>
  pages =>
    add(pages.bytes, tableRecordAt(pages, 'terms') + offset, by)
