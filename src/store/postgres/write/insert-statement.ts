/**
 * The statement that inserts the rows of a group: unconditionally, or only if its uniques are free
 * and the rows that it requires are unchanged; and that of a group which inserts none.
 * @module
 */
import { uniqueBytes } from '../../../limits/work-limits.ts'
import type { PreparedRow } from '../../core/prepare-change.ts'
import { firstUniqueText, packRows } from '../packed-parameters.ts'
import { arrayOf, type Parameter } from '../pool.ts'
import type { Tables } from '../schema.ts'
import type { PartMove } from './writer-part.ts'

/** Identifies a commit: its writer, and the number of its group, which the receipt repeats. */
export interface CommitId {
  readonly writer: Uint8Array
  readonly number: number
}

/** A commit of a group that goes at once. */
export interface FastCommit extends CommitId {
  /** `undefined` only for a writer that keeps no part: then nobody may keep one. */
  readonly part: PartMove | undefined
}

export const deadlinesOf = (rows: readonly PreparedRow[]): string =>
  arrayOf(rows.map(({ row }) => row.deadlineMs ?? null))

/** Each row gets its ordinal from the sequence. Its terms lie within its bytes. */
const insertsText = (
  { ordinals, rows, recent, uniques, receipts }: Tables,
  isClear: string,
): string => `given AS MATERIALIZED (
  SELECT g.*, nextval('${ordinals}') AS ordinal
  FROM unnest($4::int[], $5::int[], $6::bigint[], $7::int[], $8::int[]) WITH ORDINALITY
    g(at, size, deadline, terms_at, terms_size, i) ${isClear}
), ids AS MATERIALIZED (
  SELECT array_agg(ordinal ORDER BY i) AS list FROM given
), put_rows AS (
  INSERT INTO ${rows} SELECT ordinal, 1, deadline, substring($3::bytea FROM at FOR size) FROM given
), put_uniques AS (
  INSERT INTO ${uniques}
  SELECT substring($3::bytea FROM u.at FOR ${uniqueBytes}), ids.list[u.i], 1
  FROM unnest($9::int[], $10::int[]) u(i, at), ids WHERE ids.list IS NOT NULL
  ORDER BY 1
), put_recent AS (
  INSERT INTO ${recent}
  SELECT ordinal, substring($3::bytea FROM terms_at FOR terms_size) FROM given
), put_receipt AS (
  UPDATE ${receipts} SET number = $2::bigint, used_at = clock_timestamp(), ordinals = ids.list
  FROM ids WHERE writer = $1::bytea AND ids.list IS NOT NULL
)
SELECT ordinal FROM given ORDER BY i`

/** @returns one ordinal per row, in the order of the rows */
export const insertText = (tables: Tables): string => `WITH ${insertsText(tables, '')}`

/**
 * Parameters of what must hold: ordinals and versions of rows, the part before and after, and those
 * of the rows that are named, with their first uniques.
 */
type ClearParameters = readonly [
  ordinals: string,
  versions: string,
  before: string,
  after: string,
  named: string,
  uniques: string,
]

/**
 * Queries that say whether a group may go at once: it is a new one of its writer, the rows that it
 * requires are at the required versions, and the writer's part of the sum is the one that it knows.
 * Its receipt is locked first, then that part, then those rows, as by `lockRows`. If it may go, the
 * part is moved.
 * @param isFree condition on the uniques
 */
const clearText = (
  { receipts, rows, sums }: Tables,
  [ordinals, versions, before, after, named, uniques]: ClearParameters,
  isFree: string,
): string => `receipt AS MATERIALIZED (
  SELECT FROM ${receipts} WHERE writer = $1::bytea AND number < $2::bigint FOR UPDATE
), part AS MATERIALIZED (
  SELECT FROM ${sums} WHERE writer = $1::bytea AND sealed = ${before}::bytea
    AND EXISTS (SELECT FROM receipt) FOR UPDATE
), required AS MATERIALIZED (
  SELECT ordinal, version, ${firstUniqueText} AS name FROM ${rows}
  WHERE ordinal = ANY(${ordinals}::bigint[]) AND EXISTS (SELECT FROM receipt)
  ORDER BY ordinal FOR SHARE
), clear AS MATERIALIZED (
  SELECT FROM receipt
  WHERE CASE WHEN ${before}::bytea IS NULL THEN NOT EXISTS (SELECT FROM ${sums})
    ELSE EXISTS (SELECT FROM part) END
    AND coalesce((SELECT array_agg(version ORDER BY ordinal) FROM required), '{}')
      = ${versions}::bigint[]
    AND coalesce((SELECT string_agg(name, '' ORDER BY ordinal) FROM required
      WHERE ordinal = ANY(${named}::bigint[])), '') = ${uniques}::bytea ${isFree}
), put_part AS (
  UPDATE ${sums} SET sealed = ${after}::bytea
  WHERE writer = $1::bytea AND ${after}::bytea IS NOT NULL AND EXISTS (SELECT FROM clear)
)`

/**
 * The same, but only if the group may go at once, and none of its uniques is held. A unique that is
 * taken meanwhile fails the statement.
 */
export const insertWhereClearText = (tables: Tables): string => `
WITH ${clearText(
  tables,
  ['$11', '$12', '$13', '$14', '$15', '$16'],
  `AND NOT EXISTS (
    SELECT FROM unnest($10::int[]) at
    JOIN ${tables.uniques} ON digest = substring($3::bytea FROM at FOR ${uniqueBytes})
  )`,
)}, ${insertsText(tables, 'WHERE EXISTS (SELECT FROM clear)')}`

/**
 * Writes only the receipt, if the group may go at once. The receipt of a group that landed lists
 * ordinals: without rows it is 0, which no row has.
 * @returns that one
 */
export const receiptWhereClearText = (tables: Tables): string => `
WITH ${clearText(tables, ['$3', '$4', '$5', '$6', '$7', '$8'], '')}
UPDATE ${tables.receipts} SET number = $2::bigint, used_at = clock_timestamp(), ordinals = '{0}'
WHERE writer = $1::bytea AND EXISTS (SELECT FROM clear) RETURNING 0`

/** Parameters $1 to $10 of both statements. */
export function insertParameters(
  inserted: readonly PreparedRow[],
  commitId: CommitId,
): readonly Parameter[] {
  const packed = packRows(inserted)
  return [
    commitId.writer,
    commitId.number,
    packed.bytes,
    arrayOf(packed.at),
    arrayOf(packed.sizes),
    deadlinesOf(inserted),
    arrayOf(packed.termOffsets),
    arrayOf(packed.termSizes),
    arrayOf(packed.uniqueRows),
    arrayOf(packed.uniqueOffsets),
  ]
}
