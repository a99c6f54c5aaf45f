/**
 * Makes and opens the store of a vault: the one place that chooses between the engines.
 * @module
 */
import { ApiError } from '../lib/errors.ts'
import { databaseSetupMsMax } from './core/limits.ts'
import { openLmdbStore, type LmdbOptions } from './lmdb/lmdb-store.ts'
import type { OperatedStore } from './operated.ts'
import type { DatabaseAddress } from './postgres/address.ts'
import { writeFirst } from './postgres/first-write.ts'
import type { PostgresOptions } from './postgres/open-parts.ts'
import { openPool, type Pool } from './postgres/pool.ts'
import { openPostgresStore, type PostgresStore } from './postgres/postgres-store.ts'
import {
  dropTables,
  hasRows,
  makeTables,
  readFormat,
  tablesIn,
  type Tables,
} from './postgres/schema.ts'

/** The place of a vault's rows: an existing folder of files, or a database that vaults share. */
export type StorePlace = { readonly folder: string } | { readonly database: DatabaseAddress }

/** Options of both engines; each uses its own. */
export interface OpenStoreOptions
  extends
    Pick<LmdbOptions, 'fold' | 'onDamage' | 'onFailure' | 'processes' | 'readOnly' | 'wasKilled'>,
    Pick<
      PostgresOptions,
      | 'elapsedMs'
      | 'onFoldFailure'
      | 'onLeaseRefusal'
      | 'onLoss'
      | 'onSkew'
      | 'randomBytes'
      | 'wallMs'
    > {}

/** Operations that only a store in a shared database has. */
export type SharedDatabase = Pick<
  PostgresStore,
  'beginSum' | 'clock' | 'isAlone' | 'isSweeper' | 'isReachable' | 'isFull' | 'databaseFigures'
>

export interface OpenedStore {
  readonly store: OperatedStore
  /** Absent for a folder. */
  readonly database?: SharedDatabase
}

/** @throws as the engine does */
export async function openStore(
  place: StorePlace,
  options: OpenStoreOptions,
): Promise<OpenedStore> {
  if ('folder' in place) return { store: await openLmdbStore({ ...options, path: place.folder }) }
  const store = await openPostgresStore({ ...options, address: place.database })
  return { store, database: store }
}

/** @returns true if it created the tables. @throws ApiError `conflict` if there is a vault */
async function prepareTables(pool: Pool, tables: Tables): Promise<boolean> {
  if ((await readFormat(pool, tables)) === undefined) {
    await makeTables(pool, tables, databaseSetupMsMax)
    return true
  }
  if (await hasRows(pool, tables)) throw new ApiError('conflict', 'the database has a vault')
  return false
}

async function withPool<T>(
  address: DatabaseAddress,
  work: (pool: Pool) => Promise<T>,
  connections = 1,
): Promise<T> {
  const pool = openPool(address, connections)
  try {
    return await work(pool)
  } finally {
    await pool.close()
  }
}

/** A new store, and the way back from it. */
export interface MadeStore {
  /** Its first write is to make the vault. */
  readonly store: OperatedStore
  /**
   * Drops tables that were created for it; a folder is removed by its maker.
   * @param isOurs true if the rows in them are ours; otherwise tables with rows stay
   */
  readonly undo: (isOurs: boolean) => Promise<void>
}

/**
 * Makes the store of a new vault, and opens it.
 * @throws ApiError `conflict` if there is a vault; else what the engine throws, with new tables
 *   dropped before
 */
export async function makeStore(place: StorePlace, options: OpenStoreOptions): Promise<MadeStore> {
  if ('folder' in place) {
    const { store } = await openStore(place, options)
    return { store, undo: async () => {} }
  }
  const { database } = place
  const tables = tablesIn(database.schema)
  const isMade = await withPool(database, pool => prepareTables(pool, tables))
  const undo = async (isOurs: boolean): Promise<void> => {
    if (!isMade) return
    await withPool(database, pool => dropTables(pool, tables, isOurs))
  }
  try {
    const { store } = await openStore(place, options)
    const write: OperatedStore['write'] = changes =>
      withPool(database, pool => writeFirst(pool, tables, () => store.write(changes)), 2)
    return { store: { ...store, write }, undo }
  } catch (error) {
    await undo(false)
    throw error
  }
}
