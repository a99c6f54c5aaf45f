/**
 * The stamp of a data folder, and the paths in it.
 *
 * Commands that make a folder write the stamp last, and all others read it first, so that no folder
 * of another format is ever opened.
 * @module
 */
import { existsSync, realpathSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { otherFormat } from '../../lib/errors.ts'
import { readRegular, syncFolder } from '../../lib/files.ts'
import { folderFileBytesMax } from '../../limits/operation-limits.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { isOutOfRoom } from './disk-space.ts'
import { assertRegular, removeFile, writeNew } from './regular-files.ts'

/** Increases with every change on disk that an older binary could not read. */
export const formatVersion = 4
const stampPattern = /^coffer data folder, format ([1-9][0-9]{0,5})\n$/

export const pathsOf = (folder: string) => ({
  stamp: join(folder, 'format'),
  newStamp: join(folder, 'format.new'),
  masterKey: join(folder, 'master.key'),
  derivation: join(folder, 'master.kdf'),
  lock: join(folder, 'lock'),
  store: join(folder, 'store'),
  /** Names the database of the store, if it is in one. */
  database: join(folder, 'store', 'database'),
  /** The file of the folder's own store. */
  ownFile: join(folder, 'store', 'data.mdb'),
  /** Its name after the vault has moved. */
  moved: join(folder, 'store', 'data.mdb.moved'),
  /** Names the database that has a full or partial copy of a vault in the folder. */
  databaseLeft: join(folder, 'store', 'database.left'),
  clock: join(folder, 'clock'),
  auditKey: join(folder, 'audit.key'),
  control: join(folder, 'control'),
  compacting: join(folder, 'compacting'),
  verifying: join(folder, 'verifying'),
  restoring: join(folder, 'restoring'),
})

/** Turns a failed system call into a line for a person; returns other errors unchanged. */
export function explained(folder: string, error: unknown): unknown {
  const code = systemCodeOf(error)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new CommandFailure(`cannot write to ${folder}: check its owner and mode`, 1, error)
  }
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return new CommandFailure(`${folder} is not a folder: choose another with --data`, 1, error)
  }
  if (isOutOfRoom(error)) {
    return new CommandFailure(`no space is left on the disk of ${folder}: make some`, 1, error)
  }
  return error
}

/** True if there is a stamp, of any format. */
export const isDataFolder = (folder: string): boolean => existsSync(pathsOf(folder).stamp)

/**
 * Writes the stamp of this format under its temporary name. From then on the folder is known as one
 * that is being made, until `endStamp`.
 */
export const beginStamp = (folder: string): void =>
  writeNew(pathsOf(folder).newStamp, `coffer data folder, format ${formatVersion}\n`)

/** Stamps the folder, by one step: at no moment it has neither name. */
export function endStamp(folder: string): void {
  const { stamp, newStamp } = pathsOf(folder)
  assertRegular(stamp)
  renameSync(newStamp, stamp)
  syncFolder(folder)
}

/** Stamps a folder with this format. */
export function stampFolder(folder: string): void {
  removeFile(pathsOf(folder).newStamp)
  beginStamp(folder)
  endStamp(folder)
}

const putBack = 'put that file back from a copy of the folder, or restore a backup'

/**
 * The error for a vault without its stamp; `undefined` if there is no vault, as after an
 * interrupted init, which first writes the stamp under its temporary name.
 */
export function lostStampOf(folder: string): CommandFailure | undefined {
  const { stamp, newStamp, store } = pathsOf(folder)
  if (existsSync(stamp) || existsSync(newStamp) || !existsSync(store)) return undefined
  return new CommandFailure(`${folder} holds a vault, whose file format is lost: ${putBack}`)
}

/** @throws CommandFailure if the folder is missing or foreign, or its stamp is lost or damaged */
function readStamp(folder: string): number {
  let stamp: string
  try {
    stamp = readRegular(pathsOf(folder).stamp, folderFileBytesMax)?.toString('latin1') ?? ''
  } catch (error) {
    if (systemCodeOf(error) === 'EACCES') throw explained(folder, error)
    const next = 'name yours by --data, or make one by coffer init --data'
    throw lostStampOf(folder) ?? new CommandFailure(`${folder} is not a data folder: ${next}`)
  }
  const version = stampPattern.exec(stamp)?.[1]
  if (version === undefined) {
    throw new CommandFailure(`the format stamp in ${folder} is damaged: ${putBack}`)
  }
  return Number(version)
}

const followed = (path: string): string | undefined =>
  existsSync(path) ? realpathSync(path) : undefined

/**
 * A store may be on another disk, behind a link. Behind a link into another vault, two vaults would
 * write to one database, each under a lock of its own.
 * @throws CommandFailure
 */
function assertStoreIsNoOthers(folder: string): void {
  const { store, database } = pathsOf(folder)
  const own = realpathSync(folder)
  for (const path of [store, join(store, 'data.mdb'), database]) {
    const led = followed(path)
    if (led === undefined) continue
    const other = path === store ? dirname(led) : dirname(dirname(led))
    if (other === own || !isDataFolder(other)) continue
    throw new CommandFailure(
      `${path} leads to the store of the vault in ${other}: name that folder by --data, or put ` +
        'back the store of this one',
    )
  }
}

/**
 * @throws CommandFailure as `readStamp`, if the folder has another format, and if its store is that
 *   of another vault
 */
export function checkStamp(folder: string): void {
  const format = readStamp(folder)
  if (format !== formatVersion) throw new CommandFailure(otherFormat(folder, format, formatVersion))
  assertStoreIsNoOthers(folder)
}
