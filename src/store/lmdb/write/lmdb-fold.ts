/**
 * Folding: moves the index entries of the tail's rows into the index, in small steps.
 *
 * A fold takes the rows that exist when it begins. Each step takes neighbouring digests of all
 * these rows at once, so that a page of the index is written once for many of them. A step is part
 * of an ordinary transaction, and `StoreState` records the fold's progress: if a process ends
 * between two steps or within one, the next process goes on from there. Source:
 * docs/architecture.md, "The store".
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
import type { Put } from '../put.ts'
import { isFoldRunning, type StoreState } from '../store-state.ts'
import { encodePlaceSet, unite } from '../../core/place-set.ts'
import { readChunk, termsOfStore, placeSetOf } from '../index/postings.ts'
import { termsOfPrefix, uniquesOfPrefix } from '../index/segment.ts'
import type { IndexedEnvironment } from '../index/tail.ts'
import { encodeMoveKey, encodeRowVersion } from '../layout.ts'

/** Sizes of folds and their steps; a step covers at least one first byte of digests. */
export interface FoldSizes {
  /** Rows of the tail at which a fold begins. */
  readonly rows: number
  /** Index entries in one step. */
  readonly puts: number
  /** Index entries per digest of the rows in the same transaction, if that is more. */
  readonly putsPerDigest: number
}

export const foldSizes: FoldSizes = {
  rows: foldRowsDefault,
  puts: foldPutsWanted,
  putsPerDigest: foldPutsPerDigest,
}

export interface FoldStep {
  readonly puts: readonly Put[]
  /** The state after the puts. */
  readonly state: StoreState
}

/** True after a fold has ended: its rows have left the tail, and their moves are stale. */
const hasStaleMoves = (state: StoreState): boolean =>
  !isFoldRunning(state) && state.movesFrom < state.movesOfFold

/**
 * True if a fold must begin, because of the number of rows, of their digests, which take memory, or
 * of their moves, which every process reads when it opens the store.
 */
function isFoldDue({ tail }: IndexedEnvironment, state: StoreState, { rows }: FoldSizes): boolean {
  const { foldedTo, nextOrdinal, movesOfFold, movesTo } = state
  if (isFoldRunning(state) || nextOrdinal === foldedTo) return false
  return (
    nextOrdinal - foldedTo >= rows ||
    tail.fresh.digests >= rows * foldDigestsPerRow ||
    movesTo - movesOfFold >= foldMovesMax
  )
}

/**
 * True if so much is in memory that writes must wait: a caller's rows may have hundreds of digests
 * each, and arrive faster than the fold steps beside them can clear.
 */
export const isFoldBehind = (
  { tail }: IndexedEnvironment,
  state: StoreState,
  { rows }: FoldSizes,
) =>
  state.nextOrdinal - state.foldedTo > rows * foldLagMax ||
  tail.fresh.digests + tail.folding.digests > rows * foldDigestsPerRow * foldLagMax

/** True if there is work for fold steps that no write carries. */
export const isFoldLeft = (environment: IndexedEnvironment, state: StoreState, sizes: FoldSizes) =>
  !environment.tail.isDamaged &&
  (isFoldRunning(state) || hasStaleMoves(state) || isFoldDue(environment, state, sizes))

/** Orders puts by the end of their keys, which is as good as random. */
const byLastBytes = ({ key: a }: Put, { key: b }: Put): number =>
  readU32(a, uniqueBytes - 4) - readU32(b, uniqueBytes - 4)

/**
 * Uniques of new eras sort after all others of their first byte. Put in ascending or descending
 * order of keys, they leave each split page half full; in any other order, two thirds full.
 */
function uniquePuts({ uniques: table, tail }: IndexedEnvironment, prefix: number): Put[] {
  const puts = uniquesOfPrefix(tail.folding, prefix).map(({ unique, holder }) => {
    assertStored(holder !== undefined, 'a row for every unique of the tail')
    return { table, key: unique, value: encodeRowVersion(holder) }
  })
  return puts.sort(byLastBytes)
}

/** @throws ApiError `storage_corrupt` when a stored chunk is invalid */
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
 * Plans the next step, within a transaction that has written nothing yet.
 * @param digests of the rows of the same transaction: the fold must outrun them
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
  if (isFoldDue(environment, state, sizes)) {
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
