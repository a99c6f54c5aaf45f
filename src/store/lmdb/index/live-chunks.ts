/**
 * The chunks that have rows: the only ones in which a query can match.
 * @module
 */
import type { LmdbEnvironment } from '../environment.ts'
import { decodeRowKey, encodeRowKey } from '../layout.ts'
import { chunkOf, ordinalOf } from '../../core/plan.ts'

/** As found when the newest chunk began; some may have lost their rows since. */
export interface LiveChunks {
  /** `undefined` before the first query. */
  newest: number | undefined
  /** Newest first. */
  chunks: readonly number[]
}

export const makeLiveChunks = (): LiveChunks => ({ newest: undefined, chunks: [] })

function listChunks({ rows }: LmdbEnvironment, newest: number): number[] {
  const chunks: number[] = []
  for (let from = 0; from < newest; from += 1) {
    const range = {
      start: encodeRowKey(ordinalOf(from, 0)),
      end: encodeRowKey(ordinalOf(newest, 0)),
    }
    const [key] = [...rows.getKeys({ ...range, limit: 1 })]
    if (key === undefined) break
    from = chunkOf(decodeRowKey(key))
    chunks.push(from)
  }
  return [newest, ...chunks.reverse()]
}

/**
 * Returns chunks newest first; some may be empty by now. Takes one look at the table of rows per
 * chunk, whenever a chunk has filled up.
 * @throws ApiError `storage_corrupt`
 */
export function liveChunksOf(
  environment: LmdbEnvironment,
  live: LiveChunks,
  nextOrdinal: number,
): readonly number[] {
  const newest = chunkOf(nextOrdinal)
  if (live.newest !== newest) {
    live.chunks = listChunks(environment, newest)
    live.newest = newest
  }
  return live.chunks
}
