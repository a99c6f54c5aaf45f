/**
 * Creates data folders: with a new vault, or for a vault that is already in a database.
 * @module
 */
import { closeSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ApiError } from '../../lib/errors.ts'
import { ownerOnlyFolder, syncFolder } from '../../lib/files.ts'
import type { Store } from '../../store/contract.ts'
import { freeSpaceBytesMin } from '../../limits/operation-limits.ts'
import { makeStore, type MadeStore } from '../../store/open.ts'
import { createVault, type NewVault } from '../../vault/vault.ts'
import { claimFolder, ownNamesIn, removeUnfinished } from './claim-folder.ts'
import { assertRoom } from './disk-space.ts'
import { keyPlacesOf, machine, type FolderOptions } from './data-folder.ts'
import { explainDatabase, rejoinDatabase, writeDatabase } from './folder-database.ts'
import { CommandFailure } from '../process/failure.ts'
import { beginStamp, endStamp, explained, isDataFolder, pathsOf } from './folder-stamp.ts'
import { insideHeld } from './held-folder.ts'
import { obtainNewMasterKey } from '../keys/key-source.ts'
import { masterKeyBytes, writeMasterKey } from '../keys/master-key.ts'
import { randomBytes, wallMs } from '../process/system.ts'

function makeMasterKey(path: string): Uint8Array {
  const masterKey = randomBytes(masterKeyBytes)
  writeMasterKey(path, masterKey)
  return masterKey
}

async function makeStoreIn(options: FolderOptions): Promise<MadeStore> {
  const { data } = options
  const { store: folder } = pathsOf(data)
  mkdirSync(folder, { mode: ownerOnlyFolder })
  if (options.store === undefined) return makeStore({ folder }, machine)
  const database = writeDatabase(data, options)
  try {
    return await makeStore({ database }, machine)
  } catch (error) {
    throw explainDatabase(database, error)
  }
}

async function fillFolder(options: FolderOptions, store: Store): Promise<NewVault> {
  const masterKey = obtainNewMasterKey(options, keyPlacesOf(options.data), makeMasterKey)
  try {
    return await createVault({ store, now: wallMs, randomBytes }, masterKey)
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'conflict') throw error
    const reason = 'another vault was made in the database meanwhile'
    throw new CommandFailure(`${reason}: choose another database with --store`, 1, error)
  } finally {
    masterKey.fill(0)
    await store.close()
  }
}

async function makeVaultIn(
  options: FolderOptions,
  announce: (made: NewVault) => void,
): Promise<void> {
  const { store, undo } = await makeStoreIn(options)
  let isMade = false
  try {
    const vault = await fillFolder(options, store)
    isMade = true
    announce(vault)
  } catch (error) {
    await undo(isMade)
    throw error
  }
}

/** Removes everything that was made in a folder. @throws CommandFailure if it was replaced */
const emptyFolder = (data: string, lock: number): void =>
  insideHeld(data, lock, inside => {
    removeUnfinished(inside, ownNamesIn(inside))
  })

/** @throws CommandFailure with the folder empty again */
async function makeFolder(data: string, fill: () => Promise<void>): Promise<void> {
  let lockFile: number
  try {
    lockFile = claimFolder(data)
  } catch (error) {
    throw explained(data, error)
  }
  try {
    beginStamp(data)
    await fill()
    endStamp(data)
    for (const folder of [pathsOf(data).store, dirname(resolve(data))]) syncFolder(folder)
  } catch (error) {
    emptyFolder(data, lockFile)
    throw explained(data, error)
  } finally {
    closeSync(lockFile)
  }
}

/**
 * Creates a data folder in a place that is missing, empty, or left by an interrupted init; a
 * failure leaves it empty again.
 * @param announce shows the operator the key; if it throws, no vault is made
 * @throws CommandFailure
 */
export async function createDataFolder(
  options: FolderOptions,
  announce: (made: NewVault) => void,
): Promise<void> {
  // On a full disk the engine would end the process.
  const room = { folder: resolve(options.data), bytes: freeSpaceBytesMin, what: 'a new vault' }
  if (options.store === undefined) assertRoom(room)
  return makeFolder(options.data, () => makeVaultIn(options, announce))
}

/**
 * Creates a data folder on this machine for a vault that is already in a database, with its master
 * key elsewhere. Does nothing if the folder exists.
 * @throws CommandFailure
 */
export async function joinFolder(options: FolderOptions): Promise<void> {
  const { data, store } = options
  if (isDataFolder(data)) return rejoinDatabase(data, options)
  if (store === undefined) return
  await makeFolder(data, async () => {
    mkdirSync(pathsOf(data).store, { mode: ownerOnlyFolder })
    writeDatabase(data, options)
  })
}
