/**
 * The walk over the whole store that compares rows and indexes in both directions.
 *
 * The walk finds damage that no single read can: rows without index entries, and entries without
 * rows. For a row of the tail, the index must hold only entries that a running fold put there, and
 * the moves must give its version. First the index entries of each row are looked up. No two rows
 * share an entry, so an index with as many entries as were found has no orphan; otherwise its
 * entries are looked up one by one. The walk blocks, holds one snapshot, and changes nothing.
 * Source: hardening D8.
 * @module
 */
import { findingsMax } from '../../core/limits.ts'
import { keyOf } from '../../core/row.ts'
import { equalDigests } from '../../core/queries.ts'
import type { StoreFinding, FindingKind } from '../../operated.ts'
import type { Row } from '../../contract.ts'
import { attempt } from '../../../lib/errors.ts'
import { noProgress, type BeginProgress } from '../../../lib/progress.ts'
import { deadlinesOfStore, readChunk, termsOfStore, type Postings } from '../index/postings.ts'
import {
  chunkOf,
  countOf,
  decodePlaceSet,
  emptySet,
  hasPlace,
  isCanonical,
  lowOf,
  ordinalOf,
  type PlaceSet,
  placesOf,
} from '../../core/place-set.ts'
import {
  decodeDeadline,
  decodeMoveKey,
  decodeRowKey,
  decodeRowVersion,
  encodeDeadline,
  encodeMoveKey,
} from '../layout.ts'
import { decodeRow } from '../../core/row-format.ts'
import { assertSafeState, isFolded, type StoreState } from '../store-state.ts'
import { checkLog } from './check-log-table.ts'
import { findInTail, placesInTail, type IndexedEnvironment } from '../index/tail.ts'
import { readFoldedUnique, readRow } from '../index/read-rows.ts'

/** Cached sets of common terms; rarer ones are read each time. */
const chunksKeptMax = 1_024

/** One snapshot of the store, with the results of the walk so far. */
interface Walk {
  readonly environment: IndexedEnvironment
  readonly state: StoreState
  /** Versions of moved rows of the tail; the others are at version 1. */
  readonly moved: ReadonlyMap<number, number>
  readonly found: Found
}

function* checkMeta({ environment, state }: Walk): Generator<StoreFinding> {
  const isSafe = attempt(() => (assertSafeState(environment, state), true))
  if (isSafe === undefined) yield { kind: 'meta_damaged' }
}

/** Counts of index entries that were found from rows. */
interface Found {
  uniques: number
  terms: number
  deadlines: number
  /** Digests of rows of the tail. */
  inTail: number
}

/** True if an ordinal is in the chunk of a term or a deadline. */
type IsPosted = (shared: Uint8Array, ordinal: number) => boolean

/** Rows come in order and share most terms, so the latest chunk's sets are kept. */
function lookUpPostings(postings: Postings): IsPosted {
  let chunk = -1
  let kept = new Map<string, PlaceSet>()
  return (shared, ordinal) => {
    if (chunkOf(ordinal) !== chunk || kept.size >= chunksKeptMax) {
      chunk = chunkOf(ordinal)
      kept = new Map()
    }
    const key = keyOf(shared)
    let set = kept.get(key)
    if (set === undefined) {
      set = attempt(() => readChunk(postings, shared, chunk)) ?? emptySet
      if (set.length > 1) kept.set(key, set)
    }
    return hasPlace(set, lowOf(ordinal))
  }
}

/** Checks the tail's memory of a row, and that its digests lead nowhere else. */
function* checkTail(
  { environment, found }: Walk,
  row: Row,
  isTail: boolean,
): Generator<StoreFinding> {
  const { ordinal } = row
  const chunk = chunkOf(ordinal)
  for (const unique of row.uniques) {
    const holder = findInTail(environment, unique)?.ordinal
    if (holder !== (isTail ? ordinal : undefined)) yield { kind: 'unique_missing', ordinal }
    else if (isTail) found.inTail += 1
  }
  if (!isTail) return
  for (const term of row.terms) {
    if (hasPlace(placesInTail(environment, term, chunk), lowOf(ordinal))) found.inTail += 1
    else yield { kind: 'term_missing', ordinal }
  }
}

function* checkIndexed(walk: Walk, row: Row, hasTerm: IsPosted): Generator<StoreFinding> {
  const { environment, state, found } = walk
  const { ordinal, version } = row
  for (const unique of row.uniques) {
    if (!isFolded(state, unique, ordinal)) continue
    const entry = attempt(() => readFoldedUnique(environment, unique))
    if (entry?.ordinal === ordinal && entry.version === version) found.uniques += 1
    else yield { kind: 'unique_missing', ordinal }
  }
  for (const term of row.terms) {
    if (!isFolded(state, term, ordinal)) continue
    if (hasTerm(term, ordinal)) found.terms += 1
    else yield { kind: 'term_missing', ordinal }
  }
}

function* checkRow(walk: Walk, row: Row, hasTerm: IsPosted): Generator<StoreFinding> {
  const { environment, state, moved, found } = walk
  const { ordinal, version, deadlineMs } = row
  yield* checkIndexed(walk, row, hasTerm)
  const isTail = ordinal >= state.foldedTo
  yield* checkTail(walk, row, isTail)
  if (isTail && version !== (moved.get(ordinal) ?? 1)) yield { kind: 'move_missing', ordinal }
  if (deadlineMs === undefined) return
  const deadlines = deadlinesOfStore(environment)
  const chunk = () => readChunk(deadlines, encodeDeadline(deadlineMs), chunkOf(ordinal))
  if (hasPlace(attempt(chunk) ?? emptySet, lowOf(ordinal))) found.deadlines += 1
  else yield { kind: 'deadline_missing', ordinal }
}

/** Ordinals of the tail that have neither a row nor a move that removed it. */
function* checkGap({ state, moved }: Walk, from: number, to: number): Generator<StoreFinding> {
  for (let ordinal = Math.max(from, state.foldedTo); ordinal < to; ordinal += 1) {
    if (moved.get(ordinal) !== 0) yield { kind: 'move_missing', ordinal }
  }
}

function* checkRows(walk: Walk, progress: BeginProgress): Generator<StoreFinding> {
  const { environment, state } = walk
  const done = progress(state.nextOrdinal, 'index')
  const hasTerm = lookUpPostings(termsOfStore(environment))
  let next = state.foldedTo
  for (const { key, value } of environment.rows.getRange()) {
    const ordinal = attempt(() => decodeRowKey(key))
    if (ordinal === undefined) {
      yield { kind: 'row_damaged' }
      continue
    }
    done(ordinal)
    yield* checkGap(walk, next, ordinal)
    next = Math.max(next, ordinal + 1)
    const row = attempt(() => decodeRow(value, ordinal))
    if (row === undefined) yield { kind: 'row_damaged', ordinal }
    else yield* checkRow(walk, row, hasTerm)
  }
  yield* checkGap(walk, next, state.nextOrdinal)
}

function* findOrphanUniques({ environment, state }: Walk): Generator<StoreFinding> {
  for (const { key, value } of environment.uniques.getRange()) {
    const entry = attempt(() => decodeRowVersion(value))
    if (entry === undefined) continue
    const { ordinal, version } = entry
    const row = attempt(() => readRow(environment, ordinal))
    const isHeld = row?.version === version && row.uniques.some(held => equalDigests(held, key))
    if (!isHeld || !isFolded(state, key, ordinal)) yield { kind: 'unique_orphan', ordinal }
  }
}

function* checkUniques(walk: Walk): Generator<StoreFinding> {
  let entries = 0
  for (const { value } of walk.environment.uniques.getRange()) {
    if (attempt(() => decodeRowVersion(value)) === undefined) yield { kind: 'unique_damaged' }
    else entries += 1
  }
  if (entries !== walk.found.uniques) yield* findOrphanUniques(walk)
}

interface PostingKinds {
  readonly postings: Postings
  readonly damaged: FindingKind
  readonly orphan: FindingKind
  readonly isOf: (row: Row, shared: Uint8Array) => boolean
}

const termKinds = ({ environment, state }: Walk): PostingKinds => ({
  postings: termsOfStore(environment),
  damaged: 'term_damaged',
  orphan: 'term_orphan',
  isOf: (row, term) =>
    isFolded(state, term, row.ordinal) && row.terms.some(held => equalDigests(held, term)),
})

const deadlineKinds = ({ environment }: Walk): PostingKinds => ({
  postings: deadlinesOfStore(environment),
  damaged: 'deadline_damaged',
  orphan: 'deadline_orphan',
  isOf: (row, deadline) => row.deadlineMs === attempt(() => decodeDeadline(deadline)),
})

function* findOrphanPostings({ environment }: Walk, kinds: PostingKinds): Generator<StoreFinding> {
  const { table, decodeKey } = kinds.postings
  for (const { key, value } of table.getRange()) {
    const name = attempt(() => decodeKey(key))
    const set = attempt(() => decodePlaceSet(value))
    if (name === undefined || set === undefined || !isCanonical(set)) continue
    for (const low of placesOf(set)) {
      const ordinal = ordinalOf(name.chunk, low)
      const row = attempt(() => readRow(environment, ordinal))
      if (row === undefined || !kinds.isOf(row, name.shared)) yield { kind: kinds.orphan, ordinal }
    }
  }
}

function* checkPostings(walk: Walk, kinds: PostingKinds, found: number): Generator<StoreFinding> {
  const { table, decodeKey } = kinds.postings
  let entries = 0
  for (const { key, value } of table.getRange()) {
    const name = attempt(() => decodeKey(key))
    const set = attempt(() => decodePlaceSet(value))
    if (name === undefined) yield { kind: kinds.damaged }
    else if (set === undefined || !isCanonical(set)) {
      yield { kind: kinds.damaged, ordinal: ordinalOf(name.chunk, 0) }
    } else entries += countOf(set)
  }
  if (entries !== found) yield* findOrphanPostings(walk, kinds)
}

/** Moves are numbered without gaps, and those in force concern rows of the tail. */
function* checkMoves(
  { environment, state }: Walk,
  moved: Map<number, number>,
): Generator<StoreFinding> {
  let expected = state.movesFrom
  const range = { start: encodeMoveKey(0) }
  for (const { key, value } of environment.moves.getRange(range)) {
    const move = attempt(() => decodeRowVersion(value))
    const number = attempt(() => decodeMoveKey(key))
    if (move === undefined || number !== expected || move.ordinal >= state.nextOrdinal) {
      yield { kind: 'move_damaged' }
    }
    if (move !== undefined) moved.set(move.ordinal, move.version)
    expected = (number ?? expected) + 1
  }
  if (expected !== state.movesTo) yield { kind: 'move_damaged' }
}

function* walkStore(
  environment: IndexedEnvironment,
  state: StoreState,
  progress: BeginProgress,
): Generator<StoreFinding> {
  const found: Found = { uniques: 0, terms: 0, deadlines: 0, inTail: 0 }
  const moved = new Map<number, number>()
  const walk = { environment, state, moved, found }
  yield* checkMeta(walk)
  yield* checkMoves(walk, moved)
  yield* checkRows(walk, progress)
  const { folding, fresh } = environment.tail
  if (found.inTail !== folding.digests + fresh.digests) yield { kind: 'tail_orphan' }
  yield* checkUniques(walk)
  yield* checkPostings(walk, termKinds(walk), found.terms)
  yield* checkPostings(walk, deadlineKinds(walk), found.deadlines)
  yield* checkLog(environment)
}

/** @returns the findings, at most `findingsMax`; empty for a sound store */
export function checkIntegrity(
  environment: IndexedEnvironment,
  state: StoreState,
  progress: BeginProgress = noProgress,
): readonly StoreFinding[] {
  const findings: StoreFinding[] = []
  for (const finding of walkStore(environment, state, progress)) {
    findings.push(finding)
    if (findings.length === findingsMax) break
  }
  return findings
}
