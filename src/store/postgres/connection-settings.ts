/**
 * Settings of the sessions that a vault opens.
 *
 * They are sent with each connection. A transaction pooler (PgBouncer) refuses that and passes on
 * the role's settings: `coffer init` and `coffer db setup` give the role the same ones. Source:
 * PostgreSQL, "Client Connection Defaults"; PgBouncer, "ignore_startup_parameters".
 * @module
 */
import { databaseAbandonedMs } from '../core/limits.ts'

/** @param abandonedMs time after which the database ends an idle transaction */
export const connectionSettings = (abandonedMs: number): Readonly<Record<string, string>> => ({
  // A plan made while a table was small must not scan the whole table once it is large.
  enable_seqscan: 'off',
  // Every join is of a few keys with an index; other join methods would scan the whole table.
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // Compiling a plan takes longer than running any of ours.
  jit: 'off',
  // A vault's machine may vanish or be cut off during a transaction that holds locks.
  idle_in_transaction_session_timeout: String(abandonedMs),
  tcp_user_timeout: String(abandonedMs),
})

export const roleSettings: readonly string[] = Object.entries(
  connectionSettings(databaseAbandonedMs),
).map(([name, value]) => `${name} = ${value}`)
