/**
 * How many ordinals of a chunk match a query, kept from one page to the next: the total of a list
 * costs the chunks that changed, not the size of the store.
 *
 * Invariants: a count is kept only while no commit moves rows of its chunk, and none outlives the
 * beginning of one that does. Counts are of terms alone, before deadlines are looked at; they are
 * of this process's commits, so a store that others write keeps none. Nothing here says more than
 * the store itself holds in the clear.
 * @module
 */
import { countKeyPiecesMax, keptCountsMax } from '../../../limits.ts'
import { keyOf } from '../../check-changes.ts'
import type { Query } from '../../contract.ts'

export interface ChunkCounts {
  /** `undefined` when it is not known. */
  get(key: string | undefined, chunk: number): number | undefined
  /** Keeps what is not known. */
  keep(key: string | undefined, chunk: number, count: number): void
  /** A commit moves rows of these chunks: nothing of them is known until it ended. */
  begin(chunks: Iterable<number>): void
  /** That commit is on disk, and every later read sees it. */
  end(): void
}

/** Writes a query operator first, with the number of its parts. @returns whether it has a key */
function writeKey(query: Query, pieces: string[]): boolean {
  if (pieces.length >= countKeyPiecesMax) return false
  if ('term' in query) return pieces.push(keyOf(query.term)) > 0
  if ('unique' in query || 'ordinals' in query) return false
  if ('from' in query) {
    pieces.push('-')
    return writeKey(query.from, pieces) && writeKey(query.except, pieces)
  }
  const parts = 'all' in query ? query.all : query.any
  pieces.push(`${'all' in query ? '&' : '|'}${parts.length}`)
  return parts.every(part => writeKey(part, pieces))
}

/** A text that equal queries of terms have, and no others; `undefined` for other or long ones. */
export function countKeyOf(query: Query): string | undefined {
  const pieces: string[] = []
  return writeKey(query, pieces) ? pieces.join(' ') : undefined
}

/** For a store that this process alone writes, one commit at a time. */
export function openChunkCounts(): ChunkCounts {
  const counts = new Map<number, Map<string, number>>()
  let moving: ReadonlySet<number> = new Set()
  let kept = 0

  return {
    get: (key, chunk) => (key === undefined ? undefined : counts.get(chunk)?.get(key)),
    keep(key, chunk, count) {
      if (key === undefined || moving.has(chunk)) return
      if (kept >= keptCountsMax) {
        counts.clear()
        kept = 0
      }
      const known = counts.get(chunk)
      if (known === undefined) counts.set(chunk, new Map([[key, count]]))
      else known.set(key, count)
      kept += 1
    },
    begin(chunks) {
      moving = new Set(chunks)
      for (const chunk of moving) {
        kept -= counts.get(chunk)?.size ?? 0
        counts.delete(chunk)
      }
    },
    end() {
      moving = new Set()
    },
  }
}

/** For a store that other processes write too. */
export const noChunkCounts: ChunkCounts = {
  get: () => undefined,
  keep: () => {},
  begin: () => {},
  end: () => {},
}
