/**
 * Settings of the sessions that a vault opens.
 *
 * They go with each connection. A pool of transactions (PgBouncer) refuses that, and hands on what
 * the role has: `coffer init` and `coffer db setup` give it the same.
 * Source: PostgreSQL, "Client Connection Defaults"; PgBouncer, "ignore_startup_parameters".
 * @module
 */
import { databaseAbandonedMs } from '../core/limits.ts'

/** @param abandonedMs from when on a transaction that says nothing is ended */
export const connectionSettings = (abandonedMs: number): Readonly<Record<string, string>> => ({
  // A plan that was made while a table had few rows must not read all of it once it has many.
  enable_seqscan: 'off',
  // Every join is of few keys with the index of a table: other kinds read that from end to end.
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // To compile a plan takes longer than any of ours.
  jit: 'off',
  // The machine of a vault may be gone, or cut off, amid a transaction that holds locks.
  idle_in_transaction_session_timeout: String(abandonedMs),
  tcp_user_timeout: String(abandonedMs),
})

export const roleSettings: readonly string[] = Object.entries(
  connectionSettings(databaseAbandonedMs),
).map(([name, value]) => `${name} = ${value}`)
