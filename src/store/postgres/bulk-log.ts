/**
 * Fills the log of a new store with that of another one, which keeps its sequences; the values
 * beside it go along. An interrupted load continues after the last bundle that it stored.
 * @module
 */
import type { DerivedValue, StoredBundle } from '../contract.ts'
import { encodeBundle } from '../core/bundle-format.ts'
import { bulkMsMax } from '../core/limits.ts'
import { everyBundle, everyDerived, type LogReads } from '../core/log-walk.ts'
import { bundleOf } from './log-reads.ts'
import { packValues } from './packed-parameters.ts'
import { arrayOf, type Pool } from './pool.ts'
import type { Tables } from './schema.ts'
import { putDerivedParameters, putDerivedText } from './write/log-statements.ts'

/** @returns sequence from which bundles are missing */
async function missingFrom(pool: Pool, { log }: Tables): Promise<number> {
  const [last] = await pool.query(`SELECT seq, value FROM ${log} ORDER BY seq DESC LIMIT 1`)
  if (last === undefined) return 0
  const { first, leaves } = bundleOf(last)
  return first + leaves.length
}

async function loadBundles(pool: Pool, { log }: Tables, bundles: readonly StoredBundle[]) {
  const { bytes, at, sizes } = packValues(bundles.map(encodeBundle))
  const text = `INSERT INTO ${log} SELECT g.seq, substring($1::bytea FROM g.at FOR g.size)
FROM unnest($2::bigint[], $3::int[], $4::int[]) g(seq, at, size)`
  const arrays = [bundles.map(({ first }) => first), at, sizes].map(arrayOf)
  await pool.query(text, [bytes, ...arrays], bulkMsMax)
}

async function loadDerived(pool: Pool, tables: Tables, values: readonly DerivedValue[]) {
  await pool.query(putDerivedText(tables), putDerivedParameters(values), bulkMsMax)
}

/** @throws ApiError `storage_corrupt` for bytes that are no bundle; DatabaseError */
export async function loadLog(pool: Pool, tables: Tables, from: LogReads): Promise<void> {
  const first = await missingFrom(pool, tables)
  for await (const bundles of everyBundle(from, first)) await loadBundles(pool, tables, bundles)
  for await (const values of everyDerived(from)) await loadDerived(pool, tables, values)
  const { from: oldest, next } = await from.logRange()
  const text = `UPDATE ${tables.logRange} SET from_seq = $1::bigint, next_seq = $2::bigint`
  await pool.query(text, [oldest, next])
}
