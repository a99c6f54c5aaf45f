/**
 * A vault that moves out of the database: who serves it is looked for, and shut out.
 *
 * Nobody opens it from the first step on. Then a process that serves is given the time to show
 * itself: one of all vaults that live holds the leases and renews them. Where one does, all is as
 * before. The last step shuts out those as well that were held up and showed nothing: no group of
 * writes commits without its receipt, and of these all are removed, with no new ones.
 * @module
 */
import { ApiError } from '../../lib/errors.ts'
import { noProgress, type BeginProgress } from '../../lib/progress.ts'
import { fillMsMax, leaveLookMs, leaveWatchMs } from '../core/limits.ts'
import type { Pool } from './pool.ts'
import { untilReplicated } from './replication.ts'
import { databaseFormat, hasLeft, leavingFormat, leftFormat, type Tables } from './schema.ts'

/** Of the lease that says which folder takes the vault: it has no end. */
const moverLease = 'move'

export interface Leaving {
  readonly pool: Pool
  readonly tables: Tables
  /** Of the folder that takes the vault, 16 bytes: no second one does. */
  readonly mover: Uint8Array
}

/**
 * From here on nobody opens the vault.
 * @throws ApiError `conflict` where another folder takes it; DatabaseError
 */
export async function beginLeaving({ pool, tables, mover }: Leaving): Promise<void> {
  const { state, leases } = tables
  const text = `WITH moved AS (
  UPDATE ${state} SET format = ${leavingFormat} WHERE format = ${databaseFormat} RETURNING 1
)
INSERT INTO ${leases} SELECT '${moverLease}', $1::bytea, 'infinity' FROM moved
ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, until = EXCLUDED.until`
  await pool.query(text, [mover])
  await untilReplicated(pool.query)
  const held = `SELECT 1 FROM ${leases} WHERE name = '${moverLease}' AND holder = $1::bytea`
  if ((await pool.query(held, [mover])).length === 0) throw new ApiError('conflict', hasLeft)
}

/**
 * All is as before `beginLeaving`: for a folder that has not taken the vault. @throws DatabaseError
 */
export async function cancelLeaving({ pool, tables, mover }: Leaving): Promise<void> {
  const { state, leases } = tables
  const text = `WITH moved AS (
  UPDATE ${state} SET format = ${databaseFormat}
  WHERE format IN (${leavingFormat}, ${leftFormat}) AND EXISTS (
    SELECT 1 FROM ${leases} WHERE name = '${moverLease}' AND holder = $1::bytea
  ) RETURNING 1
)
DELETE FROM ${leases} USING moved WHERE name = '${moverLease}'`
  await pool.query(text, [mover])
}

interface Waiting {
  readonly elapsedMs: () => number
  readonly sleep: (ms: number) => Promise<unknown>
  readonly progress?: BeginProgress
}

/**
 * Whether somebody serves: a lease is taken or renewed, or is not over at the end.
 * @throws DatabaseError
 */
export async function isServed(
  { pool, tables }: Omit<Leaving, 'mover'>,
  { elapsedMs, sleep, progress = noProgress }: Waiting,
): Promise<boolean> {
  const text = `SELECT name || ' ' || until, until >= clock_timestamp() FROM ${tables.leases}
WHERE name <> '${moverLease}'`
  const first = await pool.query(text)
  const known = new Set(first.map(([lease]) => lease))
  const done = progress(leaveWatchMs, 'waiting')
  const startMs = elapsedMs()
  for (;;) {
    await sleep(leaveLookMs)
    const live = (await pool.query(text)).filter(([, isLive]) => isLive === true)
    if (live.some(([lease]) => !known.has(lease))) return true
    const passedMs = elapsedMs() - startMs
    if (passedMs >= leaveWatchMs) return live.length > 0
    done(passedMs)
  }
}

/**
 * From here on nobody writes, and a process that serves sees within `databaseClockMs` that it does
 * not. Whatever was answered is in the tables when this resolves.
 * @throws DatabaseError
 */
export async function endLeaving({ pool, tables }: Omit<Leaving, 'mover'>): Promise<void> {
  const { state, receipts } = tables
  await pool.query(`UPDATE ${state} SET format = ${leftFormat} WHERE format = ${leavingFormat}`)
  // Waits for each group that is under way.
  await pool.query(`DELETE FROM ${receipts}`, [], fillMsMax)
  await untilReplicated(pool.query)
}

/** What beside rows goes along. */
export interface LeftState {
  readonly nextOrdinal: number
  readonly generation: number
  /** Of the clock; 0 where there is none. */
  readonly markMs: number
  /** At most, of a file with all of it. */
  readonly bytes: number
}

/** @throws DatabaseError */
export async function readLeft({ pool, tables }: Omit<Leaving, 'mover'>): Promise<LeftState> {
  const text = `SELECT generation, clock_ms, (SELECT last_value FROM ${tables.ordinals}),
(SELECT sum(pg_table_size(c.oid))::bigint FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r')
FROM ${tables.state}`
  const [cells = []] = await pool.query(text, [tables.schema])
  const [generation = 0, markMs = 0, last = 0, bytes = 0] = cells.map(Number)
  return { nextOrdinal: last + 1, generation, markMs, bytes }
}
