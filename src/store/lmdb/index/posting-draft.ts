/**
 * Chunks of ordinals that one transaction is about to change.
 *
 * However many rows of a group share a term, its chunk is read once and written once.
 * @module
 */
import { keyOf, type KeyedRow } from '../../check-changes.ts'
import { chunkOf, encodeChunkKey, lowOf } from './chunk-key.ts'
import { encodeContainer } from './container-codec.ts'
import { setOf, subtract, unite, type Container } from './container.ts'
import { encodeDeadline } from '../rows/deadline-key.ts'
import type { Table } from '../environment.ts'
import { readChunk } from './postings.ts'

export interface ChunkDraft {
  readonly prefix: Uint8Array
  readonly chunk: number
  /** As stored. */
  readonly set: Container
  /** Places that will be in the set, or not; the last word counts. */
  readonly places: Map<number, boolean>
}

export interface PostingDraft {
  readonly table: Table
  readonly chunks: Map<string, ChunkDraft>
}

/** One ordinal that enters or leaves a chunk. */
export interface Posting {
  readonly draft: ChunkDraft
  readonly low: number
  readonly isIn: boolean
}

export const openPostingDraft = (table: Table): PostingDraft => ({ table, chunks: new Map() })

/** @throws ApiError `storage_corrupt` when the chunk as stored is none */
function openChunk(
  { table, chunks }: PostingDraft,
  key: string,
  prefix: Uint8Array,
  chunk: number,
): ChunkDraft {
  const chunkKey = `${key}:${chunk}`
  const opened = chunks.get(chunkKey)
  if (opened !== undefined) return opened
  const draft = { prefix, chunk, set: readChunk(table, prefix, chunk), places: new Map() }
  chunks.set(chunkKey, draft)
  return draft
}

const noKeys: ReadonlySet<string> = new Set()

const keysOf = (row: KeyedRow | undefined): ReadonlySet<string> =>
  row === undefined ? noKeys : new Set(row.termKeys)

/**
 * What the move of a row changes in the table of terms. Changes nothing yet.
 * @throws ApiError `storage_corrupt`
 */
export function termPostings(
  terms: PostingDraft,
  ordinal: number,
  from: KeyedRow | undefined,
  to: KeyedRow | undefined,
): Posting[] {
  const chunk = chunkOf(ordinal)
  const low = lowOf(ordinal)
  const postings: Posting[] = []
  const collect = (row: KeyedRow, others: ReadonlySet<string>, isIn: boolean): void => {
    // Read once: a stored row cuts them out anew each time.
    const { terms: digests } = row.row
    row.termKeys.forEach((key, i) => {
      const term = digests[i]
      if (term === undefined || others.has(key)) return
      postings.push({ draft: openChunk(terms, key, term, chunk), low, isIn })
    })
  }
  if (from !== undefined) collect(from, keysOf(to), false)
  if (to !== undefined) collect(to, keysOf(from), true)
  return postings
}

/** As `termPostings`, in the table of deadlines. @throws ApiError `storage_corrupt` */
export function deadlinePostings(
  deadlines: PostingDraft,
  ordinal: number,
  from: KeyedRow | undefined,
  to: KeyedRow | undefined,
): Posting[] {
  const before = from?.row.deadlineMs
  const after = to?.row.deadlineMs
  if (before === after) return []
  const posting = (deadlineMs: number, isIn: boolean): Posting => {
    const prefix = encodeDeadline(deadlineMs)
    const draft = openChunk(deadlines, keyOf(prefix), prefix, chunkOf(ordinal))
    return { draft, low: lowOf(ordinal), isIn }
  }
  return [
    ...(before === undefined ? [] : [posting(before, false)]),
    ...(after === undefined ? [] : [posting(after, true)]),
  ]
}

/** The key of a changed chunk and its new value; no value for a chunk that is empty now. */
export function chunkEntry({ prefix, chunk, set, places }: ChunkDraft): {
  key: Uint8Array
  value: Uint8Array | undefined
} {
  const entering: number[] = []
  const leaving: number[] = []
  for (const [low, isIn] of places) (isIn ? entering : leaving).push(low)
  const next = unite(subtract(set, setOf(leaving)), setOf(entering))
  return { key: encodeChunkKey(prefix, chunk), value: encodeContainer(next) }
}
