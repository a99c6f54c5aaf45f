/**
 * Fills the tables of a new store with the rows of another one, which keep their ordinals.
 *
 * Until the end the tables have the format of a load, so that no process serves half a vault. Each
 * step is one transaction: an interrupted load continues after the last row that it stored.
 * @module
 */
import { uniqueBytes } from '../../limits/work-limits.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Row } from '../contract.ts'
import type { StoredSum } from '../operated.ts'
import { bulkFoldRows, bulkMsMax } from '../core/limits.ts'
import { encodeRow } from '../core/row-format.ts'
import { ensureLaterTables } from './later-tables.ts'
import { foldOnce } from './postgres-fold.ts'
import { packRows } from './packed-parameters.ts'
import { arrayOf, type Pool } from './pool.ts'
import { untilReplicated } from './replication.ts'
import {
  databaseFormat,
  loadingFormat,
  movedOutFormat,
  makeTables,
  readFormat,
  type Tables,
} from './schema.ts'

/**
 * Creates the tables to be filled, or finds those of an interrupted load.
 * @param note called before there are any; never where they are of others
 * @returns ordinal from which rows are missing
 * @throws ApiError `conflict` if there is a vault; DatabaseError
 */
export async function beginBulkLoad(pool: Pool, tables: Tables, note = () => {}): Promise<number> {
  const format = await readFormat(pool, tables)
  if (format === undefined) {
    await makeTables(pool, tables, bulkMsMax, loadingFormat, note)
  } else if (format === movedOutFormat) {
    throw new ApiError('conflict', 'a vault has left its tables there: drop their schema first')
  } else if (format !== loadingFormat) {
    throw new ApiError('conflict', 'the database has a vault')
  } else note()
  await ensureLaterTables(pool, tables)
  const [row] = await pool.query(`SELECT coalesce(max(ordinal), -1) FROM ${tables.rows}`)
  return Number(row?.[0]) + 1
}

const loadText = ({ rows, uniques, recent }: Tables): string => `
WITH given AS MATERIALIZED (
  SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::int[], $7::int[],
    $8::int[]) WITH ORDINALITY g(ordinal, version, deadline, at, size, terms_at, terms_size, i)
), put_rows AS (
  INSERT INTO ${rows} SELECT ordinal, version, deadline, substring($1::bytea FROM at FOR size)
  FROM given
), put_uniques AS (
  INSERT INTO ${uniques}
  SELECT substring($1::bytea FROM u.at FOR ${uniqueBytes}), ($2::bigint[])[u.i], ($3::bigint[])[u.i]
  FROM unnest($9::int[], $10::int[]) u(i, at)
)
INSERT INTO ${recent} SELECT ordinal, substring($1::bytea FROM terms_at FOR terms_size) FROM given`

/** Puts the next rows in order. @throws DatabaseError */
export async function loadRows(pool: Pool, tables: Tables, rows: readonly Row[]): Promise<void> {
  const packed = packRows(rows.map(row => ({ row, value: encodeRow(row) })))
  await pool.query(
    loadText(tables),
    [
      packed.bytes,
      arrayOf(rows.map(({ ordinal }) => ordinal)),
      arrayOf(rows.map(({ version }) => version)),
      arrayOf(rows.map(({ deadlineMs }) => deadlineMs ?? null)),
      arrayOf(packed.at),
      arrayOf(packed.sizes),
      arrayOf(packed.termOffsets),
      arrayOf(packed.termSizes),
      arrayOf(packed.uniqueRows),
      arrayOf(packed.uniqueOffsets),
    ],
    bulkMsMax,
  )
}

/** Folds the loaded rows, except for `rest` of them. @throws DatabaseError */
export async function foldLoaded(pool: Pool, tables: Tables, rest: number): Promise<void> {
  for (;;) {
    const [row] = await pool.query(`SELECT count(*) FROM ${tables.recent}`)
    if (Number(row?.[0]) <= rest) return
    await foldOnce(pool, tables, bulkFoldRows, bulkMsMax)
  }
}

/**
 * Ends the rows: the next insert continues after them.
 * @param last the highest ordinal ever assigned
 * @throws DatabaseError
 */
export async function finishRows(
  pool: Pool,
  { rows, ordinals }: Tables,
  last: number,
): Promise<void> {
  await pool.query('SELECT setval($1::regclass, $2::bigint)', [ordinals, Math.max(1, last)])
  await pool.query(`ANALYZE ${rows}`, [], bulkMsMax)
}

/**
 * Puts the sum of a folder: the database's first part, which needs no key. @throws DatabaseError
 */
export async function loadSum(pool: Pool, { sums }: Tables, { parts }: StoredSum): Promise<void> {
  const text = `INSERT INTO ${sums} VALUES ($1::bytea, $2::bytea)
ON CONFLICT (writer) DO UPDATE SET sealed = EXCLUDED.sealed`
  for (const { writer, sealed } of parts) await pool.query(text, [writer, sealed])
}

interface LoadedState {
  readonly generation: number
  /** Mark of the clock; 0 if there is none. */
  readonly markMs: number
}

/** Turns the tables into those of a vault, and waits for replication. @throws DatabaseError */
export async function endBulkLoad(
  pool: Pool,
  { state }: Tables,
  { generation, markMs }: LoadedState,
): Promise<void> {
  const text = `UPDATE ${state}
SET format = ${databaseFormat}, generation = $1::bigint, clock_ms = $2::bigint`
  await pool.query(text, [generation, markMs])
  await untilReplicated(pool.query)
}
