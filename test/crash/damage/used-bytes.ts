/**
 * Finds the end of the last used page of a database: a file cut there or later is still whole.
 *
 * @module
 */
import { takeFreeList } from '../../../src/store/lmdb/inspect/damaged-pages.ts'
import { readMetaPages, openDataFile, readU64 } from '../../../src/store/lmdb/inspect/page-file.ts'
import {
  treeDepthMax,
  walkTree,
  type Span,
  type PageWalk,
} from '../../../src/store/lmdb/inspect/page-tree.ts'

const numberOf = ({ buffer, from }: Span): number => readU64(buffer.view, from)

/** @param folder of a whole store without a writer @returns bytes */
export function usedBytesOf(folder: string): number {
  const file = openDataFile(folder)
  const meta = readMetaPages(file).newer
  const pages = meta.lastPage + 1
  const walk: PageWalk = {
    file,
    meta,
    names: [],
    owners: new Uint8Array(pages),
    buffers: [],
    report: () => {},
  }
  const free: PageWalk = { ...walk, owners: new Uint8Array(pages) }
  const isWhole = walkTree(walk, meta.freePages, {
    compare: (a, b) => numberOf(a) - numberOf(b),
    nodeFlags: 0,
    levels: treeDepthMax,
    accepts: (_, list) => takeFreeList(free, { behindEnd: 0 }, list),
  })
  file.close()
  if (!isWhole) throw new Error('the lists of free pages are damaged')
  return (free.owners.lastIndexOf(0) + 1) * meta.pageBytes
}
