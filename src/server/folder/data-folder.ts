/**
 * The data folder: `format` (the stamp), `master.key` or `master.kdf` or neither
 * (`key-source.ts`), `lock`, `store` with the database, and `clock` from the first serving on.
 * While it is served, `control` is there, a socket; what commands make there, and may leave, is
 * listed in `copies.ts`.
 * @module
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Keys } from '../../crypto/keyring.ts'
import { ApiError } from '../../lib/errors.ts'
import { withKeyringFence } from '../../vault/keyring/fence.ts'
import { withKeyringRefresh } from '../../vault/keyring/follow.ts'
import { openRing, openRingUnder, type LiveKeyring } from '../../vault/keyring/live-keyring.ts'
import { foldRowsDefault } from '../../limits/setting-limits.ts'
import type { Store } from '../../store/contract.ts'
import { openLmdbStore, type LmdbStore } from '../../store/lmdb/lmdb-store.ts'
import type { OperatedStore } from '../../store/operated.ts'
import type { PostgresStore } from '../../store/postgres/postgres-store.ts'
import {
  isInDatabase,
  isStoreInDatabase,
  openDatabase,
  readDatabase,
  type DatabaseOptions,
  type DatabaseUse,
} from './folder-database.ts'
import { clearLeftCopies, type FoundCopy } from './copies.ts'
import { CommandFailure } from '../process/failure.ts'
import { checkStamp, explained, pathsOf } from './folder-stamp.ts'
import { lockFolder } from './folder-lock.ts'
import { hasLock } from './instance-lock.ts'
import { assertRegular } from './regular-files.ts'
import {
  keyFileOf,
  keyOptionsOf,
  obtainMasterKey,
  type KeyOptions,
  type KeyPlaces,
} from '../keys/key-source.ts'
import { openWithEither } from '../keys/next-master-key.ts'

/** The file whose lock is that of a data folder. */
export const lockOf = (folder: string): string => pathsOf(folder).lock

export interface FolderOptions extends KeyOptions, DatabaseOptions {
  readonly data: string
}

/** Of the options of a command, those that say which folder and where its key is. */
export const folderOf = (options: FolderOptions): FolderOptions => ({
  data: options.data,
  ...keyOptionsOf(options),
})

/** Where a data folder has its key, and what a passphrase takes. */
export function keyPlacesOf(data: string): Required<KeyPlaces> {
  const { masterKey: file, derivation } = pathsOf(data)
  return { file, derivation }
}

/** Opening a missing database would make a new one, and hide that the tokens are gone. */
export function checkDatabase(folder: string): void {
  if (isInDatabase(folder)) return
  const database = join(pathsOf(folder).store, 'data.mdb')
  if (!existsSync(database) || statSync(database).size === 0) {
    throw new CommandFailure(`the database in ${folder} is missing: restore it from a backup`)
  }
  // The engine follows a link, and cuts and writes what it finds there.
  assertRegular(join(pathsOf(folder).store, 'lock.mdb'))
}

/**
 * Looks at a data folder without opening it, so a process that serves it is not disturbed.
 * @returns the master key
 * @throws CommandFailure when stamp, database or master key are missing or not what they must be
 */
export function checkFolder(options: FolderOptions): Uint8Array {
  const { data } = options
  checkStamp(data)
  checkDatabase(data)
  return obtainMasterKey(options, keyPlacesOf(data))
}

/** What is where in a data folder. */
export interface FolderPlaces {
  readonly data: string
  /** The folder of the database. */
  readonly store: string
  /** Where the clock of a serving process keeps its mark; there may be nothing yet. */
  readonly clock: string
  /** Where a serving process listens for those who run it. */
  readonly control: string
  /** Where a new file of the database is made; there is nothing, or what a killed process left. */
  readonly compacting: string
}

/** A data folder that nothing seems to be wrong with. */
export interface FoundFolder extends FolderPlaces {
  /** Zeros once the keys were opened with it. */
  readonly masterKey: Uint8Array
  /** Where it was read, if it was. */
  readonly masterKeyFile?: string
}

/** A data folder that is this process's until it ends, and that of those it hands the lock to. */
export interface LockedFolder extends FoundFolder {
  readonly lockFile: number
}

export function placesOf(data: string): FolderPlaces {
  const { store, clock, control, compacting } = pathsOf(data)
  return { data, store, clock, control, compacting }
}

/** Where the master key of a data folder is; `undefined` where it is in no file. */
export const masterKeyFileOf = (options: FolderOptions): string | undefined =>
  keyFileOf(options, keyPlacesOf(options.data))

/** The path of the control socket of a data folder. */
export const controlOf = (data: string): string => pathsOf(data).control

/** @throws CommandFailure as `checkFolder` */
export function findFolder(options: FolderOptions): FoundFolder {
  const masterKey = checkFolder(options)
  const masterKeyFile = masterKeyFileOf(options)
  const read = masterKeyFile === undefined ? {} : { masterKeyFile }
  return { ...placesOf(options.data), masterKey, ...read }
}

/** @throws CommandFailure as `checkFolder`, and when another process has the folder */
export function lockDataFolder(options: FolderOptions): LockedFolder {
  const { data } = options
  checkFolder(options).fill(0)
  try {
    const lockFile = lockFolder(data)
    // The holder of the lock before may have put another master key in the place of the one before.
    return { ...findFolder(options), lockFile }
  } catch (error) {
    throw explained(data, error)
  }
}

/** Removes what commands have left that were killed. Only who has the lock may. */
export const clearLeftovers = ({ data }: LockedFolder): readonly FoundCopy[] =>
  clearLeftCopies(data)

/** @param file an open file, which the process that locked the folder has handed on */
export const isFolderLocked = ({ data }: FolderOptions, file: number): boolean =>
  hasLock(file, pathsOf(data).lock)

/** How a store is to be used. */
export interface StoreUse extends DatabaseUse {
  /** Told when the store can no longer write. */
  readonly onFailure: (cause: unknown) => void
  /** Told once when the newest rows were damaged, which `coffer verify` then looks at. */
  readonly onDamage?: () => void
  /** How many of the instance may have it open; of several, one has checked it before. */
  readonly processes?: number
  /** For readers alone: what is in the folder may be for nobody to write. */
  readonly readOnly?: boolean
  /** Source: `Settings`. */
  readonly foldRows?: number
  /** Of a database, in place of the one that the folder remembers. */
  readonly passwordFile?: string | undefined
  /**
   * Whether who had it open before was killed, as a damaged page kills a process: then all pages
   * are looked at. Where it is left out, a control socket that is there says so.
   */
  readonly wasKilled?: boolean
}

/** What is told of a database that cannot be opened, or copied. */
export function damagedIn(data: string, { message }: ApiError): CommandFailure {
  const advice = 'see coffer verify, then restore it from a backup'
  return new CommandFailure(`the database in ${data} is damaged: ${message}: ${advice}`)
}

/** @throws CommandFailure with nothing written */
export async function openStoreOf(
  { data, store: path, control }: FolderPlaces,
  // A server that ends in order removes its socket.
  { foldRows = foldRowsDefault, passwordFile, wasKilled = existsSync(control), ...use }: StoreUse,
): Promise<LmdbStore | PostgresStore> {
  if (isStoreInDatabase(path)) return openDatabase(readDatabase(data, passwordFile), use)
  try {
    return await openLmdbStore({ path, ...use, wasKilled, fold: { rows: foldRows } })
  } catch (error) {
    if (!(error instanceof ApiError && error.kind === 'storage_corrupt'))
      throw explained(data, error)
    throw damagedIn(data, error)
  }
}

/** @throws CommandFailure, with the store closed */
async function ringOrClosed(
  store: Store,
  { data }: FolderPlaces,
  open: () => Promise<LiveKeyring>,
): Promise<LiveKeyring> {
  try {
    return await open()
  } catch (error) {
    await store.close()
    if (!(error instanceof ApiError)) throw error
    if (error.kind === 'unavailable') throw new CommandFailure(error.message, 1, error)
    const reason = `the master key is not the one of ${data}, or the keyring there is damaged`
    throw new CommandFailure(`${reason}: use the key of its init, or of the last keys rekey`)
  }
}

/**
 * The master key is needed this once, and wiped.
 * @throws CommandFailure, with the store closed
 */
async function openRingOf(store: Store, folder: FoundFolder): Promise<LiveKeyring> {
  const { masterKey, masterKeyFile } = folder
  try {
    return await ringOrClosed(store, folder, () =>
      openWithEither(masterKeyFile, masterKey, key => openRing(store, key)),
    )
  } finally {
    masterKey.fill(0)
  }
}

/**
 * For who only reads: what opens the keyring is wiped as well.
 * @throws CommandFailure, with the store closed
 */
export async function unsealKeysOf(store: Store, folder: FoundFolder): Promise<Keys> {
  const ring = await openRingOf(store, folder)
  ring.close()
  return ring.keys
}

export interface OpenedFolder {
  /** Takes nothing that was sealed under an older keyring. */
  readonly store: OperatedStore
  /** Where the store is in a database of others: what is asked of that alone. */
  readonly database?: Pick<
    PostgresStore,
    'clock' | 'isAlone' | 'isSweeper' | 'isReachable' | 'isFull' | 'databaseFigures'
  >
  /** The folder of its files. */
  readonly storeFolder: string
  readonly ring: LiveKeyring
  readonly keys: Keys
  /** Where the master key was read; `undefined` where it was in no file. */
  readonly masterKeyFile: string | undefined
  readonly clockFile: string
  /** The path of the control socket. */
  readonly control: string
}

function openedOf(
  folder: FolderPlaces & Pick<FoundFolder, 'masterKeyFile'>,
  plain: LmdbStore | PostgresStore,
  ring: LiveKeyring,
): OpenedFolder {
  const database = 'clock' in plain ? plain : undefined
  const store = withKeyringFence<OperatedStore>(
    database === undefined ? plain : withKeyringRefresh(database, ring),
    ring,
  )
  const { store: storeFolder, masterKeyFile, clock: clockFile, control } = folder
  const shared = database === undefined ? {} : { database }
  const places = { storeFolder, masterKeyFile, clockFile, control }
  return { store, ...shared, ring, keys: ring.keys, ...places }
}

/**
 * Opens a data folder that is this process's, or was handed on to it.
 * @throws CommandFailure with nothing written, and the store closed
 */
export async function openFound(folder: FoundFolder, use: StoreUse): Promise<OpenedFolder> {
  const store = await openStoreOf(folder, use)
  return openedOf(folder, store, await openRingOf(store, folder))
}

/**
 * As `openFound`, by the key that seals the keyring.
 * @param keyringKey as `openRingUnder` takes it
 */
export async function openUnder(
  folder: FolderPlaces,
  keyringKey: Uint8Array,
  use: StoreUse,
): Promise<OpenedFolder> {
  const store = await openStoreOf(folder, use).catch((error: unknown) => {
    keyringKey.fill(0)
    throw error
  })
  const open = () => openRingUnder(store, keyringKey)
  return openedOf(folder, store, await ringOrClosed(store, folder, open))
}

/**
 * Locks and opens a data folder.
 * @throws CommandFailure with nothing written
 */
export async function openDataFolder(options: FolderOptions, use: StoreUse): Promise<OpenedFolder> {
  const folder = lockDataFolder(options)
  clearLeftovers(folder)
  return openFound(folder, use)
}

/**
 * Opens a data folder for a worker: the process that started it has the lock and has handed it on.
 * @throws CommandFailure
 */
export async function joinDataFolder(options: FolderOptions, use: StoreUse): Promise<OpenedFolder> {
  return openFound(findFolder(options), use)
}
