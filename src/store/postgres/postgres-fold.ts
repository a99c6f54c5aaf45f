/**
 * Folds: move the terms of recent rows into chunks, some thousand rows at a time.
 *
 * A fold is one transaction, so a page finds each row in exactly one of the two. Rows that others
 * are folding or changing are left to them.
 * @module
 */
import { termBytes } from '../../limits/work-limits.ts'
import { foldCheckMs, foldRowsMin, foldRowsOfDatabase, databaseTryMsMax } from '../core/limits.ts'
import type { Lease } from './lease.ts'
import type { Pool } from './pool.ts'
import type { Tables } from './schema.ts'
import { databaseErrorOf } from './database-error.ts'
import { keysIn } from './packed-parameters.ts'
import { changeChunks, changePlace, type ChunkChanges } from './write/term-chunks.ts'
import { singleFlight } from '../../lib/serial.ts'

/** Uses an array, which is evaluated once whatever size the database assumes for the table. */
const takeText = ({ recent }: Tables): string => `DELETE FROM ${recent}
WHERE ordinal = ANY(ARRAY(
  SELECT ordinal FROM ${recent} ORDER BY ordinal LIMIT $1::int FOR UPDATE SKIP LOCKED
)) RETURNING ordinal, terms`

/**
 * Runs one fold.
 * @returns number of folded rows
 * @throws DatabaseError
 */
export const foldOnce = (
  pool: Pool,
  tables: Tables,
  rowsMax: number,
  msMax = databaseTryMsMax,
): Promise<number> =>
  pool.hold(msMax, async session => {
    await session.send('BEGIN ISOLATION LEVEL READ COMMITTED')
    const taken = await session.send(takeText(tables), [rowsMax])
    const chunks: ChunkChanges = new Map()
    for (const [ordinal, terms] of taken) {
      if (!(terms instanceof Uint8Array)) continue
      for (const key of keysIn(terms, termBytes)) changePlace(chunks, key, Number(ordinal), true)
    }
    const sent = await changeChunks(session, tables, { chunks, recent: [] })
    await Promise.all([...sent, session.send('COMMIT')])
    return taken.length
  })

export interface Folder {
  /** Counted since the store was opened; a lost race is not a failure. */
  readonly figures: () => { readonly folds: number; readonly foldFailures: number }
  readonly close: () => Promise<void>
}

export interface FoldLoopOptions {
  readonly pool: Pool
  readonly tables: Tables
  readonly lease: Lease
  /** Number of waiting rows at which a fold starts. */
  readonly rowsMin?: number
  readonly everyMs?: number
  /**
   * Called once when folds fail, until one succeeds; a lost race is not a failure.
   * @param state SQLSTATE, if the database sent one
   */
  readonly onFailure: (state: string | undefined) => void
}

/** Folds whenever this vault holds the lease and enough rows wait. */
export function startFolding(options: FoldLoopOptions): Folder {
  const { pool, tables, lease, rowsMin = foldRowsMin, everyMs = foldCheckMs, onFailure } = options
  const countText = `SELECT count(*) FROM (SELECT 1 FROM ${tables.recent} LIMIT $1::int) few`
  let folds = 0
  let foldFailures = 0
  let isFailing = false
  async function foldAll(): Promise<void> {
    for (;;) {
      const [row] = await pool.query(countText, [foldRowsOfDatabase * 2])
      if (Number(row?.[0] ?? 0) < rowsMin || !lease.isHeld()) return
      if ((await foldOnce(pool, tables, foldRowsOfDatabase)) === 0) return
      folds += 1
    }
  }
  const tryAll = singleFlight(async () => {
    try {
      await foldAll()
      isFailing = false
    } catch (error) {
      const { kind, state } = databaseErrorOf(error)
      if (kind === 'again') return
      foldFailures += 1
      if (isFailing) return
      isFailing = true
      onFailure(state)
    }
  })
  const foldIfHeld = (): void => {
    if (lease.isHeld()) void tryAll()
  }
  const timer = setInterval(foldIfHeld, everyMs)
  timer.unref()
  return {
    figures: () => ({ folds, foldFailures }),
    async close() {
      clearInterval(timer)
      await tryAll.running()
    },
  }
}
