/**
 * Reads a whole vault without writers, in the orders in which another store is written: each table
 * in steps, each of which starts after the last entry of the step before.
 * @module
 */
import { assertStored } from '../../lib/errors.ts'
import { bulkStepRows } from '../core/limits.ts'
import type { Cells, Parameter, Pool } from './pool.ts'
import { retry, readsOf, type RetryBounds } from './retried-reads.ts'
import type { Tables } from './schema.ts'

/** Repeats a query with the last row of each answer, until an answer is empty. */
async function* steps(
  ask: (behind: readonly Parameter[]) => Promise<readonly Cells[]>,
  first: readonly Parameter[],
): AsyncGenerator<readonly Cells[]> {
  for (let behind = first; ;) {
    const rows = await ask(behind)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    behind = first.map((_, i) => (last[i] instanceof Uint8Array ? last[i] : Number(last[i])))
  }
}

/** @throws ApiError, as `retry`, and for an entry that is not a row */
export function sourceOf(pool: Pool, tables: Tables, retryBounds: RetryBounds) {
  const { rowsFrom } = readsOf({ lookup: pool, page: pool }, tables, retryBounds)
  const limit = `LIMIT ${bulkStepRows}`
  const uniquesText = `SELECT digest, ordinal, version FROM ${tables.uniques}
WHERE digest > $1::bytea ORDER BY digest ${limit}`
  const deadlinesText = `SELECT deadline_ms, ordinal FROM ${tables.rows}
WHERE deadline_ms IS NOT NULL AND (deadline_ms, ordinal) > ($1::bigint, $2::bigint)
ORDER BY deadline_ms, ordinal ${limit}`
  const ask = (text: string) => (behind: readonly Parameter[]) =>
    retry(retryBounds, msLeft => pool.query(text, behind, msLeft))
  return {
    async *rows() {
      for (let from = 0; ;) {
        const { rows, last } = await rowsFrom(from, bulkStepRows)
        if (last === undefined) return
        assertStored(rows.at(-1)?.ordinal === Number(last), 'rows as they were written')
        yield rows
        from = Number(last) + 1
      }
    },
    async *uniques() {
      for await (const entries of steps(ask(uniquesText), [new Uint8Array()])) {
        yield entries.map(([unique, ordinal, version]) => {
          assertStored(unique instanceof Uint8Array, 'a digest of a unique')
          return { unique, ordinal: Number(ordinal), version: Number(version) }
        })
      }
    },
    async *deadlines() {
      for await (const entries of steps(ask(deadlinesText), [-1, -1])) {
        yield entries.map(([deadlineMs, ordinal]) => ({
          deadlineMs: Number(deadlineMs),
          ordinal: Number(ordinal),
        }))
      }
    },
  }
}
