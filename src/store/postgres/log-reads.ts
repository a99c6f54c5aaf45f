/**
 * Statements that read the log and the values beside it.
 * @module
 */
import { assertStored } from '../../lib/errors.ts'
import type { DerivedValue, LogRange, Store, StoredBundle } from '../contract.ts'
import { leafBytes } from '../../limits/work-limits.ts'
import { decodeBundle, leavesAt, takeBundles } from '../core/bundle-format.ts'
import { readBundleBytesMax } from '../core/limits.ts'
import type { Cells, Parameter } from './pool.ts'
import type { Tables } from './schema.ts'

/** SQL of the number of entries of a bundle. */
export const entriesIn = 'get_byte(value, 1) * 256 + get_byte(value, 2)'

/** SQL that is true of what is long enough to have such a number: shorter ones are damage. */
export const isBundle = `octet_length(value) >= ${leavesAt}`

/** SQL of the hashes of the entries of a bundle. */
export const leavesIn = `substring(value FROM ${leavesAt + 1} FOR (${entriesIn}) * ${leafBytes})`

/** @throws ApiError `storage_corrupt` */
export function bundleOf([seq, value]: Cells): StoredBundle {
  assertStored(value instanceof Uint8Array, 'a bundle with bytes')
  return decodeBundle(Number(seq), new Uint8Array(value))
}

/** @throws ApiError `storage_corrupt` */
export function rangeOf([cells, ...more]: readonly Cells[]): LogRange {
  const range = { from: Number(cells?.[0] ?? NaN), next: Number(cells?.[1] ?? NaN) }
  assertStored(
    more.length === 0 && 0 <= range.from && range.from <= range.next,
    'a range of the log',
  )
  return range
}

export const rangeText = ({ logRange }: Tables): string =>
  `SELECT from_seq, next_seq FROM ${logRange}`

/** Returns the first of some rows, at least two of them, within a number of bytes. */
const bounded = (rows: string, order: 'ASC' | 'DESC'): string => `SELECT seq, value FROM (
SELECT seq, value, row_number() OVER found AS place, sum(octet_length(value)) OVER found AS bytes
FROM (${rows}) AS log WINDOW found AS (ORDER BY seq ${order})
) AS counted WHERE place <= 2 OR bytes <= ${readBundleBytesMax} ORDER BY seq ${order}`

/** @param read runs a statement, and retries while the database is lost */
export function logReadsOf(
  tables: Tables,
  read: (text: string, parameters: readonly Parameter[]) => Promise<readonly Cells[]>,
) {
  const { log, derived } = tables
  // One more: the bundle at or before the sequence may end before it.
  const fromText = bounded(
    `SELECT seq, value FROM ${log}
WHERE seq >= coalesce((SELECT max(seq) FROM ${log} WHERE seq <= $1::bigint), $1::bigint)
ORDER BY seq LIMIT $2::int + 1`,
    'ASC',
  )
  const beforeText = bounded(
    `SELECT seq, value FROM ${log} WHERE seq < $1::bigint ORDER BY seq DESC LIMIT $2::int`,
    'DESC',
  )
  const derivedText = `SELECT key, value FROM ${derived}
WHERE key >= $1::bytea AND key < $2::bytea ORDER BY key LIMIT $3::int`
  return {
    logRange: async () => rangeOf(await read(rangeText(tables), [])),
    async bundles(range: Parameters<Store['bundles']>[0], limit: number) {
      if ('before' in range) {
        const found = await read(beforeText, [range.before, limit])
        return takeBundles(found.map(bundleOf), limit)
      }
      const found = await read(fromText, [range.from, limit])
      return takeBundles(found.map(bundleOf), limit, range.from)
    },
    async derived(from: Uint8Array, to: Uint8Array, limit: number): Promise<DerivedValue[]> {
      const found = await read(derivedText, [from, to, limit])
      return found.map(([key, value]) => {
        const isWhole = key instanceof Uint8Array && value instanceof Uint8Array
        assertStored(isWhole, 'a value beside the log')
        return { key: new Uint8Array(key), value: new Uint8Array(value) }
      })
    },
  }
}
