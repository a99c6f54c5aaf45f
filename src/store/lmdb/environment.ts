/**
 * The files of a store: tables, options, format, and facts about the store itself.
 * @module
 */
import { ApiError, assertStored } from '../../errors.ts'
import { open, type Database, type RootDatabase } from 'lmdb'
import { mapBytes, readersMax } from '../../limits.ts'
import { utf8, readU48, u48Bytes, writeU48 } from '../../bytes.ts'
import { ownerOnlyFile, syncFolder } from '../../files.ts'

/*
 * What a failed call of the engine is told as.
 */

/** The engine's own errors carry LMDB's number or the system's. */
const isEngineError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'number'

/** An ApiError as it is; the engine's errors as `unavailable`; anything else is a fault of ours. */
export function faultOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return isEngineError(error)
    ? new ApiError('unavailable', 'the store cannot be read', undefined, error)
    : new ApiError('internal', 'the store failed', undefined, error)
}

/*
 * The LMDB environment: one file, five tables, and the options that make it safe.
 *
 * Invariants: a transaction whose promise resolved is on disk; files are for their owner only;
 * keys and values are plain bytes. Source: docs/decisions.md (the numbers below are its rows).
 */

export type Table = Database<Uint8Array, Uint8Array>

export interface Environment {
  readonly root: RootDatabase<Uint8Array, Uint8Array>
  /** Ordinal to row. */
  readonly rows: Table
  /** Digest to ordinal and version. */
  readonly uniques: Table
  /** Term and chunk number to ordinals. */
  readonly terms: Table
  /** Deadline and chunk number to ordinals. */
  readonly deadlines: Table
  /** Format, next ordinal, generation. */
  readonly meta: Table
}

/** The tables of a store, each of which is made with it. */
export const tableNames = ['rows', 'uniques', 'terms', 'deadlines', 'meta'] as const

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
  // A folder, whatever its name ends in.
  noSubdir: false,
  // L1 to L5: a resolved transaction is durable, and nothing undurable is ever read.
  overlappingSync: false,
  safeRestore: true,
  // L20
  permissionsMode: ownerOnlyFile,
  // L13
  maxReaders: readersMax,
  maxDbs: tablesMax,
  // L12: address space only, so that the map need not move while it grows.
  mapSize: mapBytes,
}

/**
 * @param path  an existing folder; `data.mdb` and `lock.mdb` are made in it where missing
 * @throws the system's own error when the folder cannot be used
 */
export function openEnvironment(path: string): Environment {
  // The engine would make a missing folder, with modes that nobody chose.
  syncFolder(path)
  const root = open<Uint8Array, Uint8Array>({ ...environmentOptions, path })
  const openTable = (name: (typeof tableNames)[number]): Table =>
    root.openDB({ ...tableOptions, name })
  const environment = {
    root,
    rows: openTable('rows'),
    uniques: openTable('uniques'),
    terms: openTable('terms'),
    deadlines: openTable('deadlines'),
    meta: openTable('meta'),
  }
  syncFolder(path)
  return environment
}

/*
 * The table of facts about the store itself: three keys of ASCII text, each with a u48.
 *
 * `format` is the layout of all tables, `next_ordinal` the ordinal of the next inserted row,
 * `generation` the number under which caches stand. `next_ordinal` is always above every row.
 */

export interface Meta {
  readonly nextOrdinal: number
  readonly generation: number
}

/** Moves with every change of a key, a value or the engine's own file format. */
const storeFormat = 1

const formatKey = utf8('format')
const nextOrdinalKey = utf8('next_ordinal')
const generationKey = utf8('generation')

function encodeFact(fact: number): Uint8Array {
  const value = new Uint8Array(u48Bytes)
  writeU48(value, 0, fact)
  return value
}

function readFact({ meta }: Environment, key: Uint8Array): number | undefined {
  const value = meta.getBinary(key)
  if (value === undefined) return undefined
  assertStored(value.length === u48Bytes, 'facts of 6 bytes')
  return readU48(value, 0)
}

/** @throws ApiError `storage_corrupt` */
export function readGeneration(environment: Environment): number {
  const generation = readFact(environment, generationKey)
  assertStored(generation !== undefined, 'a generation')
  return generation
}

/** Above the ordinal of every row. @throws ApiError `storage_corrupt` */
export function readNextOrdinal(environment: Environment): number {
  const nextOrdinal = readFact(environment, nextOrdinalKey)
  assertStored(nextOrdinal !== undefined, 'a next ordinal')
  return nextOrdinal
}

/** @throws ApiError `storage_corrupt` when a fact is missing or an ordinal would be used twice */
export function readMeta(environment: Environment): Meta {
  const nextOrdinal = readNextOrdinal(environment)
  for (const key of environment.rows.getKeys({ reverse: true, limit: 1 })) {
    const isBelow = key.length === u48Bytes && readU48(key, 0) < nextOrdinal
    assertStored(isBelow, 'a next ordinal above every row')
  }
  return { nextOrdinal, generation: readGeneration(environment) }
}

/** The entries to put for these facts. */
export const metaEntries = ({ nextOrdinal, generation }: Meta): [Uint8Array, Uint8Array][] => [
  [nextOrdinalKey, encodeFact(nextOrdinal)],
  [generationKey, encodeFact(generation)],
]

/** Puts what is there, so that a commit has a page to write. */
export function rewriteMeta({ meta }: Environment): void {
  meta.putSync(formatKey, encodeFact(storeFormat))
}

/**
 * Checks the format of a store, and writes the facts of a new one.
 * @throws ApiError `storage_corrupt` for an unknown format, and as `readMeta`
 */
export function openMeta(environment: Environment, firstOrdinal: number): void {
  const { root, rows, meta } = environment
  root.transactionSync(() => {
    if ([meta, rows].some(table => table.getKeysCount({ limit: 1 }) > 0)) return
    meta.putSync(formatKey, encodeFact(storeFormat))
    const facts = metaEntries({ nextOrdinal: firstOrdinal, generation: 0 })
    for (const [key, value] of facts) meta.putSync(key, value)
  })
  assertStored(readFact(environment, formatKey) === storeFormat, 'a format of this version')
  readMeta(environment)
}
