/**
 * Statements that read, retried within a bound while no server answers.
 * @module
 */
import type { Row } from '../contract.ts'
import {
  inspectRows,
  ordinalMax,
  sampledBundlesMax,
  waitingRowsCountedMax,
} from '../core/limits.ts'
import { decodeRow } from '../core/row-format.ts'
import { entriesIn, isBundle, logReadsOf } from './log-reads.ts'
import type { Cells, Parameter, Pool } from './pool.ts'
import { bigintMin, type Tables } from './schema.ts'
import { retry, type RetryBounds } from './database-error.ts'

/** The rows among these; `integrity` names what is none. */
export const rowsIn = (cells: readonly Cells[]): Row[] =>
  cells.flatMap(([ordinal, value]) => {
    try {
      return value instanceof Uint8Array ? [decodeRow(value, Number(ordinal))] : []
    } catch {
      return []
    }
  })

/**
 * A damaged row may have an ordinal above the maximum, where numbers are inexact: a walk would
 * never get past it.
 */
export const rowsText = ({ rows }: Tables): string => `SELECT ordinal, value FROM ${rows}
WHERE ordinal >= $1::bigint AND ordinal <= ${ordinalMax}::bigint ORDER BY ordinal LIMIT $2::int`

const dueText = ({
  rows,
}: Tables): string => `SELECT ordinal, value, deadline_ms, ordinal FROM ${rows}
WHERE deadline_ms <= $1::bigint AND (deadline_ms, ordinal) > ($3::bigint, $4::bigint)
ORDER BY deadline_ms, ordinal LIMIT $2::int`

/**
 * Bundles too short for their number of entries are left out: damage, which `inspectTables` names,
 * must not end the command that is to name it.
 */
const figuresText = ({ ordinals, recent, log, logRange }: Tables): string => `SELECT
(SELECT last_value FROM ${ordinals}),
(SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relkind = 'r'),
(SELECT count(*) FROM (SELECT 1 FROM ${recent} LIMIT ${waitingRowsCountedMax}) few),
(SELECT (SELECT max(next_seq) - min(from_seq) FROM ${logRange}) *
  coalesce(sum(octet_length(value)) / nullif(sum(${entriesIn}), 0), 0)
  FROM (SELECT value FROM ${log} ORDER BY seq DESC LIMIT ${sampledBundlesMax}) newest
  WHERE ${isBundle})`

export function readsOf(
  pools: { readonly lookup: Pool; readonly page: Pool },
  tables: Tables,
  retryBounds: RetryBounds,
) {
  const lookup = (text: string, parameters: readonly Parameter[], msMax: number) =>
    retry({ ...retryBounds, msMax }, msLeft => pools.lookup.query(text, parameters, msLeft))
  // It may wait behind pages, which says nothing of the database.
  const read = (text: string, parameters: readonly Parameter[]) =>
    retry(retryBounds, msLeft => pools.page.hold(msLeft, ({ send }) => send(text, parameters)))
  const due = dueText(tables)
  const fromText = rowsText(tables)
  const figures = figuresText(tables)
  return {
    lookup,
    async due(nowMs: number, limit: number) {
      const found: Row[] = []
      let behind: readonly string[] = [bigintMin, bigintMin]
      // Continues even if rows that contradict their deadline fill the first ones.
      for (let count = limit; ; count = inspectRows) {
        const cells = await read(due, [nowMs, count, ...behind])
        // Due rows are removed for good, so the row itself must say that it is due.
        found.push(...rowsIn(cells).filter(({ deadlineMs = Infinity }) => deadlineMs <= nowMs))
        if (found.length >= limit || cells.length < count) return found.slice(0, limit)
        behind = (cells.at(-1) ?? []).slice(2).map(String)
      }
    },
    rowsFrom: async (ordinal: number, limit: number) => {
      const cells = await read(fromText, [ordinal, limit])
      return { rows: rowsIn(cells), last: cells.at(-1)?.[0] }
    },
    figures: async () => (await read(figures, [tables.schema]))[0] ?? [],
    ...logReadsOf(tables, read),
  }
}

export type Reads = ReturnType<typeof readsOf>

/** All rows, oldest first. */
export async function* everyRow({ rowsFrom }: Reads): AsyncGenerator<Row> {
  for (let from = 0; ;) {
    const { rows, last } = await rowsFrom(from, inspectRows)
    yield* rows
    if (last === undefined) return
    from = Number(last) + 1
  }
}

/** Ordinal of the row that is read for a missing one. */
export async function firstOrdinalOf({ rowsFrom }: Reads): Promise<number> {
  const { last } = await rowsFrom(0, 1)
  return Number(last ?? 0)
}
