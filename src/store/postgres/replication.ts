/**
 * Whether what was committed is where it has to be before it is answered.
 *
 * A COMMIT whose wait for its standbys is cancelled succeeds with a warning, which the client does
 * not hand on; and what a read finds may be on one machine alone. So the database is asked behind
 * the COMMIT how far its standbys are. A user that may not see that is told of nothing.
 * Source: PostgreSQL, "Synchronous Replication", `pg_stat_get_wal_senders`.
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import { databaseRetryMsMax, replicatedLookMs } from '../core/limits.ts'
import type { Cells, Parameter, Pool } from './pool.ts'
import { DatabaseError, databaseErrorOf } from './database-error.ts'

/** Who may see how far standbys are. */
export const replicationRole = 'pg_read_all_stats'

/** Of what is set in place of its name: nothing else is waited for then. */
const isWaitedFor = `current_setting('synchronous_standby_names') <> ''
AND current_setting('synchronous_commit') NOT IN ('off', 'local')`

export const maySee = `pg_has_role(current_user, '${replicationRole}', 'USAGE')`

/** As many as the setting names: `FIRST 2 (…)`, `ANY 1 (…)`, `2 (…)`, or a list, of which one. */
const standbysMin = `coalesce(substring(current_setting('synchronous_standby_names')
FROM '(?i)^\\s*(?:FIRST|ANY)?\\s*(\\d+)\\s*\\('), '1')::int`

const reached = `CASE current_setting('synchronous_commit')
WHEN 'remote_write' THEN write_lsn WHEN 'remote_apply' THEN replay_lsn ELSE flush_lsn END`

/** The place in the log that standbys have yet to reach; NULL: they have, or none is asked. */
export const missing = (place: string): string => `CASE WHEN ${isWaitedFor} AND ${maySee} THEN (
  SELECT mark.place::text FROM (SELECT coalesce(${place}, pg_current_wal_flush_lsn())) mark(place)
  WHERE (SELECT count(*) FROM pg_stat_get_wal_senders()
    WHERE sync_state IN ('sync', 'quorum') AND ${reached} >= mark.place) < ${standbysMin}
) END`

type Ask = (text: string, parameters?: readonly Parameter[]) => Promise<readonly Cells[]>

/**
 * @param first of `missing`, as it was told
 * @param isLate whether nobody waits for it any more
 * @throws DatabaseError; `lost` where it is late
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
 * Waits until all that is committed now is where it has to be.
 * @param ask one statement after the other; what it throws ends the wait
 * @throws DatabaseError
 */
export async function untilReplicated(ask: Ask, isLate?: () => boolean): Promise<void> {
  const [row] = await ask(`SELECT ${missing('NULL::pg_lsn')}`)
  await untilReached(ask, row?.[0], isLate)
}

/**
 * A pool whose work writes. Once some of it was not answered, none is sent before the standbys have
 * all that came before: a database does not notice that a client has gone which waits for them, and
 * keeps its connection.
 */
export function makeWritePool(pool: Pool, elapsedMs: () => number, connectMs: number): Pool {
  let losses = 0
  /** Of those, how many came before the standbys were seen to have all. */
  let settled = 0
  async function noted<T>(msMax: number, work: () => Promise<T>): Promise<T> {
    const untilMs = elapsedMs() + msMax
    const before = losses
    if (settled < before) await untilReplicated(pool.query, () => elapsedMs() > untilMs)
    try {
      const value = await work()
      // What was lost while this went on is asked about by another.
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
