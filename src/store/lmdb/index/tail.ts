/**
 * The tail: the newest rows, to which the index does not lead yet, and what leads to them instead.
 *
 * A new row is appended to the table of rows and to nothing else. Its digests stand here, in
 * memory, until a fold has put them into the index. All of it follows from the file: from the
 * headers of the rows behind `foldedTo`, and from the moves, which name those that were replaced or
 * removed. So nothing of it can be lost, and every process that has the store open comes to the
 * same. Source: docs/architecture.md, "The store".
 * @module
 */
import { digestPrefixes, rowSlabBytes } from '../../../limits.ts'
import { hexOf, makeSlabs } from '../../../bytes.ts'
import { attempt } from '../../../errors.ts'
import { eachTerm, eachUnique, versionOf, keyOf } from '../../rows.ts'
import type { Digest } from '../../contract.ts'
import { isFoldRunning, readState, type Environment, type State } from '../environment.ts'
import {
  decodeMoveKey,
  decodeRowKey,
  decodeRowVersion,
  encodeMoveKey,
  encodeRowKey,
  findRowHeader,
  isSoundHeader,
  type RowVersion,
} from '../layout.ts'
import { unite, type PlaceSet } from './place-set.ts'
import { makeLiveChunks, type LiveChunks } from './live-chunks.ts'
import { chunkOf, lowOf, addPlace, dropPlace, placeSetOf, type Places } from './postings.ts'

/** What leads to the rows of a range of ordinals. Maps of digests stand by their first byte. */
interface Segment {
  /** Ordinal to clear header. */
  readonly rows: Map<number, Uint8Array>
  readonly uniques: readonly Map<string, number>[]
  /** By chunk. */
  readonly terms: Map<number, readonly Map<string, Places>[]>
  /** How many digests its rows have. */
  digests: number
}

export interface Tail {
  /** What it stands at; `undefined` before it was read, and after a reading that broke off. */
  state: State | undefined
  /** Rows from `foldedTo` to `foldingTo`. */
  folding: Segment
  /** Rows from `foldingTo` on. */
  fresh: Segment
  /** Something of it is not what was written: none of it is folded before `coffer verify` told. */
  isDamaged: boolean
}

/** An environment with what is kept in memory to find its rows. */
export interface IndexedEnvironment extends Environment {
  readonly tail: Tail
  readonly live: LiveChunks
}

const makePrefixes = <T>(): readonly Map<string, T>[] =>
  Array.from({ length: digestPrefixes }, () => new Map<string, T>())

const emptySegment = (): Segment => ({
  rows: new Map(),
  uniques: makePrefixes(),
  terms: new Map(),
  digests: 0,
})

const makeTail = (): Tail => ({
  state: undefined,
  folding: emptySegment(),
  fresh: emptySegment(),
  isDamaged: false,
})

export const withIndex = (environment: Environment): IndexedEnvironment => ({
  ...environment,
  tail: makeTail(),
  live: makeLiveChunks(),
})

/*
 * One row in a segment.
 */

/** @returns whether no other row of the segment holds one of its uniques */
function addRow(segment: Segment, ordinal: number, clear: Uint8Array): boolean {
  const { rows, uniques, terms } = segment
  let isAlone = true
  rows.set(ordinal, clear)
  eachUnique(clear, (key, first) => {
    const held = uniques[first]
    isAlone &&= held?.has(key) === false
    held?.set(key, ordinal)
    segment.digests += 1
  })
  const chunk = chunkOf(ordinal)
  const known = terms.get(chunk) ?? makePrefixes()
  terms.set(chunk, known)
  eachTerm(clear, (key, first) => {
    const sets = known[first]
    sets?.set(key, addPlace(sets.get(key), lowOf(ordinal)))
    segment.digests += 1
  })
  return isAlone
}

function dropRow(segment: Segment, ordinal: number): void {
  const { rows, uniques, terms } = segment
  const clear = rows.get(ordinal)
  if (clear === undefined) return
  rows.delete(ordinal)
  eachUnique(clear, (key, first) => {
    if (uniques[first]?.get(key) === ordinal) uniques[first]?.delete(key)
    segment.digests -= 1
  })
  const known = terms.get(chunkOf(ordinal))
  eachTerm(clear, (key, first) => {
    const sets = known?.[first]
    const rest = dropPlace(sets?.get(key), lowOf(ordinal))
    if (rest === undefined) sets?.delete(key)
    else sets?.set(key, rest)
    segment.digests -= 1
  })
}

/*
 * Following the file.
 */

/** A header is a view of bytes that the engine uses again: those of a tail stand together. */
const roomForHeaders = makeSlabs(rowSlabBytes, Buffer.allocUnsafeSlow)

function copyOf(clear: Uint8Array): Uint8Array {
  const room = roomForHeaders(clear.length)
  room.set(clear)
  return room
}

interface Moves {
  /** Of each row that was moved: later moves of a row come after earlier ones. */
  readonly versions: ReadonlyMap<number, number>
  /** Whether all are there, as they were written. */
  readonly isWhole: boolean
}

function readMoves({ moves }: Environment, from: number, to: number): Moves {
  const versions = new Map<number, number>()
  let expected = from
  let isWhole = true
  const range = moves.getRange({ start: encodeMoveKey(from), end: encodeMoveKey(to) })
  for (const { key, value } of range) {
    const move = attempt(() => decodeRowVersion(value))
    if (move !== undefined) versions.set(move.ordinal, move.version)
    isWhole &&= move !== undefined && attempt(() => decodeMoveKey(key)) === expected
    expected += 1
  }
  return { versions, isWhole: isWhole && expected === to }
}

const segmentOf = (tail: Tail, { foldingTo }: State, ordinal: number): Segment =>
  ordinal < foldingTo ? tail.folding : tail.fresh

/**
 * What can be read of a damaged header counts: who asks for such a row is told that it is damaged.
 * @returns whether the header is sound, at that version, and its uniques are nobody else's
 */
function takeRow(segment: Segment, ordinal: number, value: Uint8Array, version: number): boolean {
  const header = attempt(() => findRowHeader(value))
  if (header === undefined) return false
  const isAlone = addRow(segment, ordinal, copyOf(header.clear))
  return isAlone && header.version === version && isSoundHeader(value, header)
}

/** Rows that came since: all ordinals from one to another, but those that moves say are removed. */
function takeNewRows(
  environment: IndexedEnvironment,
  moved: ReadonlyMap<number, number>,
  from: number,
  state: State,
): boolean {
  const { rows, tail } = environment
  const range = { start: encodeRowKey(from), end: encodeRowKey(state.nextOrdinal) }
  let isWhole = true
  let next = from
  // Up to the first that is missing: where the state is damaged, a gap may have no end.
  const expectGap = (to: number): void => {
    for (; isWhole && next < to; next += 1) isWhole = moved.get(next) === 0
  }
  for (const { key, value } of rows.getRange(range)) {
    const ordinal = attempt(() => decodeRowKey(key))
    if (ordinal === undefined) isWhole = false
    else {
      expectGap(ordinal)
      next = ordinal + 1
      const version = moved.get(ordinal) ?? 1
      isWhole = takeRow(segmentOf(tail, state, ordinal), ordinal, value, version) && isWhole
    }
  }
  expectGap(state.nextOrdinal)
  return isWhole
}

/** Rows that were in the tail, and were replaced or removed since. */
function takeMovedRows(
  { rows, tail }: IndexedEnvironment,
  moved: ReadonlyMap<number, number>,
  below: number,
  state: State,
): boolean {
  const known = [...moved].filter(([ordinal]) => ordinal >= state.foldedTo && ordinal < below)
  // All of them first: a unique may have gone from one to another.
  for (const [ordinal] of known) dropRow(segmentOf(tail, state, ordinal), ordinal)
  let isWhole = true
  for (const [ordinal, version] of known) {
    const value = rows.getBinary(encodeRowKey(ordinal))
    const segment = segmentOf(tail, state, ordinal)
    if (value === undefined) isWhole &&= version === 0
    else isWhole = takeRow(segment, ordinal, value, version) && isWhole
  }
  return isWhole
}

/** Brings the segments to where the folds are. @returns whether what they hold is still good */
function turnSegments(tail: Tail, from: State, to: State): boolean {
  let { foldedTo, foldingTo } = from
  if (foldingTo > foldedTo && to.foldedTo === foldingTo) {
    tail.folding = emptySegment()
    foldedTo = foldingTo
  }
  if (foldingTo === foldedTo && to.foldedTo === foldedTo && isFoldRunning(to)) {
    tail.folding = tail.fresh
    tail.fresh = emptySegment()
    foldingTo = to.foldingTo
  }
  return foldedTo === to.foldedTo && foldingTo === to.foldingTo
}

/** What was moved before a tail is read anew counts as well: it tells the versions of its rows. */
function follow(environment: IndexedEnvironment, from: State | undefined, to: State): void {
  const { tail } = environment
  const isKnown = from !== undefined && turnSegments(tail, from, to)
  if (!isKnown) Object.assign(tail, makeTail())
  const next = isKnown ? from.nextOrdinal : to.foldedTo
  const moves = readMoves(environment, isKnown ? from.movesTo : to.movesFrom, to.movesTo)
  const { versions } = moves
  // Each of them, whatever the others say: what is damaged must hide nothing else.
  const areMovedWhole = takeMovedRows(environment, versions, next, to)
  const areNewWhole = takeNewRows(environment, versions, next, to)
  if (!moves.isWhole || !areMovedWhole || !areNewWhole) tail.isDamaged = true
}

const isSame = (a: State | undefined, b: State): boolean =>
  a?.nextOrdinal === b.nextOrdinal &&
  a.movesTo === b.movesTo &&
  a.foldedTo === b.foldedTo &&
  a.foldingTo === b.foldingTo

const isBehind = (state: State, known: State | undefined): boolean =>
  known !== undefined &&
  (state.nextOrdinal < known.nextOrdinal ||
    state.movesTo < known.movesTo ||
    state.foldedTo < known.foldedTo ||
    state.foldingTo < known.foldingTo)

/**
 * Brings the tail to the state that this process reads now; to be called before anything else is
 * read, within the same turn of the event loop.
 * @throws ApiError `storage_corrupt`
 */
export function followStore(environment: IndexedEnvironment): State {
  const { tail } = environment
  let state = readState(environment)
  if (isBehind(state, tail.state)) {
    // The engine keeps one state for a turn of the loop; a transaction has seen a newer one.
    environment.root.resetReadTxn()
    state = readState(environment)
  }
  const from = tail.state
  if (from !== state && !isSame(from, state)) {
    tail.state = undefined
    follow(environment, from, state)
  }
  tail.state = state
  return state
}

/*
 * Asking the tail.
 */

/** Who holds a unique, as far as it is in the tail. */
export function findInTail({ tail }: IndexedEnvironment, unique: Digest): RowVersion | undefined {
  const key = hexOf(unique)
  const first = unique[0] ?? 0
  for (const { uniques, rows } of [tail.fresh, tail.folding]) {
    const ordinal = uniques[first]?.get(key)
    const clear = ordinal === undefined ? undefined : rows.get(ordinal)
    if (ordinal !== undefined && clear !== undefined) return { ordinal, version: versionOf(clear) }
  }
  return undefined
}

/** The rows of a chunk that have a term, as far as they are in the tail. */
export function placesInTail({ tail }: IndexedEnvironment, term: Digest, chunk: number): PlaceSet {
  const [fresh, folding] = [tail.fresh, tail.folding].map(({ terms }) => {
    const sets = terms.get(chunk)?.[term[0] ?? 0]
    return placeSetOf(sets === undefined || sets.size === 0 ? undefined : sets.get(keyOf(term)))
  })
  return unite(fresh ?? placeSetOf(undefined), folding ?? placeSetOf(undefined))
}
