/**
 * The data folder: `format` (the stamp), `master.key`, `lock`, `store` with the database, and
 * `clock` from the first serving on. While it is served, `control` is there, a socket; while
 * `coffer compact` runs, `compacting` is.
 *
 * The stamp is written last by `init` and `upgrade`, and read first by everything else, so that no
 * other version's folder is ever opened. It is the only readable text of the store.
 * @module
 */
import { foldRowsDefault } from '../limits.ts'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Keys } from '../crypto/keyring.ts'
import { ApiError } from '../errors.ts'
import type { Store } from '../store/contract.ts'
import { openLmdbStore, type LmdbStore } from '../store/lmdb/open.ts'
import { fenced } from '../keyring/fence.ts'
import { openRing, type Ring } from '../keyring/ring.ts'
import { createVault, type NewVault } from '../vault.ts'
import { claimFolder } from './claim-folder.ts'
import { CommandFailure, systemCodeOf } from './failure.ts'
import { hasLock, lockInstance } from './instance-lock.ts'
import { readMasterKey, writeMasterKey } from './master-key.ts'
import { openWithEither } from './next-master-key.ts'
import { elapsedMs, randomBytes, sleep, wallMs } from './system.ts'
import { ownerOnlyFolder, syncFolder } from '../files.ts'

/**
 * 4 since records of tokens are no JSON and ids have eras, which a binary of format 3 cannot read;
 * 3 since rows are the log.
 */
export const formatVersion = 4
/** Those of which `coffer upgrade` makes one of this. */
const formatsBefore: readonly number[] = [2, 3]
const stampPattern = /^coffer data folder, format ([1-9][0-9]{0,5})\n$/
const masterKeyBytes = 32

const pathsOf = (folder: string) => ({
  stamp: join(folder, 'format'),
  newStamp: join(folder, 'format.new'),
  masterKey: join(folder, 'master.key'),
  lock: join(folder, 'lock'),
  store: join(folder, 'store'),
  clock: join(folder, 'clock'),
  control: join(folder, 'control'),
  compacting: join(folder, 'compacting'),
})

/** The file whose lock is that of a data folder. */
export const lockOf = (folder: string): string => pathsOf(folder).lock

export interface FolderOptions {
  readonly data: string
  /** Where the master key is, when not in the folder: a thief of the folder then has no key. */
  readonly masterKeyFile?: string
}

/** Turns a failed system call into a line for the person; everything else goes on as it is. */
export function explained(folder: string, error: unknown): unknown {
  const code = systemCodeOf(error)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new CommandFailure(`cannot write to ${folder}: check its owner and mode`, 1, error)
  }
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return new CommandFailure(`${folder} is not a folder: choose another with --data`, 1, error)
  }
  if (code === 'ENOSPC') {
    return new CommandFailure(`no space is left for ${folder}: make some`, 1, error)
  }
  return error
}

/** Whether there is a stamp, of whatever format. */
export const isDataFolder = (folder: string): boolean => existsSync(pathsOf(folder).stamp)

/**
 * A key that is already there, in a file outside of the folder, is used as it is. An empty file is
 * what a cut-off init has left.
 */
function makeMasterKey(path: string): Uint8Array {
  if (statSync(path, { throwIfNoEntry: false })?.size === 0) rmSync(path)
  if (existsSync(path)) return readMasterKey(path)
  const masterKey = randomBytes(masterKeyBytes)
  writeMasterKey(path, masterKey)
  return masterKey
}

async function fillFolder(options: FolderOptions): Promise<NewVault> {
  const paths = pathsOf(options.data)
  writeFileSync(paths.newStamp, '')
  const masterKey = makeMasterKey(options.masterKeyFile ?? paths.masterKey)
  mkdirSync(paths.store, { mode: ownerOnlyFolder })
  const store = await openLmdbStore({ path: paths.store })
  try {
    return await createVault({ store, now: wallMs, randomBytes }, masterKey)
  } finally {
    masterKey.fill(0)
    await store.close()
  }
}

/**
 * Makes a data folder where there is none, an empty one, or what a cut-off init has left; a
 * failure leaves it empty again.
 * @param announce tells the person the key; when it throws, the vault is not made
 * @throws CommandFailure
 */
export async function createDataFolder(
  options: FolderOptions,
  announce: (made: NewVault) => void,
): Promise<void> {
  const { data } = options
  let lockFile: number
  try {
    lockFile = claimFolder(data)
  } catch (error) {
    throw explained(data, error)
  }
  try {
    announce(await fillFolder(options))
    stampFolder(data)
    for (const folder of [pathsOf(data).store, dirname(resolve(data))]) syncFolder(folder)
  } catch (error) {
    for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true })
    throw explained(data, error)
  } finally {
    closeSync(lockFile)
  }
}

/** Says that a folder is of this format. */
export function stampFolder(folder: string): void {
  const { stamp, newStamp } = pathsOf(folder)
  writeFileSync(newStamp, `coffer data folder, format ${formatVersion}\n`, { flush: true })
  // Who upgrades may be root, and who serves may not.
  const { uid, gid } = statSync(folder)
  if (statSync(newStamp).uid !== uid) chownSync(newStamp, uid, gid)
  renameSync(newStamp, stamp)
  syncFolder(folder)
}

/** @throws CommandFailure when the folder is missing, foreign, or its stamp is damaged */
function readStamp(folder: string): number {
  let stamp: string
  try {
    stamp = readFileSync(pathsOf(folder).stamp, 'latin1')
  } catch (error) {
    if (systemCodeOf(error) === 'EACCES') throw explained(folder, error)
    throw new CommandFailure(`${folder} is not a data folder: make one with coffer init --data`)
  }
  const version = stampPattern.exec(stamp)?.[1]
  if (version === undefined) {
    throw new CommandFailure(`the format stamp in ${folder} is damaged: restore it from a backup`)
  }
  return Number(version)
}

/** @throws CommandFailure as `readStamp` */
export const isOfThisFormat = (folder: string): boolean => readStamp(folder) === formatVersion

/** @throws CommandFailure as `readStamp`, and when the folder is of another format */
function checkStamp(folder: string, wanted: readonly number[]): void {
  const format = readStamp(folder)
  if (wanted.includes(format)) return
  if (format > formatVersion) {
    throw new CommandFailure(`${folder} was written by a newer coffer: use that version`)
  }
  const advice = formatsBefore.includes(format) ? 'run coffer upgrade' : 'use that version'
  throw new CommandFailure(`${folder} was written by an older coffer: ${advice}`)
}

/** Opening a missing database would make a new one, and hide that the tokens are gone. */
function checkDatabase(folder: string): void {
  const database = join(pathsOf(folder).store, 'data.mdb')
  if (!existsSync(database) || statSync(database).size === 0) {
    throw new CommandFailure(`the database in ${folder} is missing: restore it from a backup`)
  }
}

/**
 * Looks at a data folder without opening it, so a process that serves it is not disturbed.
 * @returns the master key
 * @throws CommandFailure when stamp, database or master key are missing or not what they must be
 */
export function checkFolder(
  { data, masterKeyFile }: FolderOptions,
  formats: readonly number[] = [formatVersion],
): Uint8Array {
  checkStamp(data, formats)
  checkDatabase(data)
  return readMasterKey(masterKeyFile ?? pathsOf(data).masterKey)
}

/** A data folder that nothing seems to be wrong with. */
export interface FoundFolder {
  readonly data: string
  /** Zeros once the keys were opened with it. */
  readonly masterKey: Uint8Array
  /** Where it was read, if it was. */
  readonly masterKeyFile?: string
  /** The folder of the database. */
  readonly store: string
  /** Where the clock of a serving process keeps its mark; there may be nothing yet. */
  readonly clock: string
  /** Where a serving process listens for those who run it. */
  readonly control: string
  /** Where a new file of the database is made; there is nothing, or what a killed process left. */
  readonly compacting: string
}

/** A data folder that is this process's until it ends, and that of those it hands the lock to. */
export interface LockedFolder extends FoundFolder {
  readonly lockFile: number
}

/**
 * A folder that is made beside its place and takes it once all is there: of this process until it
 * ends, and empty, whatever one that was killed has left in it.
 * @throws CommandFailure when it cannot be made, or another process makes it
 */
export function makeStagedFolder(data: string, masterKey: Uint8Array): LockedFolder {
  const { store, clock, control, compacting, lock } = pathsOf(data)
  try {
    mkdirSync(data, { mode: ownerOnlyFolder, recursive: true })
    // What is there and has no lock was not made by this.
    if (!existsSync(lock) && readdirSync(data).length > 0) {
      throw new CommandFailure(`${data} is in the way, and is not of coffer: move it elsewhere`)
    }
    const lockFile = lockInstance(lock, { elapsedMs, sleep })
    for (const name of readdirSync(data)) {
      if (join(data, name) !== lock) rmSync(join(data, name), { recursive: true })
    }
    return { data, masterKey, store, clock, control, compacting, lockFile }
  } catch (error) {
    throw explained(data, error)
  }
}

/** Where the master key of a data folder is. */
export const masterKeyFileOf = ({ data, masterKeyFile }: FolderOptions): string =>
  masterKeyFile ?? pathsOf(data).masterKey

/** The path of the control socket of a data folder. */
export const controlOf = (data: string): string => pathsOf(data).control

function findFolder(options: FolderOptions, formats?: readonly number[]): FoundFolder {
  const { store, clock, control, compacting } = pathsOf(options.data)
  const masterKey = checkFolder(options, formats)
  const masterKeyFile = masterKeyFileOf(options)
  return { data: options.data, masterKey, masterKeyFile, store, clock, control, compacting }
}

/** @throws CommandFailure as `checkFolder`, and when another process has the folder */
export function lockDataFolder(options: FolderOptions, formats?: readonly number[]): LockedFolder {
  const { data } = options
  checkFolder(options, formats).fill(0)
  try {
    const lockFile = lockInstance(pathsOf(data).lock, { elapsedMs, sleep })
    // Whoever had the lock may have put another master key in the place of the one before.
    return { ...findFolder(options, formats), lockFile }
  } catch (error) {
    throw explained(data, error)
  }
}

/** As `lockDataFolder`, of a folder of a format before this one. */
export const lockOldFolder = (options: FolderOptions): LockedFolder =>
  lockDataFolder(options, formatsBefore)

/** Removes what a `coffer compact` has left that was killed. Only who has the lock may. */
export const clearLeftovers = ({ compacting }: LockedFolder): void =>
  rmSync(compacting, { recursive: true, force: true })

/** @param file an open file, which whoever locked the folder has handed on */
export const isFolderLocked = ({ data }: FolderOptions, file: number): boolean =>
  hasLock(file, pathsOf(data).lock)

/** How a store is to be used. */
export interface StoreUse {
  /** Told when the store can no longer write. */
  readonly onFailure: (cause: unknown) => void
  /** Told once when the newest rows were damaged, which `coffer verify` then looks at. */
  readonly onDamage?: () => void
  /** How many of the instance may have it open; of several, one has checked it before. */
  readonly processes?: number
  /** Source: `Settings`. */
  readonly foldRows?: number
}

/** @throws CommandFailure with nothing written */
export async function openStoreOf(
  { data, store: path }: FoundFolder,
  { foldRows = foldRowsDefault, ...use }: StoreUse,
): Promise<LmdbStore> {
  try {
    return await openLmdbStore({ path, ...use, fold: { rows: foldRows } })
  } catch (error) {
    if (!(error instanceof ApiError && error.kind === 'storage_corrupt'))
      throw explained(data, error)
    throw new CommandFailure(`the database in ${data} is damaged: restore it from a backup`)
  }
}

/**
 * The master key is needed this once, and wiped.
 * @throws CommandFailure, with the store closed
 */
async function openRingOf(store: Store, folder: FoundFolder): Promise<Ring> {
  const { data, masterKey, masterKeyFile } = folder
  try {
    return await openWithEither(masterKeyFile, masterKey, key => openRing(store, key))
  } catch (error) {
    await store.close()
    if (!(error instanceof ApiError)) throw error
    const reason = `the master key is not the one of ${data}, or the keyring there is damaged`
    throw new CommandFailure(`${reason}: use the key of its init`)
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
  readonly store: LmdbStore
  /** The folder of its files. */
  readonly storeFolder: string
  readonly ring: Ring
  readonly keys: Keys
  /** Where the master key was read; `undefined` where it was in no file. */
  readonly masterKeyFile: string | undefined
  readonly clockFile: string
  /** The path of the control socket. */
  readonly control: string
}

async function openedOf(folder: FoundFolder, plain: LmdbStore): Promise<OpenedFolder> {
  const ring = await openRingOf(plain, folder)
  const store = fenced(plain, ring)
  const { store: storeFolder, masterKeyFile, clock: clockFile, control } = folder
  return { store, ring, keys: ring.keys, storeFolder, masterKeyFile, clockFile, control }
}

/**
 * Locks and opens a data folder.
 * @throws CommandFailure with nothing written
 */
export async function openDataFolder(options: FolderOptions, use: StoreUse): Promise<OpenedFolder> {
  const folder = lockDataFolder(options)
  clearLeftovers(folder)
  const store = await openStoreOf(folder, use)
  return openedOf(folder, store)
}

/**
 * Opens a data folder for a worker: whoever started it has the lock and has handed it on.
 * @throws CommandFailure
 */
export async function joinDataFolder(options: FolderOptions, use: StoreUse): Promise<OpenedFolder> {
  const folder = findFolder(options)
  const store = await openStoreOf(folder, use)
  return openedOf(folder, store)
}
