/**
 * The state of a store and its format: where folds are, and which ordinal comes next.
 * @module
 */
import { assertStored } from '../../lib/errors.ts'
import { digestPrefixes } from '../core/limits.ts'
import { utf8, readU48, u48Bytes, writeU48 } from '../../lib/bytes.ts'
import { isEmpty, type LmdbEnvironment } from './environment.ts'

/*
 * Two facts of the table of facts about the store itself, whose keys are ASCII text.
 *
 * `format` is the layout of all tables, a u48. `state` is what every commit may move: the numbers
 * of `StoreState`, a u48 each, in their order there. Others: `kept-sum.ts`, `log-table.ts`.
 */

/** The state of a store, as stored. Source: docs/architecture.md, "The store". */
export interface StoreState {
  /** Ordinal of the next inserted row: above every row. */
  readonly nextOrdinal: number
  /** Generation of the caches. */
  readonly generation: number
  /** All rows below it are folded: the index covers them. */
  readonly foldedTo: number
  /** Rows below it are being folded; equal to `foldedTo` while none are. */
  readonly foldingTo: number
  /** Number of the 256 first bytes of digests that have been folded up to `foldingTo`. */
  readonly foldedPrefixes: number
  /** Sequence numbers of moves: the oldest one, and the next. */
  readonly movesFrom: number
  readonly movesTo: number
  /** Value of `movesTo` when the newest fold began: it folds the rows of earlier moves. */
  readonly movesOfFold: number
}

/** Changes with every change of a key, a value or the engine's own file format. */
const storeFormat = 2

const formatKey = utf8('format')
export const stateKey = utf8('state')
const stateNumbers = 8

function encodeFact(fact: number): Uint8Array {
  const value = new Uint8Array(u48Bytes)
  writeU48(value, 0, fact)
  return value
}

export function encodeState(state: StoreState): Uint8Array {
  const value = new Uint8Array(stateNumbers * u48Bytes)
  const { nextOrdinal, generation, foldedTo, foldingTo, foldedPrefixes } = state
  const { movesFrom, movesTo, movesOfFold } = state
  const folded = [nextOrdinal, generation, foldedTo, foldingTo, foldedPrefixes]
  const numbers = [...folded, movesFrom, movesTo, movesOfFold]
  numbers.forEach((number, i) => writeU48(value, i * u48Bytes, number))
  return value
}

export const isFoldRunning = ({
  foldedTo,
  foldingTo,
}: Pick<StoreState, 'foldedTo' | 'foldingTo'>) => foldingTo > foldedTo

const isAscending = (...numbers: readonly number[]): boolean =>
  numbers.every((number, i) => i === 0 || number >= (numbers[i - 1] ?? 0))

/** @throws ApiError `storage_corrupt` */
function decodeState(value: Uint8Array): StoreState {
  assertStored(value.length === stateNumbers * u48Bytes, 'a state of the store')
  const at = (index: number): number => readU48(value, index * u48Bytes)
  const state = {
    nextOrdinal: at(0),
    generation: at(1),
    foldedTo: at(2),
    foldingTo: at(3),
    foldedPrefixes: at(4),
    movesFrom: at(5),
    movesTo: at(6),
    movesOfFold: at(7),
  }
  const isSound =
    isAscending(state.foldedTo, state.foldingTo, state.nextOrdinal) &&
    isAscending(state.movesFrom, state.movesOfFold, state.movesTo) &&
    state.foldedPrefixes < digestPrefixes &&
    (state.foldedPrefixes === 0 || isFoldRunning(state))
  assertStored(isSound, 'a state whose numbers fit each other')
  return state
}

/** Last decoded state: between two commits every read finds the same one. */
let known: { readonly bytes: Buffer; readonly state: StoreState } | undefined

/** Returns the newest state visible to this process. @throws ApiError `storage_corrupt` */
export function readState({ meta }: LmdbEnvironment): StoreState {
  const bytes = meta.getBinary(stateKey)
  assertStored(bytes !== undefined, 'a state of the store')
  if (known === undefined || !known.bytes.equals(bytes)) {
    known = { bytes: Buffer.from(bytes), state: decodeState(bytes) }
  }
  return known.state
}

/** @throws ApiError `storage_corrupt` when an ordinal would be used twice */
export function assertSafeState({ rows }: LmdbEnvironment, { nextOrdinal }: StoreState): void {
  for (const key of rows.getKeys({ reverse: true, limit: 1 })) {
    const isBelow = key.length === u48Bytes && readU48(key, 0) < nextOrdinal
    assertStored(isBelow, 'a next ordinal above every row')
  }
}

/** True if the index leads to a row by this digest. Source: `StoreState`. */
export const isFolded = (state: StoreState, digest: Uint8Array, ordinal: number): boolean =>
  ordinal < ((digest[0] ?? 0) < state.foldedPrefixes ? state.foldingTo : state.foldedTo)

/** Rewrites a stored value, so that a commit has a page to write. */
export function rewriteMeta({ meta }: LmdbEnvironment): void {
  meta.putSync(formatKey, encodeFact(storeFormat))
}

const emptyState = (firstOrdinal: number): StoreState => ({
  nextOrdinal: firstOrdinal,
  generation: 0,
  foldedTo: firstOrdinal,
  foldingTo: firstOrdinal,
  foldedPrefixes: 0,
  movesFrom: 0,
  movesTo: 0,
  movesOfFold: 0,
})

/** Writes the facts of a new store. */
export function makeMeta(environment: LmdbEnvironment, firstOrdinal: number): void {
  const { root, rows, meta } = environment
  root.transactionSync(() => {
    if (!isEmpty(meta) || !isEmpty(rows)) return
    rewriteMeta(environment)
    meta.putSync(stateKey, encodeState(emptyState(firstOrdinal)))
  })
}

/** @throws ApiError `storage_corrupt` for an unknown format, and as `assertSafeState` */
export function checkMeta(environment: LmdbEnvironment): void {
  const { meta } = environment
  const format = meta.getBinary(formatKey)
  const isKnown = format?.length === u48Bytes && readU48(format, 0) === storeFormat
  assertStored(isKnown, 'a format of this version')
  assertSafeState(environment, readState(environment))
}
