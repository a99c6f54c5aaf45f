/**
 * Pages: one statement reads the index of a query, another its rows, both in one transaction over
 * one snapshot. Matches are computed here, as in the other engine.
 * @module
 */
import { assertStored } from '../../lib/errors.ts'
import { termBytes, uniqueBytes } from '../../limits/work-limits.ts'
import type { Digest, RowPage, PageWindow, Query, Row } from '../contract.ts'
import { chunkOrdinals, pageTermsSentMax } from '../core/limits.ts'
import {
  chunkOf,
  countOf,
  decodePlaceSet,
  emptySet,
  type PlaceSet,
  subtract,
  unite,
} from '../core/place-set.ts'
import {
  isGone,
  uniteSets,
  type ExpiredPart,
  type ExpiredSets,
  type KeptExpired,
} from '../core/kept-expired.ts'
import {
  evaluateChunk,
  namedChunks,
  planQuery,
  selectOrdinals,
  setsByChunk,
  type PlanReads,
} from '../core/plan.ts'
import { isMatch } from '../core/queries.ts'
import { decodeRow, headerAt } from '../core/row-format.ts'
import { keyOf, uniquesAt } from '../core/row.ts'
import { keysIn, nthOf, packDigests } from './packed-parameters.ts'
import { arrayOf, type Cells, type Pool } from './pool.ts'
import type { Tables } from './schema.ts'

/*
 * The digests that a query names.
 */

interface NamedDigests {
  readonly terms: readonly Digest[]
  readonly uniques: readonly Digest[]
}

function digestsOf(query: Query): NamedDigests {
  const terms = new Map<string, Digest>()
  const uniques = new Map<string, Digest>()
  const visit = (part: Query): void => {
    if ('term' in part) terms.set(keyOf(part.term), part.term)
    else if ('unique' in part) uniques.set(keyOf(part.unique), part.unique)
    else if ('from' in part) [part.from, part.except].forEach(visit)
    else if (!('ordinals' in part)) ('all' in part ? part.all : part.any).forEach(visit)
  }
  visit(query)
  return { terms: [...terms.values()], uniques: [...uniques.values()] }
}

/** Kinds of rows in the answer; the other columns are a number, a chunk or ordinal, and bytes. */
const kinds = {
  chunk: 0,
  recent: 1,
  settled: 2,
  unsettled: 3,
  unique: 4,
  recentRow: 5,
} as const

/** Ordinals concatenated, 8 bytes each, big endian. */
const packedOrdinals = "string_agg(int8send(ordinal), '')"

/** For few terms, the recent rows that have them; for many, all recent rows, filtered here. */
const recentText = ({ recent }: Tables, sendsAllRecent: boolean): string =>
  sendsAllRecent
    ? `SELECT ${kinds.recentRow}, 0, ordinal, terms FROM ${recent}`
    : `SELECT ${kinds.recent}, i, 0::bigint, ${packedOrdinals}
FROM terms JOIN ${recent} ON position(term IN terms) > 0 GROUP BY i`

/**
 * OFFSET keeps the look-up of a chunk by its whole key: joined, the database may expect many chunks
 * of which it holds few, and read the whole index of all of them for each term instead.
 */
const indexText = (tables: Tables, sendsAllRecent: boolean): string => `
WITH terms AS MATERIALIZED (
  SELECT i, ${nthOf('$1', 'i', termBytes)} AS term
  FROM generate_series(1, $2::int) i
), named AS MATERIALIZED (
  SELECT i, ${nthOf('$3', 'i', uniqueBytes)} AS digest
  FROM generate_series(1, $4::int) i
)
SELECT ${kinds.chunk} AS kind, i, c.chunk::bigint, c.places
FROM (SELECT (last_value / ${chunkOrdinals})::int AS last FROM ${tables.ordinals}) o
CROSS JOIN generate_series(0, o.last) n
CROSS JOIN terms
CROSS JOIN LATERAL (
  SELECT chunk, places FROM ${tables.chunks} WHERE chunk = n AND term = terms.term OFFSET 0
) c
UNION ALL
${recentText(tables, sendsAllRecent)}
UNION ALL
SELECT ${kinds.settled}, 0, 0, ${packedOrdinals} FROM ${tables.rows}
WHERE deadline_ms > $5::bigint AND deadline_ms <= $6::bigint
UNION ALL
SELECT ${kinds.unsettled}, 0, 0, ${packedOrdinals} FROM ${tables.rows}
WHERE deadline_ms > $6::bigint AND deadline_ms <= $7::bigint
UNION ALL
SELECT ${kinds.unique}, i, u.ordinal, NULL FROM named JOIN ${tables.uniques} u USING (digest)`

function unpackOrdinals(bytes: unknown): number[] {
  if (!(bytes instanceof Uint8Array)) return []
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const ordinals: number[] = []
  for (let at = 0; at < bytes.length; at += 8) ordinals.push(Number(view.getBigInt64(at)))
  return ordinals
}

/** Sets by chunk, of each term. */
interface Index {
  readonly terms: ReadonlyMap<string, Map<number, PlaceSet>>
  readonly holders: ReadonlyMap<string, number>
  /** Expired rows, as `core/kept-expired.ts` has them. */
  readonly settled: readonly number[]
  readonly unsettled: readonly number[]
}

function addOrdinals(sets: Map<number, PlaceSet>, ordinals: Iterable<number>): void {
  for (const [chunk, set] of setsByChunk(ordinals)) {
    sets.set(chunk, unite(sets.get(chunk) ?? emptySet, set))
  }
}

/** Adds recent rows under those of their terms that were asked for. */
function addRecentRows(
  terms: ReadonlyMap<string, Map<number, PlaceSet>>,
  rows: readonly Cells[],
): void {
  const found = new Map<string, number[]>()
  for (const [, , ordinal, bytes] of rows) {
    if (!(bytes instanceof Uint8Array)) continue
    for (const key of keysIn(bytes, termBytes)) {
      if (!terms.has(key)) continue
      const list = found.get(key)
      if (list === undefined) found.set(key, [Number(ordinal)])
      else list.push(Number(ordinal))
    }
  }
  for (const [key, ordinals] of found) addOrdinals(terms.get(key) ?? new Map(), ordinals)
}

function indexOf({ terms, uniques }: NamedDigests, answer: readonly Cells[]): Index {
  const sets = terms.map(() => new Map<number, PlaceSet>())
  const byTerm = new Map(terms.map((term, i) => [keyOf(term), sets[i] ?? new Map()]))
  const holders = new Map<string, number>()
  const expired = { settled: [] as number[], unsettled: [] as number[] }
  // Chunks come first; recent rows are added to them.
  for (const [kind, i, at, bytes] of answer) {
    const own = sets[Number(i) - 1]
    if (kind === kinds.chunk && bytes instanceof Uint8Array) {
      own?.set(Number(at), decodePlaceSet(bytes))
    }
  }
  for (const [kind, i, at, bytes] of answer) {
    const own = sets[Number(i) - 1]
    const unique = uniques[Number(i) - 1]
    if (kind === kinds.recent && own !== undefined) addOrdinals(own, unpackOrdinals(bytes))
    if (kind === kinds.settled) expired.settled = unpackOrdinals(bytes)
    if (kind === kinds.unsettled) expired.unsettled = unpackOrdinals(bytes)
    if (kind === kinds.unique && unique !== undefined) holders.set(keyOf(unique), Number(at))
  }
  addRecentRows(
    byTerm,
    answer.filter(([kind]) => kind === kinds.recentRow),
  )
  return { terms: byTerm, holders, ...expired }
}

/*
 * From the index to a page.
 */

/** Chunks of all named terms and uniques: every match is in one of them. */
const chunksIn = ({ terms, holders }: Pick<Index, 'terms' | 'holders'>): ReadonlySet<number> =>
  new Set([
    ...[...terms.values()].flatMap(sets => [...sets.keys()]),
    ...[...holders.values()].map(chunkOf),
  ])

function select({ terms, holders }: Index, expired: ExpiredSets, query: Query, window: PageWindow) {
  const reads: PlanReads = {
    holderOf: unique => holders.get(keyOf(unique)),
    placesOf: (term, chunk) => terms.get(keyOf(term))?.get(chunk) ?? emptySet,
  }
  const plan = planQuery(reads, query)
  const chunks = namedChunks(plan) ?? chunksIn({ terms, holders })
  const newestFirst = [...chunks].sort((a, b) => b - a)
  return selectOrdinals(newestFirst, window, chunk => {
    const set = subtract(evaluateChunk(reads, plan, chunk), expired.get(chunk) ?? emptySet)
    return { count: countOf(set), places: () => set }
  })
}

/** Returns rows in the order of the ordinals. @throws ApiError `storage_corrupt` */
function inOrder(ordinals: readonly number[], answer: readonly Cells[]): Row[] {
  const found = new Map(answer.map(cells => [Number(cells[0]), cells]))
  return ordinals.map(ordinal => {
    const [, value, version] = found.get(ordinal) ?? []
    assertStored(value instanceof Uint8Array, 'a row for each place')
    const row = decodeRow(value, ordinal)
    assertStored(row.version === Number(version), 'a row that its unique leads to, at its version')
    return row
  })
}

/**
 * Reads each row with the version that its first unique names, as a look-up does: terms reveal
 * neither an older version of a row nor a removed one. The subquery is one look-up by the table's
 * key per row, whatever size the database assumes.
 */
const rowsText = ({ rows, uniques }: Tables): string => `SELECT ordinal, value, (
  SELECT u.version FROM ${uniques} u
  WHERE u.digest = substring(r.value FROM ${headerAt + uniquesAt + 1} FOR ${uniqueBytes})
    AND u.ordinal = r.ordinal
) FROM ${rows} r WHERE ordinal = ANY($1::bigint[])`

/** Returns the expired rows, and keeps those that settled. */
function expiredOf({ settled, unsettled }: Index, kept: KeptExpired, part: ExpiredPart) {
  const sets = setsByChunk(settled)
  kept.keep(part, sets, settled.length)
  return uniteSets(part.kept, sets, setsByChunk(unsettled))
}

/**
 * @param kept  between the pages of one vault
 * @throws DatabaseError; ApiError `storage_corrupt` when the index contradicts the rows
 */
export async function readPage(
  pool: Pool,
  tables: Tables,
  query: Query,
  window: PageWindow,
  msMax: number,
  kept: KeptExpired,
): Promise<RowPage> {
  const named = digestsOf(query)
  const { terms, uniques } = named
  const { nowMs } = window
  const text = indexText(tables, terms.length > pageTermsSentMax)
  const part = kept.begin(nowMs)
  const { rows, total } = await pool.hold(msMax, async ({ send }) => {
    const begun = send('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const packed = packDigests(terms, termBytes)
    const digests = packDigests(uniques, uniqueBytes)
    const instants = [part.settled[0], ...part.unsettled]
    const asked = send(text, [packed, terms.length, digests, uniques.length, ...instants])
    const [, answer] = await Promise.all([begun, asked])
    const index = indexOf(named, answer)
    const expired = expiredOf(index, kept, part)
    const selected = select(index, expired, query, window)
    const { ordinals } = selected
    const reading = ordinals.length === 0 ? [] : send(rowsText(tables), [arrayOf(ordinals)])
    const [cells] = await Promise.all([reading, send('COMMIT')])
    return { rows: inOrder(ordinals, cells), total: selected.total }
  })
  if (kept.keepLate(part, rows, nowMs)) return readPage(pool, tables, query, window, msMax, kept)
  for (const row of rows) {
    const isRight = isMatch(query, row) && !isGone(row, nowMs)
    assertStored(isRight, 'rows that are what the index says of them')
  }
  return { rows, total }
}
