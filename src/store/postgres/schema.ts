/**
 * Tables of a store in PostgreSQL, and the statements that create them.
 *
 * They are blind: digests, ordinals, deadlines and sealed bytes. Names are qualified, because a
 * transaction pooler would not keep a `search_path`. Source: docs/many-machines.md, "The tables".
 * @module
 */
import { ApiError, otherFormat } from '../../lib/errors.ts'
import { databaseSetupMsMax } from '../core/limits.ts'
import type { Pool, DatabaseSession } from './pool.ts'
import { replicationRole, untilReplicated } from './replication.ts'
import { roleSettings, sharedRoleSettings } from './connection-settings.ts'
import { databaseErrorOf, type DatabaseError } from './database-error.ts'

/** Changes with every change of a table. */
export const databaseFormat = 1
/** Format of tables that a bulk load fills. */
export const loadingFormat = -1
/** Format of a vault about to move to a folder: it cannot be opened, but open ones still serve. */
export const movingOutFormat = -2
/** Format of a vault that no process serves any more: a folder has it, or is taking it. */
export const movedOutFormat = -3

export const movedOutMessage = 'the vault has moved, or is being moved, into a folder'

/** Least value of a column of numbers, below the range of ours. */
export const bigintMin = '-9223372036854775808'

/** Names of the tables of a schema. */
export const tablesIn = (schema: string) => ({
  schema,
  /** One row: the format, the generation, and the mark of the clock. */
  state: `${schema}.state`,
  /** Assigns ordinals: ascending, with gaps where a write was rolled back, or a server crashed. */
  ordinals: `${schema}.ordinals`,
  /** Ordinal → row as bytes (`store/core/row-format.ts`), with columns that statements use. */
  rows: `${schema}.rows`,
  /** Digest → ordinal and version. */
  uniques: `${schema}.uniques`,
  /** Rows whose terms are not in chunks yet. */
  recent: `${schema}.recent`,
  /** Chunk and term → places (`store/core/place-set.ts`). */
  chunks: `${schema}.chunks`,
  /** Work that one vault does for all, and when its lease expires. */
  leases: `${schema}.leases`,
  /** Last commit of each writer. */
  receipts: `${schema}.receipts`,
  /** Part of the sum over all rows of each writer, sealed (`write/writer-part.ts`). */
  sums: `${schema}.sums`,
  /** Sequence of its first entry → bundle of the log (`store/core/bundle-format.ts`). */
  log: `${schema}.log`,
  /** Values that follow from the log, by their keys. */
  derived: `${schema}.derived`,
  /** One row: the oldest sequence kept, and the next. Every write that logs locks it, the last. */
  logRange: `${schema}.log_range`,
})

export type Tables = ReturnType<typeof tablesIn>

/** Databases of this format that an older coffer made lack this table: `later-tables.ts`. */
export const sumStatementsOf = ({ sums }: Tables): readonly string[] => [
  // Each row is changed by every group of its writer: room for that keeps its index as it is.
  `CREATE TABLE IF NOT EXISTS ${sums} (writer bytea PRIMARY KEY, sealed bytea NOT NULL)
WITH (fillfactor = 50)`,
]

/** The same, for databases of before the log. */
export const logStatementsOf = ({ log, derived, logRange }: Tables): readonly string[] => [
  `CREATE TABLE IF NOT EXISTS ${log} (seq bigint PRIMARY KEY, value bytea NOT NULL)`,
  // As for rows.
  `ALTER TABLE ${log} ALTER COLUMN value SET STORAGE EXTERNAL`,
  `CREATE TABLE IF NOT EXISTS ${derived} (key bytea PRIMARY KEY, value bytea NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS ${logRange} (
  one boolean PRIMARY KEY CHECK (one),
  from_seq bigint NOT NULL,
  next_seq bigint NOT NULL
)`,
  `INSERT INTO ${logRange} VALUES (true, 0, 0) ON CONFLICT DO NOTHING`,
]

const statementsOf = (tables: Tables, format = databaseFormat): readonly string[] => [
  `CREATE SCHEMA ${tables.schema}`,
  `CREATE TABLE ${tables.state} (
  one boolean PRIMARY KEY CHECK (one),
  format integer NOT NULL,
  generation bigint NOT NULL,
  clock_ms bigint NOT NULL
)`,
  `CREATE SEQUENCE ${tables.ordinals} MINVALUE 1 MAXVALUE ${2 ** 48 - 1} CACHE 1`,
  `CREATE TABLE ${tables.rows} (
  ordinal bigint PRIMARY KEY,
  version bigint NOT NULL,
  deadline_ms bigint,
  value bytea NOT NULL
)`,
  // Sealed data does not compress.
  `ALTER TABLE ${tables.rows} ALTER COLUMN value SET STORAGE EXTERNAL`,
  `CREATE INDEX rows_due ON ${tables.rows} (deadline_ms, ordinal) WHERE deadline_ms IS NOT NULL`,
  `CREATE TABLE ${tables.uniques} (
  digest bytea PRIMARY KEY,
  ordinal bigint NOT NULL,
  version bigint NOT NULL
)`,
  `CREATE TABLE ${tables.recent} (ordinal bigint PRIMARY KEY, terms bytea NOT NULL)`,
  `CREATE TABLE ${tables.chunks} (
  chunk integer NOT NULL,
  term bytea NOT NULL,
  places bytea NOT NULL,
  PRIMARY KEY (chunk, term)
)`,
  `CREATE TABLE ${tables.leases} (
  name text PRIMARY KEY,
  holder bytea NOT NULL,
  until timestamptz NOT NULL
)`,
  `CREATE TABLE ${tables.receipts} (
  writer bytea PRIMARY KEY,
  number bigint NOT NULL,
  ordinals bigint[] NOT NULL,
  used_at timestamptz NOT NULL
)`,
  // These rows come and go all the time.
  `ALTER TABLE ${tables.recent}
SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`,
  ...logStatementsOf(tables),
  ...sumStatementsOf(tables),
  `INSERT INTO ${tables.state} VALUES (true, ${format}, 0, 0)`,
]

/** Privileges of a role that only serves, for an operator who creates the tables as another one. */
const grantsOf = ({ schema }: Tables, role: string): readonly string[] => [
  `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
  `GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`,
  ...roleSettings.map(setting => `ALTER ROLE ${role} SET ${setting}`),
  // Sight of standbys' progress, which only its holders may grant.
  `DO $$ BEGIN GRANT ${replicationRole} TO ${role};
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'a superuser is to run: GRANT ${replicationRole} TO ${role}'; END $$`,
]

const isMissing = ({ kind, state }: DatabaseError): boolean =>
  kind === 'missing' && (state === '3F000' || state === '42P01')

/**
 * Reads the format of the tables; `undefined` if there are none.
 * @throws DatabaseError
 */
export async function readFormat(pool: Pool, { state }: Tables): Promise<number | undefined> {
  try {
    const [row] = await pool.query(`SELECT format FROM ${state}`)
    return row === undefined ? 0 : Number(row[0])
  } catch (error) {
    const failure = databaseErrorOf(error)
    if (isMissing(failure)) return undefined
    throw failure
  }
}

/** @throws ApiError unless they are a vault's, of this format; DatabaseError */
export async function assertFormat(pool: Pool, tables: Tables): Promise<void> {
  const format = await readFormat(pool, tables)
  if (format === undefined) throw new ApiError('not_found', 'the database has no vault')
  if (format === loadingFormat) throw new ApiError('conflict', 'a vault is being moved there')
  if (format === movingOutFormat || format === movedOutFormat)
    throw new ApiError('conflict', movedOutMessage)
  if (format === databaseFormat) return
  throw new ApiError('conflict', otherFormat('the vault there', format, databaseFormat))
}

/**
 * Returns all statements for a user that serves and owns nothing.
 * @param isUpgrade true for only those that the tables of an older coffer lack
 */
export function setupOf(schema: string, role: string, isUpgrade: boolean): readonly string[] {
  const tables = tablesIn(schema)
  const later = [...logStatementsOf(tables), ...sumStatementsOf(tables)]
  const making = isUpgrade ? later : statementsOf(tables)
  return [...making, ...grantsOf(tables, role)].map(statement => `${statement};`)
}

const settingsOfRole = `DO $$ BEGIN
${sharedRoleSettings
  .map(
    setting => `EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET ${setting}',
  current_database());`,
  )
  .join('\n')}
EXCEPTION WHEN insufficient_privilege THEN NULL; END $$`

/**
 * Creates the tables if there are none, all or nothing.
 * @param beforeCommit called once nobody else can make them
 * @throws ApiError `conflict` if there are some; DatabaseError
 */
export async function makeTables(
  pool: Pool,
  tables: Tables,
  msMax: number,
  format = databaseFormat,
  beforeCommit = () => {},
): Promise<void> {
  if ((await readFormat(pool, tables)) !== undefined) {
    throw new ApiError('conflict', 'the database has a vault')
  }
  await pool.hold(msMax, async ({ send }) => {
    await send('BEGIN')
    for (const statement of statementsOf(tables, format)) await send(statement)
    beforeCommit()
    await send('COMMIT')
  })
  await pool.query(settingsOfRole)
  await untilReplicated(pool.query)
}

async function hasAnyRow(send: DatabaseSession['send'], { rows }: Tables): Promise<boolean> {
  const [row] = await send(`SELECT EXISTS (SELECT 1 FROM ${rows})`)
  return row?.[0] === true
}

export const hasRows = (pool: Pool, tables: Tables): Promise<boolean> =>
  hasAnyRow(pool.query, tables)

/**
 * Drops the tables of an unused vault.
 * @param isOurs true if its rows are ours; otherwise those of another vault made meanwhile stay
 */
export const dropTables = (pool: Pool, tables: Tables, isOurs: boolean): Promise<void> =>
  pool.hold(databaseSetupMsMax, async ({ send }) => {
    await send('BEGIN')
    await send(`LOCK TABLE ${tables.rows} IN ACCESS EXCLUSIVE MODE`)
    if (isOurs || !(await hasAnyRow(send, tables)))
      await send(`DROP SCHEMA ${tables.schema} CASCADE`)
    await send('COMMIT')
  })
