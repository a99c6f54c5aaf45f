/**
 * Checks that committed data is where it must be before it is acknowledged.
 *
 * A COMMIT whose wait for its standbys is cancelled succeeds with a warning, which the client
 * drops; and a read may find data that is on one machine only. So after the COMMIT the database is
 * asked for the progress of its standbys. If the user may not see that, nothing is checked. Source:
 * PostgreSQL, "Synchronous Replication", `pg_stat_get_wal_senders`.
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import { databaseRetryMsMax, replicatedLookMs } from '../core/limits.ts'
import type { Cells, Parameter, Pool } from './pool.ts'
import { DatabaseError, databaseErrorOf } from './database-error.ts'

/** The role that may see the progress of standbys. */
export const replicationRole = 'pg_read_all_stats'

/** True if the settings name standbys to wait for. */
const isWaitedFor = `current_setting('synchronous_standby_names') <> ''
AND current_setting('synchronous_commit') NOT IN ('off', 'local')`

export const maySee = `pg_has_role(current_user, '${replicationRole}', 'USAGE')`

/** The number that the setting names: `FIRST 2 (…)`, `ANY 1 (…)`, `2 (…)`; 1 for a plain list. */
const standbysMin = `coalesce(substring(current_setting('synchronous_standby_names')
FROM '(?i)^\\s*(?:FIRST|ANY)?\\s*(\\d+)\\s*\\('), '1')::int`

const reached = `CASE current_setting('synchronous_commit')
WHEN 'remote_write' THEN write_lsn WHEN 'remote_apply' THEN replay_lsn ELSE flush_lsn END`

/** The log position that standbys have yet to reach; NULL if they have, or none is required. */
export const missing = (place: string): string => `CASE WHEN ${isWaitedFor} AND ${maySee} THEN (
  SELECT mark.place::text FROM (SELECT coalesce(${place}, pg_current_wal_flush_lsn())) mark(place)
  WHERE (SELECT count(*) FROM pg_stat_get_wal_senders()
    WHERE sync_state IN ('sync', 'quorum') AND ${reached} >= mark.place) < ${standbysMin}
) END`

type Ask = (text: string, parameters?: readonly Parameter[]) => Promise<readonly Cells[]>

/**
 * @param first result of `missing`
 * @param isLate true once the caller has given up
 * @throws DatabaseError; `lost` when late
 */
export async function untilReached(
  ask: Ask,
  first: unknown,
  isLate: () => boolean = () => false,
): Promise<void> {
  const text = `SELECT ${missing('$1::text::pg_lsn')}`
  let place = first
  for (let waitMs = replicatedLookMs; typeof place === 'string'; waitMs *= 2) {
    if (isLate()) throw new DatabaseError('lost')
    await setTimeout(Math.min(waitMs, databaseRetryMsMax))
    const [row] = await ask(text, [place])
    place = row?.[0]
  }
}

/**
 * Waits until everything committed so far is where it must be.
 * @param ask runs one statement after the other; its errors end the wait
 * @throws DatabaseError
 */
export async function untilReplicated(ask: Ask, isLate?: () => boolean): Promise<void> {
  const [row] = await ask(`SELECT ${missing('NULL::pg_lsn')}`)
  await untilReached(ask, row?.[0], isLate)
}

/**
 * A pool for writing. After an unanswered write, none is sent before the standbys have everything
 * that came earlier: a database that waits for standbys does not notice that its client has gone,
 * and keeps its connection.
 */
export function makeWritePool(pool: Pool, elapsedMs: () => number, connectMs: number): Pool {
  let losses = 0
  /** Number of losses that came before the standbys were seen to have everything. */
  let settled = 0
  async function noted<T>(msMax: number, work: () => Promise<T>): Promise<T> {
    const untilMs = elapsedMs() + msMax
    const before = losses
    if (settled < before) await untilReplicated(pool.query, () => elapsedMs() > untilMs)
    try {
      const value = await work()
      // Losses during this check are left to the next one.
      settled = Math.max(settled, before)
      return value
    } catch (error) {
      if (databaseErrorOf(error).kind === 'lost') losses += 1
      throw error
    }
  }
  return {
    ...pool,
    query: (text, parameters, msMax = connectMs) =>
      noted(msMax, () => pool.query(text, parameters, msMax)),
    hold: (msMax, work) => noted(msMax, () => pool.hold(msMax, work)),
  }
}
