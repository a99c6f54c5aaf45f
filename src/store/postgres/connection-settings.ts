/**
 * Settings of the sessions that a vault opens.
 *
 * They are sent with each connection. A transaction pooler (PgBouncer) refuses that and passes on
 * the role's settings: `coffer db setup` gives the role the same ones, and `coffer init` those of
 * `sharedRoleSettings`. Source: PostgreSQL, "Client Connection Defaults"; PgBouncer,
 * "ignore_startup_parameters".
 * @module
 */
import { databaseAbandonedMs } from '../core/limits.ts'

/** @param abandonedMs time after which the database ends an idle transaction */
const sharedSettings = (abandonedMs: number): Readonly<Record<string, string>> => ({
  // A plan made while a table was small must not scan the whole table once it is large.
  enable_seqscan: 'off',
  // Joins of requests are of a few keys with an index; other methods would scan the whole table.
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // Compiling a plan takes longer than running any of ours.
  jit: 'off',
  // A database of long ago, or a role in it, may keep the older forms, which nothing here reads.
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  array_nulls: 'on',
  // A vault's machine may vanish or be cut off during a transaction that holds locks.
  idle_in_transaction_session_timeout: String(abandonedMs),
  tcp_user_timeout: String(abandonedMs),
})

/** Times after which the database ends a statement, by what keeps it. */
export interface StatementBounds {
  /** Absent for connections that write: a wait for standbys would end too, as if these answered. */
  readonly statementMs?: number
  /**
   * Only of the wait for a lock. The database does not notice that a client has gone that waits for
   * one: while somebody holds a table, each abandoned try would keep a connection.
   */
  readonly lockMs?: number
}

/**
 * Others who use the database may make a function or operator, in a schema such as `public`, that
 * fits the types of a call better than the database's own: our statements would run it as our user.
 * So none of theirs is looked for. Source: PostgreSQL, "Functions" in "Type Conversion";
 * CVE-2018-1058.
 * @param abandonedMs time after which the database ends an idle transaction
 */
export const connectionSettings = (
  abandonedMs: number,
  { statementMs, lockMs }: StatementBounds = {},
): Readonly<Record<string, string>> => ({
  ...sharedSettings(abandonedMs),
  search_path: 'pg_catalog',
  // Statements fail where policies would hide rows from the vault, and pass none over in silence.
  row_security: 'off',
  ...(statementMs === undefined ? {} : { statement_timeout: String(statementMs) }),
  ...(lockMs === undefined ? {} : { lock_timeout: String(lockMs) }),
})

const linesOf = (settings: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(settings).map(([name, value]) => `${name} = ${value}`)

/** Settings of a role that serves a vault and does nothing else. */
export const roleSettings = linesOf(connectionSettings(databaseAbandonedMs))

/** Settings of a role that another application may use too, whose tables a search path finds. */
export const sharedRoleSettings = linesOf(sharedSettings(databaseAbandonedMs))
