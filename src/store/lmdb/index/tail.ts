/**
 * The tail: the newest rows, not yet in the index, with an index of their own in memory.
 *
 * A new row is only appended to the table of rows. Its digests stay here, in memory, until a fold
 * has put them into the index. The tail is derived from the file: from the headers of the rows from
 * `foldedTo` on, and from the moves, which name the replaced and removed ones. So nothing of it can
 * be lost, and every process that has the store open derives the same tail; the process that
 * committed rows already has their bytes. Source: docs/architecture.md, "The store".
 * @module
 */
import { attempt } from '../../../lib/errors.ts'
import type { Digest } from '../../contract.ts'
import type { LmdbEnvironment } from '../environment.ts'
import { isFoldRunning, readState, type StoreState } from '../store-state.ts'
import {
  decodeMoveKey,
  decodeRowKey,
  decodeRowVersion,
  encodeMoveKey,
  encodeRowKey,
  type RowVersion,
} from '../layout.ts'
import { findRowHeader, isSoundHeader } from '../../core/row-format.ts'
import { unite, type PlaceSet } from '../../core/place-set.ts'
import { placeSetOf } from './postings.ts'
import {
  addRow,
  dropRow,
  emptySegment,
  holderOf,
  placesOfTerm,
  type TailSegment,
} from './segment.ts'

export interface Tail {
  /** State of the store it reflects; `undefined` before a first read, and after a failed one. */
  state: StoreState | undefined
  /** Rows from `foldedTo` to `foldingTo`. */
  folding: TailSegment
  /** Rows from `foldingTo` on. */
  fresh: TailSegment
  /** Something in it is not as it was written: folding stops until `coffer verify` has named it. */
  isDamaged: boolean
}

/** The chunks that have rows: the only ones in which a query can match. */
interface LiveChunks {
  /** Newest chunk when they were listed; `undefined` before the first query. */
  newest: number | undefined
  /** Newest first; some may have lost their rows since. */
  chunks: readonly number[]
}

/** An environment with the data in memory for finding its rows. */
export interface IndexedEnvironment extends LmdbEnvironment {
  readonly tail: Tail
  readonly live: LiveChunks
}

const makeTail = (): Tail => ({
  state: undefined,
  folding: emptySegment(),
  fresh: emptySegment(),
  isDamaged: false,
})

export const withIndex = (environment: LmdbEnvironment): IndexedEnvironment => ({
  ...environment,
  tail: makeTail(),
  live: { newest: undefined, chunks: [] },
})

/*
 * Following the file.
 */

interface Moves {
  /** Versions of moved rows: a later move of a row replaces an earlier one. */
  readonly versions: ReadonlyMap<number, number>
  /** True if all are there, as they were written. */
  readonly isWhole: boolean
}

function readMoves({ moves }: LmdbEnvironment, from: number, to: number): Moves {
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

const segmentOf = (tail: Tail, { foldingTo }: StoreState, ordinal: number): TailSegment =>
  ordinal < foldingTo ? tail.folding : tail.fresh

/**
 * Adds a row to a segment; of a damaged header as much as can be read, so that a reader of the row
 * learns of the damage.
 * @returns true if the header is sound, at that version, and no other row holds its uniques
 */
function indexRow(
  segment: TailSegment,
  ordinal: number,
  value: Uint8Array,
  version: number,
): boolean {
  const header = attempt(() => findRowHeader(value))
  if (header === undefined) return false
  const isAlone = addRow(segment, ordinal, header.clear)
  return isAlone && header.version === version && isSoundHeader(value, header)
}

/** Indexes the new rows: all ordinals of a range except those that moves have removed. */
function indexNewRows(
  environment: IndexedEnvironment,
  moved: ReadonlyMap<number, number>,
  from: number,
  state: StoreState,
): boolean {
  const { rows, tail } = environment
  const range = { start: encodeRowKey(from), end: encodeRowKey(state.nextOrdinal) }
  let isWhole = true
  let next = from
  // Stops at the first missing row: in a damaged state, a gap may have no end.
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
      isWhole = indexRow(segmentOf(tail, state, ordinal), ordinal, value, version) && isWhole
    }
  }
  expectGap(state.nextOrdinal)
  return isWhole
}

/** Indexes again the rows of the tail that were replaced since, and drops those removed. */
function reindexMovedRows(
  { rows, tail }: IndexedEnvironment,
  moved: ReadonlyMap<number, number>,
  below: number,
  state: StoreState,
): boolean {
  const known = [...moved].filter(([ordinal]) => ordinal >= state.foldedTo && ordinal < below)
  // Drops all of them first: a unique may have moved from one to another.
  for (const [ordinal] of known) dropRow(segmentOf(tail, state, ordinal), ordinal)
  let isWhole = true
  for (const [ordinal, version] of known) {
    const value = rows.getBinary(encodeRowKey(ordinal))
    const segment = segmentOf(tail, state, ordinal)
    if (value === undefined) isWhole &&= version === 0
    else isWhole = indexRow(segment, ordinal, value, version) && isWhole
  }
  return isWhole
}

/**
 * Advances the segments to the folds of another state: a fold that has ended empties one, a fold
 * that has begun takes the other over.
 * @returns true if that was all: otherwise both are to be read anew
 */
function turnSegments(tail: Tail, from: StoreState, to: StoreState): boolean {
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

/**
 * Brings the tail from one state to another. A tail that is read from scratch needs earlier moves
 * too: they give the versions of its rows.
 */
function follow(
  environment: IndexedEnvironment,
  from: StoreState | undefined,
  to: StoreState,
): void {
  const { tail } = environment
  const isKnown = from !== undefined && turnSegments(tail, from, to)
  if (!isKnown) Object.assign(tail, makeTail())
  const next = isKnown ? from.nextOrdinal : to.foldedTo
  const moves = readMoves(environment, isKnown ? from.movesTo : to.movesFrom, to.movesTo)
  const { versions } = moves
  // Each step runs whatever the others return: damage must not hide anything else.
  const areMovedWhole = reindexMovedRows(environment, versions, next, to)
  const areNewWhole = indexNewRows(environment, versions, next, to)
  if (!moves.isWhole || !areMovedWhole || !areNewWhole) tail.isDamaged = true
}

const isSame = (a: StoreState | undefined, b: StoreState): boolean =>
  a?.nextOrdinal === b.nextOrdinal &&
  a.movesTo === b.movesTo &&
  a.foldedTo === b.foldedTo &&
  a.foldingTo === b.foldingTo

const isBehind = (state: StoreState, known: StoreState | undefined): boolean =>
  known !== undefined &&
  (state.nextOrdinal < known.nextOrdinal ||
    state.movesTo < known.movesTo ||
    state.foldedTo < known.foldedTo ||
    state.foldingTo < known.foldingTo)

/**
 * Brings the tail to the state that this process reads now; call it before any other read, within
 * the same turn of the event loop.
 * @throws ApiError `storage_corrupt`
 */
export function followStore(environment: IndexedEnvironment): StoreState {
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

/**
 * Adds this process's own commit to the tail without reading. If rows were moved, or the tail has
 * moved on since, it is left to the next reader.
 * @param from state of the tail when the transaction began
 * @param rows the new ones, with their ordinals
 */
export function followCommit(
  { tail }: IndexedEnvironment,
  from: StoreState,
  to: StoreState,
  rows: Iterable<readonly [ordinal: number, value: Uint8Array]>,
): void {
  if (tail.state !== from || from.movesTo !== to.movesTo) return
  tail.state = undefined
  if (!turnSegments(tail, from, to)) return
  for (const [ordinal, value] of rows) {
    if (!indexRow(segmentOf(tail, to, ordinal), ordinal, value, 1)) tail.isDamaged = true
  }
  tail.state = to
}

/*
 * Queries of the tail.
 */

/** Returns the row that holds a unique, if it is in the tail. */
export const findInTail = ({ tail }: IndexedEnvironment, unique: Digest): RowVersion | undefined =>
  holderOf(tail.fresh, unique) ?? holderOf(tail.folding, unique)

/** Returns the rows of a chunk that have a term and are in the tail. */
export function placesInTail({ tail }: IndexedEnvironment, term: Digest, chunk: number): PlaceSet {
  const fresh = placesOfTerm(tail.fresh, term, chunk)
  const folding = placesOfTerm(tail.folding, term, chunk)
  if (folding === undefined) return placeSetOf(fresh)
  return fresh === undefined ? placeSetOf(folding) : unite(placeSetOf(fresh), placeSetOf(folding))
}
