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
import { databaseRetryMsMax, standbyCheckMsMin } from '../core/limits.ts'
import type { Cells, Parameter, Pool } from './pool.ts'
import { DatabaseError, databaseErrorOf } from './database-error.ts'

/** The role that may see the progress of standbys. */
export const replicationRole = 'pg_read_all_stats'

/** True if the settings name standbys to wait for. */
const areStandbysAwaited = `current_setting('synchronous_standby_names') <> ''
AND current_setting('synchronous_commit') NOT IN ('off', 'local')`

export const maySeeStandbysText = `pg_has_role(current_user, '${replicationRole}', 'USAGE')`

/** The number that the setting names: `FIRST 2 (…)`, `ANY 1 (…)`, `2 (…)`; 1 for a plain list. */
const standbysMin = `coalesce(substring(current_setting('synchronous_standby_names')
FROM '(?i)^\\s*(?:FIRST|ANY)?\\s*(\\d+)\\s*\\('), '1')::int`

const reachedPosition = `CASE current_setting('synchronous_commit')
WHEN 'remote_write' THEN write_lsn WHEN 'remote_apply' THEN replay_lsn ELSE flush_lsn END`

/**
 * SQL of the log position that standbys have yet to reach; NULL if enough of them have, or none is
 * required.
 * @param position SQL of that position; NULL for everything flushed so far
 */
export const awaitedPositionText = (
  position: string,
): string => `CASE WHEN ${areStandbysAwaited} AND ${maySeeStandbysText} THEN (
  SELECT mark.lsn::text FROM (SELECT coalesce(${position}, pg_current_wal_flush_lsn())) mark(lsn)
  WHERE (SELECT count(*) FROM pg_stat_get_wal_senders()
    WHERE sync_state IN ('sync', 'quorum') AND ${reachedPosition} >= mark.lsn) < ${standbysMin}
) END`

type Ask = (text: string, parameters?: readonly Parameter[]) => Promise<readonly Cells[]>

/**
 * Waits until the standbys have reached a log position.
 * @param first result of `awaitedPositionText`
 * @param isLate true once the caller has given up
 * @throws DatabaseError; `lost` when late
 */
export async function untilStandbysReach(
  ask: Ask,
  first: unknown,
  isLate: () => boolean = () => false,
): Promise<void> {
  const text = `SELECT ${awaitedPositionText('$1::text::pg_lsn')}`
  let position = first
  for (let waitMs = standbyCheckMsMin; typeof position === 'string'; waitMs *= 2) {
    if (isLate()) throw new DatabaseError('lost')
    await setTimeout(Math.min(waitMs, databaseRetryMsMax))
    const [row] = await ask(text, [position])
    position = row?.[0]
  }
}

/**
 * Waits until everything committed so far is where it must be.
 * @param ask runs one statement after the other; its errors end the wait
 * @throws DatabaseError
 */
export async function untilReplicated(ask: Ask, isLate?: () => boolean): Promise<void> {
  const [row] = await ask(`SELECT ${awaitedPositionText('NULL::pg_lsn')}`)
  await untilStandbysReach(ask, row?.[0], isLate)
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
  async function afterEarlierWrites<T>(msMax: number, work: () => Promise<T>): Promise<T> {
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
      afterEarlierWrites(msMax, () => pool.query(text, parameters, msMax)),
    hold: (msMax, work) => afterEarlierWrites(msMax, () => pool.hold(msMax, work)),
  }
}
