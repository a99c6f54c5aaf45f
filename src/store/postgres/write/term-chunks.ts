/**
 * Chunks of terms: the places that enter and leave, and how they are put.
 *
 * A writer locks chunks in the order of chunk and term, so that no two wait for each other there. A
 * missing chunk cannot be locked: it is inserted, and if another writer was faster the insert
 * fails, and the group starts over. No writer overwrites what it has not read.
 * @module
 */
import { bytesOfHex } from '../../../lib/bytes.ts'
import type { Digest } from '../../contract.ts'
import type { GroupDraft } from '../../core/decide-change.ts'
import {
  chunkOf,
  decodePlaceSet,
  emptySet,
  encodePlaceSet,
  lowOf,
  setOf,
  subtract,
  unite,
} from '../../core/place-set.ts'
import { keyOf, termKeysOf } from '../../core/row.ts'
import { termBytes } from '../../../limits/work-limits.ts'
import { nthOf, packDigests, packValues } from '../packed-parameters.ts'
import { arrayOf, type DatabaseSession } from '../pool.ts'
import type { Tables } from '../schema.ts'
import type { LockedRows } from './lock-rows.ts'

/** Changes of one chunk of a term. */
interface ChunkChange {
  readonly chunk: number
  readonly term: Digest
  readonly entering: number[]
  readonly leaving: number[]
}

/** By chunk, then by the text of the term. */
export type ChunkChanges = Map<number, Map<string, ChunkChange>>

/** Notes one place that enters or leaves. @param key the text of the term (`keyOf`) */
export function changePlace(
  changes: ChunkChanges,
  key: string,
  ordinal: number,
  isIn: boolean,
): void {
  const chunk = chunkOf(ordinal)
  let ofChunk = changes.get(chunk)
  if (ofChunk === undefined) {
    ofChunk = new Map()
    changes.set(chunk, ofChunk)
  }
  let change = ofChunk.get(key)
  if (change === undefined) {
    change = { chunk, term: bytesOfHex(key), entering: [], leaving: [] }
    ofChunk.set(key, change)
  }
  ;(isIn ? change.entering : change.leaving).push(lowOf(ordinal))
}

const changesIn = (changes: ChunkChanges): ChunkChange[] =>
  [...changes.values()].flatMap(ofChunk => [...ofChunk.values()])

/** Changes of a group to the terms of rows: folded rows change chunks, recent ones their entry. */
export interface TermChanges {
  readonly chunks: ChunkChanges
  readonly recent: readonly (readonly [ordinal: number, terms: readonly Digest[]])[]
}

export function termChanges({ rows }: GroupDraft, locked: LockedRows): TermChanges {
  const chunks: ChunkChanges = new Map()
  const recent: (readonly [number, readonly Digest[]])[] = []
  for (const [ordinal, to] of rows) {
    const from = locked.rows.get(ordinal)
    if (from === undefined) continue
    const before = termKeysOf(from)
    const after = to === undefined ? [] : termKeysOf(to)
    if (locked.recent.has(ordinal)) {
      if (to !== undefined && after.join() !== before.join()) recent.push([ordinal, to.row.terms])
      continue
    }
    const [stay, come] = [new Set(before), new Set(after)]
    for (const key of before) if (!come.has(key)) changePlace(chunks, key, ordinal, false)
    for (const key of after) if (!stay.has(key)) changePlace(chunks, key, ordinal, true)
  }
  return { chunks, recent }
}

const nthTerm = nthOf('$2', 'i', termBytes)
const given = 'unnest($1::int[]) WITH ORDINALITY g(chunk, i)'

const lockText = ({ chunks }: Tables): string => `SELECT c.chunk, c.term, c.places
FROM ${given} JOIN ${chunks} c ON c.chunk = g.chunk AND c.term = ${nthTerm}
ORDER BY c.chunk, c.term FOR UPDATE OF c`

const places = 'substring($3::bytea FROM g.at FOR g.size)'
const givenPlaces = 'unnest($1::int[], $4::int[], $5::int[]) WITH ORDINALITY g(chunk, at, size, i)'

const insertText = ({ chunks }: Tables): string => `INSERT INTO ${chunks}
SELECT g.chunk, ${nthTerm}, ${places} FROM ${givenPlaces} ORDER BY 1, 2`

const updateText = ({ chunks }: Tables): string => `UPDATE ${chunks} c SET places = ${places}
FROM ${givenPlaces} WHERE c.chunk = g.chunk AND c.term = ${nthTerm}`

const dropText = ({ chunks }: Tables): string => `DELETE FROM ${chunks} c
USING ${given} WHERE c.chunk = g.chunk AND c.term = ${nthTerm}`

const namesOf = (changes: readonly ChunkChange[]) =>
  [
    arrayOf(changes.map(({ chunk }) => chunk)),
    packDigests(
      changes.map(({ term }) => term),
      termBytes,
    ),
  ] as const

type Sets = readonly { readonly change: ChunkChange; readonly bytes: Uint8Array }[]

function putSets({ send }: DatabaseSession, text: string, sets: Sets): Promise<unknown>[] {
  if (sets.length === 0) return []
  const { bytes, at, sizes } = packValues(sets.map(each => each.bytes))
  const names = namesOf(sets.map(({ change }) => change))
  return [send(text, [...names, bytes, arrayOf(at), arrayOf(sizes)])]
}

const compareChanges = (a: ChunkChange, b: ChunkChange): number =>
  a.chunk - b.chunk || Buffer.compare(a.term, b.term)

/**
 * Locks and reads chunks, and sends their changes.
 * @returns the statements in progress
 * @throws DatabaseError; ApiError `storage_corrupt`
 */
async function putChunks(
  session: DatabaseSession,
  tables: Tables,
  changes: readonly ChunkChange[],
): Promise<Promise<unknown>[]> {
  if (changes.length === 0) return []
  const sorted = changes.toSorted(compareChanges)
  const stored = new Map<string, Uint8Array>()
  for (const [chunk, term, places] of await session.send(lockText(tables), namesOf(sorted))) {
    if (!(term instanceof Uint8Array) || !(places instanceof Uint8Array)) continue
    stored.set(`${Number(chunk)}:${keyOf(term)}`, places)
  }
  const added: Sets[number][] = []
  const changed: Sets[number][] = []
  const emptied: ChunkChange[] = []
  for (const change of sorted) {
    const known = stored.get(`${change.chunk}:${keyOf(change.term)}`)
    const set = known === undefined ? emptySet : decodePlaceSet(known)
    const bytes = encodePlaceSet(
      unite(subtract(set, setOf(change.leaving)), setOf(change.entering)),
    )
    if (bytes === undefined) emptied.push(change)
    else (known === undefined ? added : changed).push({ change, bytes })
  }
  return [
    ...putSets(session, insertText(tables), added),
    ...putSets(session, updateText(tables), changed),
    ...(emptied.length === 0 ? [] : [session.send(dropText(tables), namesOf(emptied))]),
  ]
}

function putRecent({ send }: DatabaseSession, { recent }: Tables, changes: TermChanges['recent']) {
  return changes.map(([ordinal, terms]) =>
    send(`UPDATE ${recent} SET terms = $2::bytea WHERE ordinal = $1::bigint`, [
      ordinal,
      packDigests(terms, termBytes),
    ]),
  )
}

/** @returns the statements in progress. @throws DatabaseError; ApiError `storage_corrupt` */
export async function changeChunks(
  session: DatabaseSession,
  tables: Tables,
  { chunks, recent }: TermChanges,
): Promise<Promise<unknown>[]> {
  const sent = await putChunks(session, tables, changesIn(chunks))
  return [...sent, ...putRecent(session, tables, recent)]
}
