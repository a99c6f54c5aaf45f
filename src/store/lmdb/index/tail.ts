/**
 * The tail: the newest rows, to which the index does not lead yet, and what leads to them instead.
 *
 * A new row is appended to the table of rows and to nothing else. Its digests stand here, in
 * memory, until a fold has put them into the index. All of it follows from the file: from the
 * headers of the rows behind `foldedTo`, and from the moves, which name those that were replaced or
 * removed. So nothing of it can be lost, and every process that has the store open comes to the
 * same; the one that has committed rows has their bytes already. Rows are read here as well, by the
 * tail and by the index.
 * Source: docs/architecture.md, "The store".
 * @module
 */
import { assertStored, attempt } from '../../../lib/errors.ts'
import { firstUniqueOf, holdsUnique } from '../../core/row.ts'
import type { Digest, Glimpse, Row } from '../../contract.ts'
import { checkUnique } from '../../core/queries.ts'
import { isFoldRunning, readState, type LmdbEnvironment, type StoreState } from '../environment.ts'
import {
  decodeMoveKey,
  decodeRowKey,
  decodeRowVersion,
  encodeMoveKey,
  encodeRowKey,
  type RowVersion,
} from '../layout.ts'
import { decodeGlimpse, decodeRow, findRowHeader, isSoundHeader } from '../../core/row-format.ts'
import { unite, type PlaceSet } from '../../core/place-set.ts'
import { makeLiveChunks, type LiveChunks } from './live-chunks.ts'
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
  /** What it stands at; `undefined` before it was read, and after a reading that broke off. */
  state: StoreState | undefined
  /** Rows from `foldedTo` to `foldingTo`. */
  folding: TailSegment
  /** Rows from `foldingTo` on. */
  fresh: TailSegment
  /** Something of it is not what was written: none of it is folded before `coffer verify` told. */
  isDamaged: boolean
}

/** An environment with what is kept in memory to find its rows. */
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
  live: makeLiveChunks(),
})

/*
 * Following the file.
 */

interface Moves {
  /** Of each row that was moved: later moves of a row come after earlier ones. */
  readonly versions: ReadonlyMap<number, number>
  /** Whether all are there, as they were written. */
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
 * What can be read of a damaged header counts: who asks for such a row is told that it is damaged.
 * @returns whether the header is sound, at that version, and its uniques are nobody else's
 */
function takeRow(
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

/** Rows that came since: all ordinals from one to another, but those that moves say are removed. */
function takeNewRows(
  environment: IndexedEnvironment,
  moved: ReadonlyMap<number, number>,
  from: number,
  state: StoreState,
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
  state: StoreState,
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

/** What was moved before a tail is read anew counts as well: it tells the versions of its rows. */
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
  // Each of them, whatever the others say: what is damaged must hide nothing else.
  const areMovedWhole = takeMovedRows(environment, versions, next, to)
  const areNewWhole = takeNewRows(environment, versions, next, to)
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
 * Brings the tail to the state that this process reads now; to be called before anything else is
 * read, within the same turn of the event loop.
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
 * Brings the tail to what this process has just committed, of which nothing needs to be read. Where
 * rows were moved, or somebody has followed since, it is left to the next reader.
 * @param from what the tail stood at when the transaction began
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
    if (!takeRow(segmentOf(tail, to, ordinal), ordinal, value, 1)) tail.isDamaged = true
  }
  tail.state = to
}

/*
 * Asking the tail.
 */

/** Who holds a unique, as far as it is in the tail. */
export const findInTail = ({ tail }: IndexedEnvironment, unique: Digest): RowVersion | undefined =>
  holderOf(tail.fresh, unique) ?? holderOf(tail.folding, unique)

/** The rows of a chunk that have a term, as far as they are in the tail. */
export function placesInTail({ tail }: IndexedEnvironment, term: Digest, chunk: number): PlaceSet {
  const fresh = placesOfTerm(tail.fresh, term, chunk)
  const folding = placesOfTerm(tail.folding, term, chunk)
  if (folding === undefined) return placeSetOf(fresh)
  return fresh === undefined ? placeSetOf(folding) : unite(placeSetOf(fresh), placeSetOf(folding))
}

/*
 * Reading rows, and checking that a row and the uniques that lead to it agree.
 *
 * Every read sees the state of the transaction it runs in, or else the newest one. Who reads by
 * uniques has brought the tail to that state.
 */

/** Of folded rows alone. @throws ApiError `storage_corrupt` */
export function readFoldedUnique(
  { uniques }: LmdbEnvironment,
  unique: Digest,
): RowVersion | undefined {
  const value = uniques.getBinary(unique)
  return value === undefined ? undefined : decodeRowVersion(value)
}

/**
 * Looks at both places always: where a row stands must not be told by the time that it takes.
 * @throws ApiError `storage_corrupt`
 */
export function readUnique(
  environment: IndexedEnvironment,
  unique: Digest,
): RowVersion | undefined {
  const folded = readFoldedUnique(environment, unique)
  return findInTail(environment, unique) ?? folded
}

/**
 * The engine lends the bytes until its next read: they are to be copied at once, and no more of
 * them than is kept. For bytes of one's own it would copy a row once more, a long one twice.
 */
function lendRow({ rows }: LmdbEnvironment, ordinal: number): Uint8Array | undefined {
  const lent = rows.getBinaryFast(encodeRowKey(ordinal))
  // Its length is the row's, but its views reach over all that is lent.
  return lent?.subarray(0, lent.length)
}

/** The row as it lies there, unchecked. @throws ApiError `storage_corrupt` when it is no row */
export function readRow(environment: LmdbEnvironment, ordinal: number): Row | undefined {
  const lent = lendRow(environment, ordinal)
  return lent === undefined ? undefined : decodeRow(lent, ordinal)
}

/** @throws ApiError `storage_corrupt` unless that unique leads back to this very row */
function assertHeld(environment: IndexedEnvironment, row: Row, unique: Digest): void {
  const entry = readUnique(environment, unique)
  assertStored(
    entry !== undefined && entry.ordinal === row.ordinal && entry.version === row.version,
    'a row that its unique leads to, at the same version',
  )
}

/** @throws ApiError `storage_corrupt` unless each unique of the row leads to it */
export function readHeldRow(environment: IndexedEnvironment, ordinal: number): Row | undefined {
  const row = readRow(environment, ordinal)
  if (row === undefined) return undefined
  for (const unique of row.uniques) assertHeld(environment, row, unique)
  return row
}

/** A row that an index leads to. @throws ApiError `storage_corrupt`, also when it is not there */
export function readIndexedRow(environment: IndexedEnvironment, ordinal: number): Row {
  const row = readRow(environment, ordinal)
  assertStored(row !== undefined, 'a row for every entry of an index')
  assertHeld(environment, row, firstUniqueOf(row))
  return row
}

type ReadOne<T extends Row> = (environment: LmdbEnvironment, ordinal: number) => T | undefined

const readGlimpse =
  (parts: number): ReadOne<Glimpse> =>
  (environment, ordinal) => {
    const lent = lendRow(environment, ordinal)
    return lent === undefined ? undefined : decodeGlimpse(lent, lent.length, ordinal, parts)
  }

/** What a row takes which is found by its unique: that was looked up already. */
function readInVain(environment: LmdbEnvironment, ordinal: number, read: ReadOne<Row>): void {
  const row = read(environment, ordinal)
  if (row !== undefined) holdsUnique(row, firstUniqueOf(row))
}

/**
 * @param standIn ordinal of a row that is read where nothing holds the unique: what is not there
 *   takes the time of what is, or refusals could be told apart by it (contract section 2)
 * @returns the one row that holds the unique
 * @throws ApiError `internal` when it is no unique
 * @throws ApiError `storage_corrupt` when the unique leads to a row that does not hold it, or that
 *   stands at another version
 */
function findBy<T extends Row>(
  environment: IndexedEnvironment,
  unique: Digest,
  standIn: number,
  read: ReadOne<T>,
): T | undefined {
  checkUnique(unique)
  const entry = readUnique(environment, unique)
  if (entry === undefined) {
    readInVain(environment, standIn, read)
    return undefined
  }
  const row = read(environment, entry.ordinal)
  assertStored(row !== undefined, 'a row for every unique')
  assertStored(row.version === entry.version, 'a row at the version of its unique')
  assertStored(holdsUnique(row, unique), 'a row that holds the unique that leads to it')
  return row
}

/** As `findBy`, of the whole row. */
export const findRow = (
  environment: IndexedEnvironment,
  unique: Digest,
  standIn: number,
): Row | undefined => findBy(environment, unique, standIn, readRow)

/** As `findBy`, of a row as far as its first parts. */
export const findGlimpse = (
  environment: IndexedEnvironment,
  unique: Digest,
  standIn: number,
  parts: number,
): Glimpse | undefined => findBy(environment, unique, standIn, readGlimpse(parts))

/** All rows from an ordinal on, in their order; what is no row is passed over. */
export function* readEveryRow({ rows }: LmdbEnvironment, from = 0): Generator<Row> {
  for (const { key, value } of rows.getRange({ start: encodeRowKey(from) })) {
    const row = attempt(() => decodeRow(value, decodeRowKey(key)))
    if (row !== undefined) yield row
  }
}
