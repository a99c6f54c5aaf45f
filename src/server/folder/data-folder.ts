/**
 * The data folder: `format` (the stamp), `master.key` or `master.kdf` or neither (`key-source.ts`),
 * `lock`, `store` with the database, and `clock` and `audit.key` once it was served. While it is
 * served it has a socket, `control`. Copies that commands make there, and may leave, are listed in
 * `copies.ts`.
 * @module
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { signingInStore, type SigningPlace } from '../../audit/signing-keys.ts'
import type { Keys } from '../../crypto/keyring.ts'
import { ApiError } from '../../lib/errors.ts'
import { withKeyringFence } from '../../vault/keyring/fence.ts'
import { withKeyringRefresh } from '../../vault/keyring/follow.ts'
import {
  openKeyring,
  openKeyringUnder,
  type LiveKeyring,
} from '../../vault/keyring/live-keyring.ts'
import { foldRowsDefault } from '../../limits/setting-limits.ts'
import type { Store } from '../../store/contract.ts'
import {
  openStore,
  type OpenedStore,
  type OpenStoreOptions,
  type SharedDatabase,
} from '../../store/open.ts'
import type { OperatedStore } from '../../store/operated.ts'
import {
  explainDatabase,
  isInDatabase,
  storePlaceOf,
  type DatabaseOptions,
} from './folder-database.ts'
import { clearLeftCopies, type FoundCopy } from './copies.ts'
import { assertStoreRoom } from './disk-space.ts'
import { assertOwnWay } from './path-owners.ts'
import { CommandFailure } from '../process/failure.ts'
import { checkStamp, explained, pathsOf } from './folder-stamp.ts'
import { lockFolder } from './folder-lock.ts'
import { hasLock } from './instance-lock.ts'
import { signingFile } from './signing-file.ts'
import { assertOneName } from './regular-files.ts'
import {
  keyFileOf,
  keyOptionsOf,
  obtainMasterKey,
  type KeyOptions,
  type KeyPlaces,
} from '../keys/key-source.ts'
import { openWithEither } from '../keys/next-master-key.ts'
import { elapsedMs, randomBytes, wallMs } from '../process/system.ts'

/** Path of the lock file of a data folder. */
export const lockOf = (folder: string): string => pathsOf(folder).lock

export interface FolderOptions extends KeyOptions, DatabaseOptions {
  readonly data: string
}

/** Picks the options that name the folder and the place of its key. */
export const folderOf = (options: FolderOptions): FolderOptions => ({
  data: options.data,
  ...keyOptionsOf(options),
})

/** Paths of the key and of the derivation file of a passphrase in a data folder. */
export function keyPlacesOf(data: string): Required<KeyPlaces> {
  const { masterKey: file, derivation } = pathsOf(data)
  return { file, derivation }
}

/**
 * The engine follows a link, and truncates and writes the file it finds.
 * @throws CommandFailure
 */
const assertOwnLock = (store: string): void => assertOneName(join(store, 'lock.mdb'))

/** Opening a missing database would create a new one, and hide the loss of the tokens. */
export function checkDatabase(folder: string): void {
  if (isInDatabase(folder)) return
  const database = join(pathsOf(folder).store, 'data.mdb')
  if (!existsSync(database) || statSync(database).size === 0) {
    throw new CommandFailure(`the database in ${folder} is missing: restore it from a backup`)
  }
  assertOwnLock(pathsOf(folder).store)
}

/**
 * Checks a data folder without opening it, so that a process serving it is not disturbed.
 * @returns the master key
 * @throws CommandFailure if stamp, database or master key are missing or invalid
 */
export function checkFolder(options: FolderOptions): Uint8Array {
  const { data } = options
  assertOwnWay(data)
  checkStamp(data)
  checkDatabase(data)
  return obtainMasterKey(options, keyPlacesOf(data))
}

/** Paths in a data folder. */
export interface FolderPlaces {
  readonly data: string
  /** Folder of the database. */
  readonly store: string
  /** File in which the clock of a serving process keeps its mark; it may not exist yet. */
  readonly clock: string
  /** File of the keys that sign checkpoints of the audit log; it may not exist yet. */
  readonly auditKey: string
  /** Socket on which a serving process listens for its operators. */
  readonly control: string
  /** Path of a new database file while it is made; otherwise empty, or left by a killed process. */
  readonly compacting: string
}

/** A data folder that has passed the checks. */
export interface FoundFolder extends FolderPlaces {
  /** Zeroed once the keyring was opened with it. */
  readonly masterKey: Uint8Array
  /** File that it was read from, if any. */
  readonly masterKeyFile?: string
}

/** A data folder that this process, and those it hands the lock to, hold until they end. */
export interface LockedFolder extends FoundFolder {
  readonly lockFile: number
}

export function placesOf(data: string): FolderPlaces {
  const { store, clock, auditKey, control, compacting } = pathsOf(data)
  return { data, store, clock, auditKey, control, compacting }
}

/** Path of the master key of a data folder; `undefined` if it is in no file. */
export const masterKeyFileOf = (options: FolderOptions): string | undefined =>
  keyFileOf(options, keyPlacesOf(options.data))

/** Path of the control socket of a data folder. */
export const controlOf = (data: string): string => pathsOf(data).control

/** @throws CommandFailure as `checkFolder` */
export function findFolder(options: FolderOptions): FoundFolder {
  const masterKey = checkFolder(options)
  const masterKeyFile = masterKeyFileOf(options)
  const read = masterKeyFile === undefined ? {} : { masterKeyFile }
  return { ...placesOf(options.data), masterKey, ...read }
}

/** @throws CommandFailure as `checkFolder`, and if another process holds the folder */
export function lockDataFolder(options: FolderOptions): LockedFolder {
  const { data } = options
  checkFolder(options).fill(0)
  try {
    const lockFile = lockFolder(data)
    // The previous holder of the lock may have replaced the master key.
    return { ...findFolder(options), lockFile }
  } catch (error) {
    throw explained(data, error)
  }
}

/** Removes what killed commands have left. Only the holder of the lock may call it. */
export const clearLeftovers = ({ data }: LockedFolder): readonly FoundCopy[] =>
  clearLeftCopies(data)

/** @param file an open file, handed on by the process that locked the folder */
export const isFolderLocked = ({ data }: FolderOptions, file: number): boolean =>
  hasLock(file, pathsOf(data).lock)

/** Options for opening the store of a folder. */
export interface StoreUse extends Omit<
  OpenStoreOptions,
  'elapsedMs' | 'fold' | 'randomBytes' | 'wallMs' | 'onFailure'
> {
  /** Called when the store can no longer write. */
  readonly onFailure: (cause: unknown) => void
  /** Source: `Settings`. */
  readonly foldRows?: number
  /** File with the database password, in place of the one the folder remembers. */
  readonly passwordFile?: string | undefined
}

/** Clocks and randomness of this process, for a store. */
export const machine = { elapsedMs, randomBytes, wallMs }

/** The error for a database that cannot be opened or copied. */
export function damagedIn(data: string, { message }: ApiError): CommandFailure {
  const advice = 'see coffer verify, then restore it from a backup'
  return new CommandFailure(`the database in ${data} is damaged: ${message}: ${advice}`)
}

/**
 * If `wasKilled` is left out, an existing control socket says so: a server that ends in order
 * removes it.
 * @throws CommandFailure with nothing written
 */
export async function openStoreOf(
  { data, store: path, control }: FolderPlaces,
  { foldRows = foldRowsDefault, passwordFile, wasKilled = existsSync(control), ...use }: StoreUse,
): Promise<OpenedStore> {
  const place = storePlaceOf(data, path, passwordFile)
  if ('folder' in place) {
    assertOwnLock(place.folder)
    if (use.readOnly !== true) assertStoreRoom(path)
  }
  try {
    return await openStore(place, { ...machine, ...use, wasKilled, fold: { rows: foldRows } })
  } catch (error) {
    if ('database' in place) throw explainDatabase(place.database, error)
    const isDamaged = error instanceof ApiError && error.kind === 'storage_corrupt'
    throw isDamaged ? damagedIn(data, error) : explained(data, error)
  }
}

/** @throws CommandFailure, with the store closed */
async function keyringOrClosed(
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
 * Opens the keyring with the master key, which is needed only here, and wiped.
 * @throws CommandFailure, with the store closed
 */
async function openKeyringOf(store: Store, folder: FoundFolder): Promise<LiveKeyring> {
  const { masterKey, masterKeyFile } = folder
  try {
    return await keyringOrClosed(store, folder, () =>
      openWithEither(masterKeyFile, masterKey, key => openKeyring(store, key)),
    )
  } finally {
    masterKey.fill(0)
  }
}

/**
 * For readers only: the key that opens the keyring is wiped as well.
 * @throws CommandFailure, with the store closed
 */
export async function unsealKeysOf(store: Store, folder: FoundFolder): Promise<Keys> {
  const keyring = await openKeyringOf(store, folder)
  keyring.close()
  return keyring.keys
}

export interface OpenedFolder {
  /** Refuses writes sealed under an older keyring. */
  readonly store: OperatedStore
  readonly database?: SharedDatabase
  /** Folder of the store's files. */
  readonly storeFolder: string
  readonly keyring: LiveKeyring
  readonly keys: Keys
  /** File that the master key was read from; `undefined` if it was in no file. */
  readonly masterKeyFile: string | undefined
  readonly clockFile: string
  /** Place of the keys that sign checkpoints of the audit log. */
  readonly signing: SigningPlace
  /** Path of the control socket. */
  readonly control: string
}

function openedOf(
  folder: FolderPlaces & Pick<FoundFolder, 'masterKeyFile'>,
  { store: plain, database }: OpenedStore,
  keyring: LiveKeyring,
): OpenedFolder {
  const store = withKeyringFence(
    database === undefined ? plain : withKeyringRefresh(plain, keyring),
    keyring,
  )
  const { store: storeFolder, masterKeyFile, clock: clockFile, control } = folder
  const shared = database === undefined ? {} : { database }
  const signing = database === undefined ? signingFile(folder.auditKey) : signingInStore(store)
  const places = { storeFolder, masterKeyFile, clockFile, signing, control }
  return { store, ...shared, keyring, keys: keyring.keys, ...places }
}

/**
 * Opens a data folder that this process has locked, or whose lock was handed on to it.
 * @throws CommandFailure with nothing written, and the store closed
 */
export async function openFound(folder: FoundFolder, use: StoreUse): Promise<OpenedFolder> {
  const opened = await openStoreOf(folder, use)
  return openedOf(folder, opened, await openKeyringOf(opened.store, folder))
}

/**
 * Like `openFound`, with the key that seals the keyring.
 * @param keyringKey as `openKeyringUnder` takes it
 */
export async function openUnder(
  folder: FolderPlaces,
  keyringKey: Uint8Array,
  use: StoreUse,
): Promise<OpenedFolder> {
  const opened = await openStoreOf(folder, use).catch((error: unknown) => {
    keyringKey.fill(0)
    throw error
  })
  const { store } = opened
  const open = () => openKeyringUnder(store, keyringKey)
  return openedOf(folder, opened, await keyringOrClosed(store, folder, open))
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
 * Opens a data folder for a worker: the process that started it holds the lock and handed it on.
 * @throws CommandFailure
 */
export async function joinDataFolder(options: FolderOptions, use: StoreUse): Promise<OpenedFolder> {
  return openFound(findFolder(options), use)
}
