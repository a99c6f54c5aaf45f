/**
 * Facts about a database as a vault finds it, for a person who must learn what is wrong. It changes
 * nothing and needs no table of a vault.
 * @module
 */
import { skewOf } from './database-clock.ts'
import type { Cells, Pool } from './pool.ts'
import { maySeeStandbysText } from './replication.ts'
import type { Tables } from './schema.ts'

export interface DatabaseFacts {
  /** PostgreSQL's number: 150018 is 15.18. */
  readonly version: number
  readonly isStandby: boolean
  /** By name, in the units of the database. */
  readonly settings: Readonly<Record<string, string>>
  /** Connections that this user may have at once; 0 if unknown. */
  readonly connectionsMax: number
  /** Lead of this machine's clock. */
  readonly skewMs: number
  /** TLS version of the connection as the database sees it; a pooler may stand in between. */
  readonly tls: string | undefined
  readonly isOnOneMachine: boolean
  /** True if this user may see the progress of standbys. */
  readonly maySeeStandbys: boolean
}

const settingNames = [
  'default_transaction_read_only',
  'synchronous_commit',
  'synchronous_standby_names',
  'fsync',
  'full_page_writes',
  'statement_timeout',
  'enable_seqscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'jit',
  'standard_conforming_strings',
  'bytea_output',
  'array_nulls',
  'row_security',
  'idle_in_transaction_session_timeout',
  'search_path',
] as const

/** Limits of a role or a database do not bind a superuser. */
const factsText = `SELECT
current_setting('server_version_num')::int,
pg_is_in_recovery(),
CASE WHEN r.rolsuper THEN current_setting('max_connections')::int ELSE LEAST(
  current_setting('max_connections')::int
    - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true)::int, 0),
  CASE WHEN r.rolconnlimit >= 0 THEN r.rolconnlimit END,
  CASE WHEN d.datconnlimit >= 0 THEN d.datconnlimit END
) END,
(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
(SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl),
coalesce(inet_client_addr() = inet_server_addr(), true),
${maySeeStandbysText}
FROM pg_roles r, pg_database d
WHERE r.rolname = current_user AND d.datname = current_database()`

const settingsText = `SELECT name, setting FROM pg_settings WHERE name = ANY ($1::text[])`

const settingsIn = (rows: readonly Cells[]): DatabaseFacts['settings'] =>
  Object.fromEntries(rows.map(([name, setting]) => [String(name), String(setting)]))

/** @throws DatabaseError */
export async function readDatabaseFacts(pool: Pool, wallMs: () => number): Promise<DatabaseFacts> {
  const settings = await pool.query(settingsText, [`{${settingNames.join(',')}}`])
  const beforeMs = wallMs()
  const [row = []] = await pool.query(factsText)
  const [version, isStandby, connectionsMax, theirMs, tls, isOnOneMachine, maySeeStandbys] = row
  return {
    version: Number(version),
    isStandby: isStandby === true,
    settings: settingsIn(settings),
    connectionsMax: Number(connectionsMax ?? 0),
    skewMs: skewOf(beforeMs, Number(theirMs), wallMs()),
    tls: typeof tls === 'string' ? tls : undefined,
    isOnOneMachine: isOnOneMachine === true,
    maySeeStandbys: maySeeStandbys === true,
  }
}

/**
 * Returns the lead of the vaults' stored clock mark over the clock of the database.
 * @throws DatabaseError
 */
export async function markAheadMs(pool: Pool, { state }: Tables): Promise<number> {
  const text = 'clock_ms - (extract(epoch FROM clock_timestamp()) * 1000)::bigint'
  const [row] = await pool.query(`SELECT ${text} FROM ${state}`)
  return Number(row?.[0] ?? 0)
}

/** Owners of the schema and its tables that this user need not trust. */
const ownersText = `SELECT FROM pg_roles r, pg_database d
WHERE d.datname = current_database() AND NOT r.rolsuper AND r.oid <> d.datdba
AND r.rolname <> 'pg_database_owner' AND NOT pg_has_role(current_user, r.oid, 'USAGE')
AND r.oid IN (
  SELECT nspowner FROM pg_namespace WHERE nspname = $1
  UNION SELECT c.relowner FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND n.nspname || '.' || c.relname = ANY ($2::text[])
) LIMIT 1`

/**
 * True if tables belong to a role that is neither this user's, nor the owner of the database, nor a
 * superuser: anyone who may make a schema can make these before the vault is there.
 * @throws DatabaseError
 */
export async function areTablesForeign(pool: Pool, tables: Tables): Promise<boolean> {
  const { schema, ...own } = tables
  const found = await pool.query(ownersText, [schema, `{${Object.values(own).join(',')}}`])
  return found.length > 0
}
