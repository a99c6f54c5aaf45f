/**
 * The files of a store: tables, options, format, puts, and facts about the store itself.
 * @module
 */
import { mapBytes } from '../../limits/operation-limits.ts'
import { ApiError, assertStored } from '../../lib/errors.ts'
import { open, type Database, type RootDatabase } from 'lmdb'
import { digestPrefixes, freePagesLoaded, readersMax, stagedBytesMax } from '../core/limits.ts'
import { utf8, readU48, u48Bytes, writeU48 } from '../../lib/bytes.ts'
import { ownerOnlyFile, syncFolder } from '../../lib/files.ts'

/*
 * Translation of the engine's errors.
 */

/** The engine's own errors carry LMDB's number or the system's. */
const isEngineError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'number'

/** Keeps an ApiError; the engine's errors become `unavailable`, anything else a fault of ours. */
export function faultOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return isEngineError(error)
    ? new ApiError('unavailable', 'the store cannot be read', undefined, error)
    : new ApiError('internal', 'the store failed', undefined, error)
}

/*
 * The LMDB environment: one file, six tables, and the options that make it safe.
 *
 * Invariants: a transaction whose promise resolved is on disk; only the owner has access to the
 * files; keys and values are plain bytes. Source: docs/evidence/facts.md (the numbers below are its
 * rows).
 */

export type LmdbTable = Database<Uint8Array, Uint8Array>

export interface LmdbEnvironment {
  readonly root: RootDatabase<Uint8Array, Uint8Array>
  /** Ordinal to row. */
  readonly rows: LmdbTable
  /** Digest to ordinal and version, for folded rows. */
  readonly uniques: LmdbTable
  /** Chunk number and term to ordinals, for folded rows. */
  readonly terms: LmdbTable
  /** Deadline and chunk number to ordinals. */
  readonly deadlines: LmdbTable
  /** Sequence number to a row of the tail that was replaced or removed. */
  readonly moves: LmdbTable
  /** Format and state. */
  readonly meta: LmdbTable
}

/** The tables of a store, all created with it. */
export const tableNames = ['rows', 'uniques', 'terms', 'deadlines', 'moves', 'meta'] as const

const tablesMax = 8

/** L30, L31: no compression, no cache of shared objects; L19: our own keys. */
const tableOptions = {
  encoding: 'binary',
  keyEncoding: 'binary',
  cache: false,
  compression: false,
} as const

const environmentOptions = {
  ...tableOptions,
  // The path is a folder, whatever its name ends in.
  noSubdir: false,
  // L1 to L5: a resolved transaction is durable, and reads never see anything undurable.
  overlappingSync: false,
  safeRestore: true,
  // L20
  permissionsMode: ownerOnlyFile,
  // L13
  maxReaders: readersMax,
  maxDbs: tablesMax,
  // L12: only address space, so that the map need not move as it grows.
  mapSize: mapBytes,
  maxFreeSpaceToLoad: freePagesLoaded,
}

/** Opens tables of an open store; until then only its meta pages have been read. */
export const openNamed = <Name extends string>(
  root: LmdbEnvironment['root'],
  names: readonly Name[],
): Record<Name, LmdbTable> =>
  Object.fromEntries(
    names.map(name => [name, root.openDB({ ...tableOptions, name })]),
  ) as unknown as Record<Name, LmdbTable>

/**
 * Opens tables of a store, and creates the missing ones.
 * @param path  an existing folder; `data.mdb` and `lock.mdb` are created in it if missing
 * @param readOnly  for a reader of a store that others write
 * @throws the system's own error when the folder cannot be used
 */
export function openTables<Name extends string>(
  path: string,
  names: readonly Name[],
  readOnly = false,
): Pick<LmdbEnvironment, 'root'> & Record<Name, LmdbTable> {
  // The engine would create a missing folder with permissions of its own.
  syncFolder(path)
  const root = open<Uint8Array, Uint8Array>({ ...environmentOptions, path, readOnly })
  const tables = openNamed(root, names)
  syncFolder(path)
  return { root, ...tables }
}

/** Like `openTables`, for all of them. */
export const openEnvironment = (path: string, readOnly = false): LmdbEnvironment =>
  openTables(path, tableNames, readOnly)

/*
 * Puts: the input of a transaction to the engine.
 */

/** One put, or the removal of a key. */
export interface Put {
  readonly table: LmdbTable
  readonly key: Uint8Array
  readonly value: Uint8Array | undefined
  /** The key sorts after all existing ones, and after those of the steps before. */
  readonly isLast?: boolean
}

/** Larger values are rare, and passed as they are. */
const staging = new Uint8Array(stagedBytesMax)

/**
 * Copies a value to one shared buffer for a put, which copies it again: the engine's binding looks
 * up the address of each buffer it has not seen, and that costs as much as the put.
 */
function staged(value: Uint8Array): Uint8Array {
  if (value.length > stagedBytesMax) return value
  staging.set(value)
  return new Uint8Array(staging.buffer, 0, value.length)
}

/**
 * The engine splits a full page so that its last entry moves too, unless told that the new key
 * sorts last: rows, of which six or seven fill a page, would lose one per page. A wrong hint makes
 * it put nothing and return false. `assertSafeState` has checked the hint, but an acknowledged row
 * must not depend on that.
 */
export function takePut({ table, key, value, isLast = false }: Put): void {
  if (value === undefined) {
    table.removeSync(key)
    return
  }
  const bytes = staged(value)
  const isPut: unknown = isLast && table.putSync(key, bytes, { append: true })
  if (isPut !== true) table.putSync(key, bytes)
}

/*
 * The table of facts about the store itself: two keys of ASCII text.
 *
 * `format` is the layout of all tables, a u48. `state` is what every commit may move: the numbers
 * of `StoreState`, a u48 each, in their order there.
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
    if ([meta, rows].some(table => table.getKeysCount({ limit: 1 }) > 0)) return
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
