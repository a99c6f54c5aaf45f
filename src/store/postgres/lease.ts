/**
 * Leases: work that one vault does for all, until it is silent for some seconds.
 *
 * Two holders for a moment do no harm: all work under a lease is safe to do twice. Leases use the
 * clock of the database, which all vaults share.
 * @module
 */
import { databaseErrorOf, mayPass } from './database-error.ts'
import { defaultTimeouts, type DatabaseTimeouts } from './timeouts.ts'
import type { Pool } from './pool.ts'
import { databaseFormat, type Tables } from './schema.ts'
import { singleFlight } from '../../lib/serial.ts'

/** Name of the lease that says which folder takes the vault; it never expires. */
export const moverLease = 'move'

export interface Lease {
  readonly isHeld: () => boolean
  /** Releases it, so that another vault need not wait for it to expire. */
  readonly close: () => Promise<void>
}

/** A lease expires and is taken anew elsewhere, so it does not wait for standbys. */
const isLocal = `set_config('synchronous_commit', 'local', true) = 'local'`

/** A lease that ends later than possible is forged, or older than a set-back of the clock. */
const takeText = ({ leases }: Tables): string => `INSERT INTO ${leases} AS l
SELECT $1::text, $2::bytea, clock_timestamp() + $3::int * interval '1 ms' WHERE ${isLocal}
ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, until = EXCLUDED.until
WHERE l.holder = EXCLUDED.holder OR l.until < clock_timestamp()
  OR l.until > EXCLUDED.until
RETURNING 1`

export interface LeaseOptions {
  readonly pool: Pool
  readonly tables: Tables
  readonly holder: Uint8Array
  readonly elapsedMs: () => number
  readonly bounds?: DatabaseTimeouts
  /**
   * Called once when the database refuses the lease, as without a right, until it can be asked
   * again; a database that is gone refuses nothing.
   * @param state SQLSTATE, if the database sent one
   */
  readonly onRefusal?: (state: string | undefined) => void
}

/**
 * True if no other process holds a lease. That of a folder stays where it was lost with the vault
 * that it took, and an operator had the database serve again. @throws DatabaseError
 */
export async function isAlone({ pool, tables, holder }: LeaseOptions): Promise<boolean> {
  const { leases, state } = tables
  const text = `SELECT 1 FROM ${leases}
WHERE holder <> $1::bytea AND until > clock_timestamp() AND NOT (
  name = '${moverLease}' AND EXISTS (SELECT FROM ${state} WHERE format = ${databaseFormat})
) LIMIT 1`
  return (await pool.query(text, [holder])).length === 0
}

/** Deletes leases of processes that vanished. @throws DatabaseError */
export const deleteStaleLeases = (pool: Pool, { leases }: Tables): Promise<unknown> =>
  pool.query(
    `DELETE FROM ${leases} WHERE until < clock_timestamp() - interval '1 hour' AND ${isLocal}`,
  )

export function keepLease(name: string, options: LeaseOptions): Lease {
  const { pool, tables, holder, elapsedMs, bounds = defaultTimeouts } = options
  const { leaseMs, leaseRenewMs } = bounds
  let heldUntilMs = -1
  let isRefused = false
  const take = singleFlight(async () => {
    const startMs = elapsedMs()
    try {
      const rows = await pool.query(takeText(tables), [name, holder, leaseMs])
      heldUntilMs = rows.length > 0 ? startMs + leaseMs : -1
      isRefused = false
    } catch (error) {
      // The lease expires without it.
      const cause = databaseErrorOf(error)
      if (isRefused || mayPass(cause)) return
      isRefused = true
      options.onRefusal?.(cause.state)
    }
  })
  void take()
  const timer = setInterval(take, leaseRenewMs)
  timer.unref()
  const isHeld = (): boolean => elapsedMs() < heldUntilMs
  return {
    isHeld,
    async close() {
      clearInterval(timer)
      await take.running()
      if (!isHeld()) return
      heldUntilMs = -1
      const text = `DELETE FROM ${tables.leases}
WHERE name = $1 AND holder = $2::bytea AND ${isLocal}`
      await pool.query(text, [name, holder]).catch(() => {})
    },
  }
}
