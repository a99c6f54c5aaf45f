/**
 * Statements by which a group writes to the log and beside it: the last ones before its COMMIT.
 *
 * Sequences have no gaps, so a group holds the row of the next one until its COMMIT ends, and every
 * other group that logs waits for that. Locks are taken in this order: the writer's receipt and its
 * part of the sum, rows that change, rows that are required, recent rows (`lock-rows.ts`); chunks;
 * uniques of rows that change; the generation; uniques of new rows; last the range of the log. A
 * group that holds the range takes no other lock but those on entries and values of the log, which
 * nobody takes without the range: so no two groups wait for each other because of the log.
 * @module
 */
import type { DerivedValue, LogBundle, StoredBundle } from '../../contract.ts'
import { encodeBundle } from '../../core/bundle-format.ts'
import type { LogDraft, SealedLog } from '../../core/decide-change.ts'
import { bundleOf } from '../log-reads.ts'
import { packValues } from '../packed-parameters.ts'
import { arrayOf, type DatabaseSession, type Parameter } from '../pool.ts'
import type { Tables } from '../schema.ts'

export const isLogEmpty = ({ bundles, entries, derived, pruneBelow }: LogDraft): boolean =>
  bundles.length + entries.length + derived.size === 0 && pruneBelow === 0

/**
 * Appends bundles if this transaction has written the receipt of its writer: a group that goes at
 * once (`fast-insert.ts`) does nothing else if something is in its way. Without the row of the
 * range it fails.
 */
const appendText = ({ log, logRange, receipts }: Tables): string => `
WITH landed AS MATERIALIZED (
  SELECT FROM ${receipts} WHERE writer = $1::bytea AND xmin = pg_current_xact_id()::xid
), given AS MATERIALIZED (
  UPDATE ${logRange} SET next_seq = next_seq + $2::bigint
  WHERE EXISTS (SELECT FROM landed) RETURNING next_seq - $2::bigint AS first
)
INSERT INTO ${log}
SELECT (SELECT first FROM given) + g.entries, substring($3::bytea FROM g.at FOR g.size)
FROM unnest($4::bigint[], $5::int[], $6::int[]) g(entries, at, size)
WHERE EXISTS (SELECT FROM landed)`

/** @returns the statement in progress */
export function appendBundles(
  { send }: DatabaseSession,
  tables: Tables,
  writer: Uint8Array,
  bundles: readonly LogBundle[],
): Promise<unknown> {
  const { bytes, at, sizes } = packValues(bundles.map(encodeBundle))
  let count = 0
  // Entries in front of each bundle.
  const before = bundles.map(({ leaves }) => (count += leaves.length) - leaves.length)
  const arrays = [before, at, sizes].map(arrayOf)
  return send(appendText(tables), [writer, count, bytes, ...arrays])
}

export const putDerivedText = ({ derived }: Tables): string => `INSERT INTO ${derived}
SELECT substring($1::bytea FROM g.key_at FOR g.key_size), substring($2::bytea FROM g.at FOR g.size)
FROM unnest($3::int[], $4::int[], $5::int[], $6::int[]) g(key_at, key_size, at, size)
ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value`

export function putDerivedParameters(values: readonly DerivedValue[]): readonly Parameter[] {
  const keys = packValues(values.map(({ key }) => key))
  const { bytes, at, sizes } = packValues(values.map(({ value }) => value))
  const arrays = [keys.at, keys.sizes, at, sizes].map(arrayOf)
  return [keys.bytes, bytes, ...arrays]
}

const dropDerivedText = ({ derived }: Tables): string => `DELETE FROM ${derived} d
USING unnest($2::int[], $3::int[]) k(at, size)
WHERE d.key = substring($1::bytea FROM k.at FOR k.size)`

function putDerived({ send }: DatabaseSession, tables: Tables, changes: LogDraft['derived']) {
  const dropped: Uint8Array[] = []
  const kept: DerivedValue[] = []
  for (const { derived: key, value } of changes.values()) {
    if (value === undefined) dropped.push(key)
    else kept.push({ key, value })
  }
  const sent: Promise<unknown>[] = []
  if (dropped.length > 0) {
    const { bytes, at, sizes } = packValues(dropped)
    sent.push(send(dropDerivedText(tables), [bytes, arrayOf(at), arrayOf(sizes)]))
  }
  if (kept.length > 0) sent.push(send(putDerivedText(tables), putDerivedParameters(kept)))
  return sent
}

/** A bundle ends where the next one begins; the last one ends with the log. */
const keptText = ({ log, logRange }: Tables): string => `kept AS MATERIALIZED (
  SELECT CASE WHEN next_seq <= $1::bigint THEN next_seq
    ELSE (SELECT max(seq) FROM ${log} WHERE seq <= $1::bigint) END AS seq FROM ${logRange}
)`

const prunedText = (tables: Tables): string => `WITH ${keptText(tables)}
SELECT l.seq, l.value FROM ${tables.log} l JOIN kept ON l.seq < kept.seq ORDER BY l.seq`

/**
 * Reads the bundles that a group is to remove: another group may remove them first, which
 * `confirmPruned` finds.
 * @throws ApiError `storage_corrupt`; DatabaseError
 */
export async function readPruned(
  send: DatabaseSession['send'],
  tables: Tables,
  below: number,
): Promise<readonly StoredBundle[]> {
  return (await send(prunedText(tables), [below])).map(bundleOf)
}

/** Fails as `confirmDerivedText` does unless they are the same still. */
const confirmPrunedText = (tables: Tables): string => `WITH ${keptText(tables)}
INSERT INTO ${tables.logRange} SELECT true, 0, 0 FROM generate_series(1, 2)
WHERE coalesce((SELECT array_agg(l.seq ORDER BY l.seq)
  FROM ${tables.log} l JOIN kept ON l.seq < kept.seq), '{}') <> $2::bigint[]`

const pruneText = (tables: Tables): string => `
WITH ${keptText(tables)}, gone AS (
  DELETE FROM ${tables.log} l USING kept WHERE l.seq < kept.seq
)
UPDATE ${tables.logRange} SET from_seq = kept.seq FROM kept WHERE from_seq < kept.seq`

/** A value beside the log as it was read, if there is one. */
export interface SeenDerived {
  readonly key: Uint8Array
  readonly value: Uint8Array | undefined
}

const readDerivedText = ({ derived }: Tables): string => `SELECT k.i, d.value
FROM unnest($2::int[], $3::int[]) WITH ORDINALITY k(at, size, i)
JOIN ${derived} d ON d.key = substring($1::bytea FROM k.at FOR k.size)`

export async function readDerived(
  send: DatabaseSession['send'],
  tables: Tables,
  keys: readonly Uint8Array[],
): Promise<readonly SeenDerived[]> {
  const { bytes, at, sizes } = packValues(keys)
  const cells = await send(readDerivedText(tables), [bytes, arrayOf(at), arrayOf(sizes)])
  const values = new Map(cells.map(([i, value]) => [Number(i), value]))
  return keys.map((key, i) => {
    const value = values.get(i + 1)
    return { key, value: value instanceof Uint8Array ? new Uint8Array(value) : undefined }
  })
}

/**
 * Fails, as for a unique that was taken meanwhile, if a value is no longer as it was read: then the
 * group starts over. The table of the range never takes two rows.
 */
const confirmDerivedText = ({ derived, logRange }: Tables): string => `INSERT INTO ${logRange}
SELECT true, 0, 0 FROM generate_series(1, 2) WHERE EXISTS (
  SELECT FROM unnest($3::int[], $4::int[], $5::int[], $6::int[]) g(key_at, key_size, at, size)
  LEFT JOIN ${derived} d ON d.key = substring($1::bytea FROM g.key_at FOR g.key_size)
  WHERE d.value IS DISTINCT FROM substring($2::bytea FROM g.at FOR g.size)
)`

function confirmDerived(
  { send }: DatabaseSession,
  tables: Tables,
  seen: readonly SeenDerived[],
): Promise<unknown> {
  const keys = packValues(seen.map(({ key }) => key))
  const values = packValues(seen.map(({ value = new Uint8Array() }) => value))
  const sizes = seen.map(({ value }) => value?.length ?? null)
  const arrays = [keys.at, keys.sizes, values.at, sizes].map(arrayOf)
  return send(confirmDerivedText(tables), [keys.bytes, values.bytes, ...arrays])
}

/**
 * @param seen values that the group was decided by
 * @param pruned the bundles that it is to remove, as `readPruned` gave them
 * @returns the statements in progress; the last ones before the COMMIT
 */
export function putLog(
  session: DatabaseSession,
  tables: Tables,
  writer: Uint8Array,
  { bundles, derived, pruneBelow }: SealedLog,
  seen: readonly SeenDerived[],
  pruned: readonly StoredBundle[],
): readonly Promise<unknown>[] {
  const { send } = session
  const isMore = derived.size > 0 || pruneBelow > 0 || seen.length > 0
  return [
    ...(isMore ? [send(`SELECT FROM ${tables.logRange} FOR UPDATE`)] : []),
    ...(seen.length > 0 ? [confirmDerived(session, tables, seen)] : []),
    ...putDerived(session, tables, derived),
    ...(pruneBelow > 0
      ? [
          send(confirmPrunedText(tables), [pruneBelow, arrayOf(pruned.map(({ first }) => first))]),
          send(pruneText(tables), [pruneBelow]),
        ]
      : []),
    ...(bundles.length > 0 ? [appendBundles(session, tables, writer, bundles)] : []),
  ]
}
