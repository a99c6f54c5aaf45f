/**
 * The LMDB environment: one file, five tables, and the options that make it safe.
 *
 * Invariants: a transaction whose promise resolved is on disk; files are for their owner only;
 * keys and values are plain bytes. Source: docs/decisions.md (the numbers below are its rows).
 * @module
 */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open, type Database, type RootDatabase } from 'lmdb'
import { mapBytes, readersMax } from '../../limits.ts'

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
const ownerOnly = 0o600

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
  permissionsMode: ownerOnly,
  // L13
  maxReaders: readersMax,
  maxDbs: tablesMax,
  // L12: address space only, so that the map need not move while it grows.
  mapSize: mapBytes,
}

/** The engine makes its files once: without this their names may be lost with the power. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
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
