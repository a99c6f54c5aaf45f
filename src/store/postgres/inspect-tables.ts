/**
 * The walk over all tables that compares rows and indexes in both directions, in one snapshot.
 *
 * Rows come by ordinal, chunk by chunk, so that the index of a chunk is read once. The uniques of a
 * step of rows are looked up together. Source: hardening D8.
 * @module
 */
import { attempt } from '../../lib/errors.ts'
import { termBytes, uniqueBytes } from '../../limits/work-limits.ts'
import { noProgress, type ReportDone, type BeginProgress } from '../../lib/progress.ts'
import type { Row } from '../contract.ts'
import { chunkOrdinals, findingsMax, inspectMsMax, inspectRows, logStep } from '../core/limits.ts'
import { makeLogCheck } from '../core/check-log.ts'
import type { StoreFinding } from '../operated.ts'
import { countOf, decodePlaceSet, hasPlace, lowOf, type PlaceSet } from '../core/place-set.ts'
import { decodeRow } from '../core/row-format.ts'
import { keyOf } from '../core/row.ts'
import { bundleOf, rangeOf, rangeText } from './log-reads.ts'
import { keysIn, nthOf, packDigests } from './packed-parameters.ts'
import type { Cells, Pool, DatabaseSession } from './pool.ts'
import { bigintMin, type Tables } from './schema.ts'

interface Walk {
  readonly send: DatabaseSession['send']
  readonly tables: Tables
  readonly add: (finding: StoreFinding) => void
  readonly done: ReportDone
  /** Uniques that were found from rows. */
  uniques: number
  rows: number
}

const asBytes = (value: unknown): Uint8Array =>
  value instanceof Uint8Array ? value : new Uint8Array()

/** A stored row, and its columns. */
interface StoredRow {
  readonly ordinal: number
  readonly row: Row | undefined
  readonly version: number
  readonly deadlineMs: number | undefined
}

const storedRowOf = ([ordinal, version, deadline, value]: Cells): StoredRow => ({
  ordinal: Number(ordinal),
  row: attempt(() => decodeRow(asBytes(value), Number(ordinal))),
  version: Number(version),
  deadlineMs: deadline === null ? undefined : Number(deadline),
})

/** The index from terms to the rows of a chunk. */
interface ChunkIndex {
  readonly folded: Map<string, PlaceSet>
  /** Terms of unfolded rows. */
  readonly recent: Map<number, Set<string>>
  /** Number of rows in which each term was found. */
  readonly found: Map<string, number>
}

/** First and last ordinal of a chunk, as text: the column exceeds the range of a number. */
const ordinalsOf = (chunk: number): readonly [first: string, last: string] => {
  const first = BigInt(chunk) * BigInt(chunkOrdinals)
  return [String(first), String(first + BigInt(chunkOrdinals - 1))]
}

async function readChunkIndex({ send, tables, add }: Walk, chunk: number): Promise<ChunkIndex> {
  const folded = new Map<string, PlaceSet>()
  const [first, last] = ordinalsOf(chunk)
  const text = `SELECT term, places FROM ${tables.chunks} WHERE chunk = $1::bigint`
  for (const [term, places] of await send(text, [chunk])) {
    const set = attempt(() => decodePlaceSet(asBytes(places)))
    if (set === undefined) add({ kind: 'term_damaged', ordinal: Number(first) })
    else folded.set(keyOf(asBytes(term)), set)
  }
  const ofRecent = `SELECT ordinal, terms FROM ${tables.recent}
WHERE ordinal >= $1::bigint AND ordinal <= $2::bigint`
  const recent = new Map<number, Set<string>>()
  for (const [ordinal, terms] of await send(ofRecent, [first, last])) {
    recent.set(Number(ordinal), new Set(keysIn(asBytes(terms), termBytes)))
  }
  return { folded, recent, found: new Map() }
}

function checkTerms({ add }: Walk, index: ChunkIndex, ordinal: number, row: Row): void {
  const recent = index.recent.get(ordinal)
  index.recent.delete(ordinal)
  const { terms } = row
  for (const term of terms) {
    const key = keyOf(term)
    const set = index.folded.get(key)
    const isFolded = set !== undefined && hasPlace(set, lowOf(ordinal))
    if (isFolded) index.found.set(key, (index.found.get(key) ?? 0) + 1)
    if (recent === undefined ? !isFolded : !recent.has(key)) add({ kind: 'term_missing', ordinal })
  }
  if (recent !== undefined && recent.size > terms.length) add({ kind: 'term_orphan', ordinal })
}

/** Reports index entries of a chunk that no row has. */
function checkOrphans({ add }: Walk, index: ChunkIndex, chunk: number): void {
  for (const ordinal of index.recent.keys()) add({ kind: 'tail_orphan', ordinal })
  for (const [key, set] of index.folded) {
    if (countOf(set) === (index.found.get(key) ?? 0)) continue
    add({ kind: 'term_orphan', ordinal: chunk * chunkOrdinals })
  }
}

async function checkUniques(walk: Walk, rows: readonly StoredRow[]): Promise<void> {
  const { send, tables, add } = walk
  const named = rows.flatMap(({ ordinal, row }) =>
    (row?.uniques ?? []).map(unique => ({ ordinal, version: row?.version, unique })),
  )
  if (named.length === 0) return
  const packed = packDigests(
    named.map(({ unique }) => unique),
    uniqueBytes,
  )
  const text = `SELECT u.digest, u.ordinal, u.version FROM generate_series(1, $2::int) i
JOIN ${tables.uniques} u
ON u.digest = ${nthOf('$1', 'i', uniqueBytes)}`
  const held = new Map(
    (await send(text, [packed, named.length])).map(([digest, ordinal, version]) => [
      keyOf(asBytes(digest)),
      `${Number(ordinal)}:${Number(version)}`,
    ]),
  )
  for (const { ordinal, version, unique } of named) {
    if (held.get(keyOf(unique)) === `${ordinal}:${version}`) walk.uniques += 1
    else add({ kind: 'unique_missing', ordinal })
  }
}

function checkColumns({ add }: Walk, { ordinal, row, version, deadlineMs }: StoredRow): void {
  if (row === undefined) add({ kind: 'row_damaged', ordinal })
  else {
    if (row.version !== version) add({ kind: 'row_damaged', ordinal })
    if (row.deadlineMs !== deadlineMs) add({ kind: 'deadline_missing', ordinal })
  }
}

async function checkChunk(walk: Walk, chunk: number): Promise<void> {
  const index = await readChunkIndex(walk, chunk)
  const { send, tables } = walk
  const text = `SELECT ordinal, version, deadline_ms, value FROM ${tables.rows}
WHERE ordinal >= $1::bigint AND ordinal <= $2::bigint ORDER BY ordinal LIMIT ${inspectRows}`
  const [first, end] = ordinalsOf(chunk)
  for (let from = first; ;) {
    const cells = await send(text, [from, end])
    const rows = cells.map(storedRowOf)
    for (const each of rows) {
      checkColumns(walk, each)
      if (each.row !== undefined) checkTerms(walk, index, each.ordinal, each.row)
    }
    await checkUniques(walk, rows)
    walk.rows += rows.length
    walk.done(walk.rows)
    const last = cells.at(-1)?.[0]
    if (last === undefined || String(last) === end || rows.length < inspectRows) break
    from = String(BigInt(String(last)) + 1n)
  }
  checkOrphans(walk, index, chunk)
}

/** Without its primary key a table could give one unique, or one place, to two vaults. */
async function checkConstraints({ send, tables, add }: Walk): Promise<void> {
  const { schema, ordinals: _, ...own } = tables
  const text = `SELECT t.relname FROM pg_constraint c
JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace
WHERE n.nspname = $1 AND c.contype = 'p' AND c.convalidated`
  const keyed = new Set((await send(text, [schema])).map(([name]) => `${schema}.${String(name)}`))
  if (!Object.values(own).every(table => keyed.has(table))) add({ kind: 'meta_damaged' })
}

async function checkState({ send, tables, add }: Walk): Promise<void> {
  const text = `SELECT
(SELECT count(*) FROM ${tables.state}),
(SELECT last_value FROM ${tables.ordinals}),
(SELECT coalesce(max(ordinal), 0) FROM ${tables.rows}),
(SELECT coalesce(min(ordinal), 1) FROM ${tables.rows})`
  const [cells = []] = await send(text)
  const [states, given = 0, highest = 0, lowest = 1] = cells.map(Number)
  if (states !== 1 || given < highest || lowest < 1) add({ kind: 'meta_damaged' })
}

/** Chunks with any contents: ordinals have gaps. */
async function chunksIn({ send, tables }: Walk): Promise<readonly number[]> {
  const ofOrdinals = `ordinal >> ${Math.log2(chunkOrdinals)}`
  const text = `SELECT chunk::bigint FROM ${tables.chunks}
UNION SELECT ${ofOrdinals} FROM ${tables.rows} UNION SELECT ${ofOrdinals} FROM ${tables.recent}
ORDER BY 1`
  return (await send(text)).map(([chunk]) => Number(chunk))
}

async function checkOrphanUniques({ send, tables, add, uniques }: Walk): Promise<void> {
  const [row] = await send(`SELECT count(*) FROM ${tables.uniques}`)
  if (Number(row?.[0]) === uniques) return
  const text = `SELECT u.ordinal FROM ${tables.uniques} u LEFT JOIN ${tables.rows} r USING (ordinal)
WHERE r.ordinal IS NULL OR position(u.digest IN r.value) = 0 LIMIT ${findingsMax}`
  for (const [ordinal] of await send(text)) add({ kind: 'unique_orphan', ordinal: Number(ordinal) })
}

async function checkLog({ send, tables, add }: Walk): Promise<void> {
  const ranges = await send(rangeText(tables))
  const check = makeLogCheck(
    attempt(() => rangeOf(ranges)),
    add,
  )
  const text = `SELECT seq, value FROM ${tables.log} WHERE seq > $1::bigint
ORDER BY seq LIMIT ${logStep}`
  for (let behind = bigintMin; ;) {
    const cells = await send(text, [behind])
    for (const each of cells)
      check.next(
        Number(each[0]),
        attempt(() => bundleOf(each)),
      )
    const last = cells.at(-1)?.[0]
    if (last === undefined) break
    behind = String(last)
  }
  check.end()
}

/** @throws DatabaseError */
export const inspectTables = (
  pool: Pool,
  tables: Tables,
  progress: BeginProgress = noProgress,
): Promise<readonly StoreFinding[]> =>
  pool.hold(inspectMsMax, async ({ send }) => {
    await send('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    // The connection is one of those for pages, which are bounded.
    await send('SET LOCAL statement_timeout = 0')
    const findings: StoreFinding[] = []
    const add = (finding: StoreFinding): void => {
      if (findings.length < findingsMax) findings.push(finding)
    }
    const [count] = await send(`SELECT count(*) FROM ${tables.rows}`)
    const done = progress(Number(count?.[0] ?? 0), 'rows')
    const walk: Walk = { send, tables, add, done, uniques: 0, rows: 0 }
    await checkConstraints(walk)
    await checkState(walk)
    for (const chunk of await chunksIn(walk)) await checkChunk(walk, chunk)
    await checkOrphanUniques(walk)
    await checkLog(walk)
    await send('COMMIT')
    return findings
  })
