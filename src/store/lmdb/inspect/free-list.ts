/**
 * Lists of free pages, as the engine keeps them: one for each transaction that gave pages back.
 *
 * Layout: count i64, then for each page its number i64. 0 is a gap; a negative number is the length
 * of a run, whose first page follows. Pages 7, 8, 9 and 12 may be `3 · 12 · -3 · 7`.
 * @module
 */
import { ownPages, type Span, type Walk } from './page-tree.ts'

const entryBytes = 8

/** Free pages behind the end of the file own nothing there; they are counted. */
export interface FreePages {
  behindEnd: number
}

const readI64 = (view: DataView, at: number): number =>
  view.getUint32(at, true) + view.getInt32(at + 4, true) * 2 ** 32

function takeRun(walk: Walk, free: FreePages, first: number, count: number): boolean {
  const { owners, meta } = walk
  if (first + count > meta.lastPage + 1) return false
  const inFile = Math.max(0, Math.min(count, owners.length - first))
  free.behindEnd += count - inFile
  return inFile === 0 || ownPages(walk, first, inFile)
}

/** @returns whether it is a list of pages that nothing else owns */
export function takeFreeList(walk: Walk, free: FreePages, { buffer, from, to }: Span): boolean {
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
  // A length without a page would be the length of what lies behind the list.
  return run === 1
}
