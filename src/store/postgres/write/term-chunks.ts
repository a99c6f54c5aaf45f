/**
 * Chunks of terms: the places that enter and leave, and how they are put.
 *
 * A writer locks chunks in the order of chunk and term, so that two writers never deadlock. A
 * missing chunk cannot be locked: it is inserted, and if another writer was faster the insert
 * fails, and the group starts over. No writer overwrites what it has not read.
 * @module
 */
import { bytesOfHex } from '../../../lib/bytes.ts'
import type { Digest } from '../../contract.ts'
import type { GroupDraft } from '../../core/decide-change.ts'
import {
  decodePlaceSet,
  emptySet,
  encodePlaceSet,
  setOf,
  subtract,
  unite,
} from '../../core/place-set.ts'
import { chunkOf, lowOf } from '../../core/plan.ts'
import { keyOf, termKeysOf } from '../../core/row.ts'
import { termBytes } from '../../../limits/work-limits.ts'
import { nthOf, packDigests, packValues } from '../packed-parameters.ts'
import { arrayOf, type DatabaseSession } from '../pool.ts'
import type { Tables } from '../schema.ts'
import type { Stood } from './lock-rows.ts'

/** Changes of one chunk of a term. */
interface ChunkMove {
  readonly chunk: number
  readonly term: Digest
  readonly entering: number[]
  readonly leaving: number[]
}

/** By chunk, then by the text of the term. */
export type ChunkMoves = Map<number, Map<string, ChunkMove>>

/** Notes one place that enters or leaves. @param key the text of the term (`keyOf`) */
export function movePlace(moves: ChunkMoves, key: string, ordinal: number, isIn: boolean): void {
  const chunk = chunkOf(ordinal)
  let ofChunk = moves.get(chunk)
  if (ofChunk === undefined) {
    ofChunk = new Map()
    moves.set(chunk, ofChunk)
  }
  let move = ofChunk.get(key)
  if (move === undefined) {
    move = { chunk, term: bytesOfHex(key), entering: [], leaving: [] }
    ofChunk.set(key, move)
  }
  ;(isIn ? move.entering : move.leaving).push(lowOf(ordinal))
}

const movesIn = (moves: ChunkMoves): ChunkMove[] =>
  [...moves.values()].flatMap(ofChunk => [...ofChunk.values()])

/** Changes by the moves of a group: folded rows change chunks, recent ones their entries. */
export interface TermMoves {
  readonly chunks: ChunkMoves
  readonly recent: readonly (readonly [ordinal: number, terms: readonly Digest[]])[]
}

export function termMoves({ rows }: GroupDraft, stood: Stood): TermMoves {
  const chunks: ChunkMoves = new Map()
  const recent: (readonly [number, readonly Digest[]])[] = []
  for (const [ordinal, to] of rows) {
    const from = stood.rows.get(ordinal)
    if (from === undefined) continue
    const before = termKeysOf(from)
    const after = to === undefined ? [] : termKeysOf(to)
    if (stood.recent.has(ordinal)) {
      if (to !== undefined && after.join() !== before.join()) recent.push([ordinal, to.row.terms])
      continue
    }
    const [stay, come] = [new Set(before), new Set(after)]
    for (const key of before) if (!come.has(key)) movePlace(chunks, key, ordinal, false)
    for (const key of after) if (!stay.has(key)) movePlace(chunks, key, ordinal, true)
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

const namesOf = (moves: readonly ChunkMove[]) =>
  [
    arrayOf(moves.map(({ chunk }) => chunk)),
    packDigests(
      moves.map(({ term }) => term),
      termBytes,
    ),
  ] as const

type Sets = readonly { readonly move: ChunkMove; readonly bytes: Uint8Array }[]

function putSets({ send }: DatabaseSession, text: string, sets: Sets): Promise<unknown>[] {
  if (sets.length === 0) return []
  const { bytes, at, sizes } = packValues(sets.map(each => each.bytes))
  const names = namesOf(sets.map(({ move }) => move))
  return [send(text, [...names, bytes, arrayOf(at), arrayOf(sizes)])]
}

const compareMoves = (a: ChunkMove, b: ChunkMove): number =>
  a.chunk - b.chunk || Buffer.compare(a.term, b.term)

/**
 * Locks and reads chunks, and sends their changes.
 * @returns the statements in progress
 * @throws DatabaseError; ApiError `storage_corrupt`
 */
async function putChunks(
  session: DatabaseSession,
  tables: Tables,
  moves: readonly ChunkMove[],
): Promise<Promise<unknown>[]> {
  if (moves.length === 0) return []
  const sorted = moves.toSorted(compareMoves)
  const stored = new Map<string, Uint8Array>()
  for (const [chunk, term, places] of await session.send(lockText(tables), namesOf(sorted))) {
    if (!(term instanceof Uint8Array) || !(places instanceof Uint8Array)) continue
    stored.set(`${Number(chunk)}:${keyOf(term)}`, places)
  }
  const added: Sets[number][] = []
  const changed: Sets[number][] = []
  const emptied: ChunkMove[] = []
  for (const move of sorted) {
    const known = stored.get(`${move.chunk}:${keyOf(move.term)}`)
    const set = known === undefined ? emptySet : decodePlaceSet(known)
    const bytes = encodePlaceSet(unite(subtract(set, setOf(move.leaving)), setOf(move.entering)))
    if (bytes === undefined) emptied.push(move)
    else (known === undefined ? added : changed).push({ move, bytes })
  }
  return [
    ...putSets(session, insertText(tables), added),
    ...putSets(session, updateText(tables), changed),
    ...(emptied.length === 0 ? [] : [session.send(dropText(tables), namesOf(emptied))]),
  ]
}

function putRecent({ send }: DatabaseSession, { recent }: Tables, moves: TermMoves['recent']) {
  return moves.map(([ordinal, terms]) =>
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
  { chunks, recent }: TermMoves,
): Promise<Promise<unknown>[]> {
  const sent = await putChunks(session, tables, movesIn(chunks))
  return [...sent, ...putRecent(session, tables, recent)]
}
