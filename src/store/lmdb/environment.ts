/**
 * The files of a store: tables, options, sizes, and the engine's errors.
 * @module
 */
import { mapBytes } from '../../limits/operation-limits.ts'
import { ApiError } from '../../lib/errors.ts'
import { open, type Database, type RootDatabase } from 'lmdb'
import { freePagesLoaded, readersMax } from '../core/limits.ts'
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
 * The LMDB environment: one file, eight tables, and the options that make it safe.
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
  /** Facts about the store: its format, its state, the sum over its rows, the range of its log. */
  readonly meta: LmdbTable
  /** Sequence to a bundle of entries of the log. */
  readonly log: LaterTable
  /** Values that follow from the log, by their keys. */
  readonly derived: LaterTable
}

/** Absent for a reader of a store that an older version made: only a writer makes it. */
type LaterTable = LmdbTable | undefined

/** Tables that a store made by an older version lacks until a writer opens it. */
export const laterTableNames = ['log', 'derived'] as const

/** The tables of a store, all created with it. */
export const tableNames = [
  'rows',
  'uniques',
  'terms',
  'deadlines',
  'moves',
  'meta',
  ...laterTableNames,
] as const

export type LmdbTables = Pick<LmdbEnvironment, (typeof tableNames)[number]>

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

/** Tables by their names. */
type Named<Name extends string> = {
  readonly [Each in Name]: Each extends (typeof laterTableNames)[number] ? LaterTable : LmdbTable
}

/**
 * Opens tables of an environment; until then the engine has read only its meta pages. For a reader
 * it returns nothing in place of a table that is missing.
 */
export const openNamed = <Name extends string>(
  root: LmdbEnvironment['root'],
  names: readonly Name[],
): Named<Name> =>
  Object.fromEntries(
    names.map(name => [name, root.openDB({ ...tableOptions, name })]),
  ) as unknown as Named<Name>

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
): Pick<LmdbEnvironment, 'root'> & Named<Name> {
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
 * Sizes and numbers, as the engine counts them.
 */

/** The engine's own count of keys reads all of them, whatever its limit. */
export const isEmpty = (table: LmdbTable): boolean => [...table.getKeys({ limit: 1 })].length === 0

/** The engine's statistics of a table, which its types leave open. */
interface TableStats {
  readonly pageSize: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

function bytesOf(table: LaterTable): number {
  if (table === undefined) return 0
  const stats = table.getStats() as TableStats
  const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = stats
  return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages)
}

/** Returns the size of a store's tables, within a few pages. */
export const usedBytesOf = (store: LmdbTables): number =>
  tableNames.reduce((bytes, name) => bytes + bytesOf(store[name]), 0)

/** Returns the size of the log and of what follows from it. */
export const logBytesOf = ({ log, derived }: Pick<LmdbTables, 'log' | 'derived'>): number =>
  bytesOf(log) + bytesOf(derived)

/** The engine returns its reader table as text, and its types leave it out. */
interface WithReaders {
  readonly readerList: () => string
  readonly readerCheck: () => number
}

const withReaders = (root: LmdbEnvironment['root']): WithReaders => root as unknown as WithReaders

/** Returns a header line, then process, thread and commit of each; `-` for an idle one. */
export const readerListOf = (root: LmdbEnvironment['root']): string =>
  withReaders(root).readerList()

/**
 * Drops readers whose process was killed amid a read: pages freed since would never be reused, and
 * each write would make the file longer.
 */
export const dropDeadReaders = (root: LmdbEnvironment['root']): void =>
  void withReaders(root).readerCheck()

/** The number of the newest commit. */
export const lastCommitOf = ({ root }: LmdbEnvironment): number =>
  (root.getStats() as { readonly lastTxnId: number }).lastTxnId
