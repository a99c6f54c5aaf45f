/**
 * Folds: terms of recent rows are put into chunks, some thousand rows at a time.
 *
 * A fold is one transaction, so a page finds each row in one of both. Rows that another vault folds
 * or moves at this moment are left to it.
 * @module
 */
import { termBytes } from '../../limits/work-limits.ts'
import { foldLookMs, foldRowsMin, foldRowsOfDatabase, databaseTryMsMax } from '../core/limits.ts'
import type { Lease } from './lease.ts'
import type { Pool } from './pool.ts'
import type { Tables } from './schema.ts'
import { databaseErrorOf } from './database-error.ts'
import { keysIn } from './packed-parameters.ts'
import { changeChunks, movePlace, type ChunkMoves } from './write/term-chunks.ts'

/** By an array, which is worked out once whatever the database thinks of the size of the table. */
const takeText = ({ recent }: Tables): string => `DELETE FROM ${recent}
WHERE ordinal = ANY(ARRAY(
  SELECT ordinal FROM ${recent} ORDER BY ordinal LIMIT $1::int FOR UPDATE SKIP LOCKED
)) RETURNING ordinal, terms`

/**
 * One fold.
 * @returns how many rows were folded
 * @throws DatabaseError
 */
export const foldOnce = (
  pool: Pool,
  tables: Tables,
  rowsMax: number,
  msMax = databaseTryMsMax,
): Promise<number> =>
  pool.hold(msMax, async session => {
    await session.send('BEGIN')
    const taken = await session.send(takeText(tables), [rowsMax])
    const chunks: ChunkMoves = new Map()
    for (const [ordinal, terms] of taken) {
      if (!(terms instanceof Uint8Array)) continue
      for (const key of keysIn(terms, termBytes)) movePlace(chunks, key, Number(ordinal), true)
    }
    const sent = await changeChunks(session, tables, { chunks, recent: [] })
    await Promise.all([...sent, session.send('COMMIT')])
    return taken.length
  })

export interface Folder {
  /** Since the store was opened; a race that was lost is no failure. */
  readonly figures: () => { readonly folds: number; readonly foldFailures: number }
  readonly close: () => Promise<void>
}

export interface FoldLoopOptions {
  readonly pool: Pool
  readonly tables: Tables
  readonly lease: Lease
  /** How many rows wait before they are folded. */
  readonly rowsMin?: number
  readonly everyMs?: number
  /**
   * Told once of folds that fail, until one succeeds; a race that was lost is no failure.
   * @param state SQLSTATE, where the database has said one
   */
  readonly onTrouble: (state: string | undefined) => void
}

/** Folds whenever this vault holds the lease and enough rows wait. */
export function startFolding(options: FoldLoopOptions): Folder {
  const { pool, tables, lease, rowsMin = foldRowsMin, everyMs = foldLookMs, onTrouble } = options
  const countText = `SELECT count(*) FROM (SELECT 1 FROM ${tables.recent} LIMIT $1::int) few`
  let folds = 0
  let foldFailures = 0
  let isFailing = false
  let running: Promise<void> | undefined
  async function foldAll(): Promise<void> {
    for (;;) {
      const [row] = await pool.query(countText, [foldRowsOfDatabase * 2])
      if (Number(row?.[0] ?? 0) < rowsMin || !lease.isHeld()) return
      if ((await foldOnce(pool, tables, foldRowsOfDatabase)) === 0) return
      folds += 1
    }
  }
  async function tryAll(): Promise<void> {
    try {
      await foldAll()
      isFailing = false
    } catch (error) {
      const { kind, state } = databaseErrorOf(error)
      if (kind === 'again') return
      foldFailures += 1
      if (isFailing) return
      isFailing = true
      onTrouble(state)
    }
  }
  const look = (): void => {
    if (running !== undefined || !lease.isHeld()) return
    running = tryAll().finally(() => {
      running = undefined
    })
  }
  const timer = setInterval(look, everyMs)
  timer.unref()
  return {
    figures: () => ({ folds, foldFailures }),
    async close() {
      clearInterval(timer)
      await running
    },
  }
}
