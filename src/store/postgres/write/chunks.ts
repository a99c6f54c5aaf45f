/**
 * Chunks of terms: which places enter and leave, and how they are put.
 *
 * Whoever changes chunks locks them in the order of chunk and term, so that two never wait for each
 * other in a ring.
 * @module
 */
import type { Digest } from '../../contract.ts'
import type { GroupDraft } from '../../decide.ts'
import {
  decodePlaceSet,
  emptySet,
  encodePlaceSet,
  setOf,
  subtract,
  unite,
} from '../../place-set.ts'
import { chunkOf, lowOf } from '../../plan.ts'
import { keyOf } from '../../rows.ts'
import { termBytes } from '../../../limits.ts'
import { packDigests } from '../look.ts'
import { arrayOf, type Session } from '../pool.ts'
import type { Tables } from '../schema.ts'
import { Trouble } from '../trouble.ts'
import type { Stood } from './standing.ts'

/** What changes in one chunk of a term. */
export interface ChunkMove {
  readonly chunk: number
  readonly term: Digest
  readonly entering: number[]
  readonly leaving: number[]
}

export type ChunkMoves = Map<string, ChunkMove>

/** One place that enters or leaves. */
export function movePlace(moves: ChunkMoves, term: Digest, ordinal: number, isIn: boolean): void {
  const chunk = chunkOf(ordinal)
  const key = `${chunk}:${keyOf(term)}`
  let move = moves.get(key)
  if (move === undefined) {
    move = { chunk, term, entering: [], leaving: [] }
    moves.set(key, move)
  }
  ;(isIn ? move.entering : move.leaving).push(lowOf(ordinal))
}

/** What the moves of a group change: of folded rows in chunks, of recent ones in their entries. */
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
    if (stood.recent.has(ordinal)) {
      if (to !== undefined && to.termKeys.join() !== from.termKeys.join()) {
        recent.push([ordinal, to.row.terms])
      }
      continue
    }
    const [before, after] = [new Set(from.termKeys), new Set(to?.termKeys)]
    from.row.terms.forEach((term, i) => {
      if (!after.has(from.termKeys[i] ?? '')) movePlace(chunks, term, ordinal, false)
    })
    to?.row.terms.forEach((term, i) => {
      if (!before.has(to.termKeys[i] ?? '')) movePlace(chunks, term, ordinal, true)
    })
  }
  return { chunks, recent }
}

const nthTerm = `substring($2::bytea FROM i::int * ${termBytes} - ${termBytes - 1} FOR ${termBytes})`
const given = 'unnest($1::int[]) WITH ORDINALITY g(chunk, i)'

/** What is not there cannot be locked: two that both found nothing would overwrite each other. */
const makeText = ({ chunks }: Tables): string => `INSERT INTO ${chunks}
SELECT g.chunk, ${nthTerm}, '' FROM ${given} ORDER BY 1, 2 ON CONFLICT DO NOTHING`

const lockText = ({ chunks }: Tables): string => `SELECT c.chunk, c.term, c.places
FROM ${given} JOIN ${chunks} c ON c.chunk = g.chunk AND c.term = ${nthTerm}
ORDER BY c.chunk, c.term FOR UPDATE OF c`

const putText = ({ chunks }: Tables): string => `INSERT INTO ${chunks} AS c
SELECT g.chunk, ${nthTerm}, substring($3::bytea FROM g.at FOR g.size)
FROM unnest($1::int[], $4::int[], $5::int[]) WITH ORDINALITY g(chunk, at, size, i)
ON CONFLICT (chunk, term) DO UPDATE SET places = EXCLUDED.places`

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

function putSets({ send }: Session, tables: Tables, sets: Sets): Promise<unknown> {
  const bytes = Buffer.concat(sets.map(each => each.bytes))
  const at: number[] = []
  let next = 1
  for (const each of sets) {
    at.push(next)
    next += each.bytes.length
  }
  const sizes = sets.map(each => each.bytes.length)
  const names = namesOf(sets.map(({ move }) => move))
  return send(putText(tables), [...names, bytes, arrayOf(at), arrayOf(sizes)])
}

const compareMoves = (a: ChunkMove, b: ChunkMove): number =>
  a.chunk - b.chunk || Buffer.compare(a.term, b.term)

/**
 * Locks and reads chunks, and sends what becomes of them.
 * @returns what is under way
 * @throws Trouble; ApiError `storage_corrupt`
 */
async function putChunks(
  session: Session,
  tables: Tables,
  moves: readonly ChunkMove[],
): Promise<Promise<unknown>[]> {
  if (moves.length === 0) return []
  const sorted = moves.toSorted(compareMoves)
  const stored = new Map<string, Uint8Array>()
  const names = namesOf(sorted)
  const [, locked] = await Promise.all([
    session.send(makeText(tables), names),
    session.send(lockText(tables), names),
  ])
  for (const [chunk, term, places] of locked) {
    if (!(term instanceof Uint8Array) || !(places instanceof Uint8Array)) continue
    stored.set(`${Number(chunk)}:${keyOf(term)}`, places)
  }
  const filled: { move: ChunkMove; bytes: Uint8Array }[] = []
  const empty: ChunkMove[] = []
  for (const move of sorted) {
    const known = stored.get(`${move.chunk}:${keyOf(move.term)}`)
    // Another vault has dropped it since: it is not locked.
    if (known === undefined) throw new Trouble('again')
    const set = known.length === 0 ? emptySet : decodePlaceSet(known)
    const bytes = encodePlaceSet(unite(subtract(set, setOf(move.leaving)), setOf(move.entering)))
    if (bytes === undefined) empty.push(move)
    else filled.push({ move, bytes })
  }
  const sent: Promise<unknown>[] = []
  if (filled.length > 0) sent.push(putSets(session, tables, filled))
  if (empty.length > 0) sent.push(session.send(dropText(tables), namesOf(empty)))
  return sent
}

function putRecent({ send }: Session, { recent }: Tables, moves: TermMoves['recent']) {
  return moves.map(([ordinal, terms]) =>
    send(`UPDATE ${recent} SET terms = $2::bytea WHERE ordinal = $1::bigint`, [
      ordinal,
      packDigests(terms, termBytes),
    ]),
  )
}

/** @returns what is under way. @throws Trouble; ApiError `storage_corrupt` */
export async function changeChunks(
  session: Session,
  tables: Tables,
  { chunks, recent }: TermMoves,
): Promise<Promise<unknown>[]> {
  const sent = await putChunks(session, tables, [...chunks.values()])
  return [...sent, ...putRecent(session, tables, recent)]
}
