/**
 * Folding: what leads to the rows of the tail is put into the index, in small steps.
 *
 * A fold takes the rows that stand when it begins. Each step takes digests that follow each other,
 * of all these rows at once, so that a page of the index is written once for many of them. A step
 * is part of a transaction as anything else, and `StoreState` says how far the fold is: whatever
 * ends a process between two steps or within one, the next one goes on from there.
 * Source: docs/architecture.md, "The store".
 * @module
 */
import { foldRowsDefault } from '../../../limits/setting-limits.ts'
import { uniqueBytes } from '../../../limits/work-limits.ts'
import {
  digestPrefixes,
  foldMovesMax,
  foldDigestsPerRow,
  foldLagMax,
  foldPutsMax,
  foldPutsPerDigest,
  foldPutsWanted,
} from '../../core/limits.ts'
import { readU32 } from '../../../lib/bytes.ts'
import { ApiError, assertStored } from '../../../lib/errors.ts'
import { isFoldRunning, type StoreState, type Put } from '../environment.ts'
import { encodePlaceSet, unite } from '../../core/place-set.ts'
import { readChunk, termsOfStore, placeSetOf } from '../index/postings.ts'
import { termsOfPrefix, uniquesOfPrefix } from '../index/segment.ts'
import type { IndexedEnvironment } from '../index/tail.ts'
import { encodeMoveKey, encodeRowVersion } from '../layout.ts'

/** How large folds and their steps are; a step has one first byte of digests at least. */
export interface FoldSizes {
  /** From so many rows of the tail on a fold begins. */
  readonly rows: number
  /** Entries of the index in one step. */
  readonly puts: number
  /** The same for each digest of the rows that are written along, where that is more. */
  readonly putsPerDigest: number
}

export const foldSizes: FoldSizes = {
  rows: foldRowsDefault,
  puts: foldPutsWanted,
  putsPerDigest: foldPutsPerDigest,
}

export interface FoldStep {
  readonly puts: readonly Put[]
  /** As it is once they are made. */
  readonly state: StoreState
}

/** Of a fold that has ended: its rows are no tail any more. */
const hasStaleMoves = (state: StoreState): boolean =>
  !isFoldRunning(state) && state.movesFrom < state.movesOfFold

/**
 * Whether a fold is to begin: for the number of rows, for that of their digests, which take memory,
 * or for that of their moves, which every process reads that opens the store.
 */
function isDue({ tail }: IndexedEnvironment, state: StoreState, { rows }: FoldSizes): boolean {
  const { foldedTo, nextOrdinal, movesOfFold, movesTo } = state
  if (isFoldRunning(state) || nextOrdinal === foldedTo) return false
  return (
    nextOrdinal - foldedTo >= rows ||
    tail.fresh.digests >= rows * foldDigestsPerRow ||
    movesTo - movesOfFold >= foldMovesMax
  )
}

/**
 * Whether so much stands in memory that writes are to wait: a caller's rows may have hundreds of
 * digests each, which come faster than steps of folds beside them can go.
 */
export const isFoldBehind = (
  { tail }: IndexedEnvironment,
  state: StoreState,
  { rows }: FoldSizes,
) =>
  state.nextOrdinal - state.foldedTo > rows * foldLagMax ||
  tail.fresh.digests + tail.folding.digests > rows * foldDigestsPerRow * foldLagMax

/** Whether there is anything to do for steps that nobody's write brings along. */
export const isFoldLeft = (environment: IndexedEnvironment, state: StoreState, sizes: FoldSizes) =>
  !environment.tail.isDamaged &&
  (isFoldRunning(state) || hasStaleMoves(state) || isDue(environment, state, sizes))

/** Any order but that of keys. */
const byTail = ({ key: a }: Put, { key: b }: Put): number =>
  readU32(a, uniqueBytes - 4) - readU32(b, uniqueBytes - 4)

/**
 * Those of new eras come behind all others of their first byte. Put in the order of their keys, or
 * the last one first, each page is left half full once it was split; in any other order two thirds.
 */
function uniquePuts({ uniques: table, tail }: IndexedEnvironment, prefix: number): Put[] {
  const puts = uniquesOfPrefix(tail.folding, prefix).map(({ unique, holder }) => {
    assertStored(holder !== undefined, 'a row for every unique of the tail')
    return { table, key: unique, value: encodeRowVersion(holder) }
  })
  return puts.sort(byTail)
}

/** @throws ApiError `storage_corrupt` when a chunk as stored is none */
function termPuts(environment: IndexedEnvironment, prefix: number): Put[] {
  const postings = termsOfStore(environment)
  const { table, encodeKey } = postings
  return termsOfPrefix(environment.tail.folding, prefix).map(({ term, chunk, places }) => {
    const set = unite(readChunk(postings, term, chunk), placeSetOf(places))
    return { table, key: encodeKey(term, chunk), value: encodePlaceSet(set) }
  })
}

function foldDigests(environment: IndexedEnvironment, state: StoreState, wanted: number): FoldStep {
  const puts: Put[] = []
  let prefix = state.foldedPrefixes
  for (; prefix < digestPrefixes && puts.length < wanted; prefix += 1) {
    puts.push(...uniquePuts(environment, prefix), ...termPuts(environment, prefix))
  }
  const isEnded = prefix === digestPrefixes
  const after = isEnded
    ? { foldedTo: state.foldingTo, foldedPrefixes: 0 }
    : { foldedPrefixes: prefix }
  return { puts, state: { ...state, ...after } }
}

function dropMoves({ moves: table }: IndexedEnvironment, state: StoreState): FoldStep {
  const movesFrom = Math.min(state.movesOfFold, state.movesFrom + foldPutsMax)
  const puts: Put[] = []
  for (let number = state.movesFrom; number < movesFrom; number += 1) {
    puts.push({ table, key: encodeMoveKey(number), value: undefined })
  }
  return { puts, state: { ...state, movesFrom } }
}

/**
 * The next step, as seen within a transaction that has written nothing yet.
 * @param digests of the rows of the same transaction: the fold is faster than they come
 * @returns `undefined` when there is nothing to do, or when damage was met, which stops all folds
 */
export function planFold(
  environment: IndexedEnvironment,
  state: StoreState,
  sizes: FoldSizes,
  digests: number,
): FoldStep | undefined {
  const { tail } = environment
  if (tail.isDamaged) return undefined
  if (hasStaleMoves(state)) return dropMoves(environment, state)
  if (isDue(environment, state, sizes)) {
    const { nextOrdinal: foldingTo, movesTo: movesOfFold } = state
    return { puts: [], state: { ...state, foldingTo, movesOfFold } }
  }
  if (!isFoldRunning(state)) return undefined
  try {
    const wanted = Math.min(foldPutsMax, Math.max(sizes.puts, digests * sizes.putsPerDigest))
    return foldDigests(environment, state, wanted)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    tail.isDamaged = true
    return undefined
  }
}
