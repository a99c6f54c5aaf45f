/**
 * The stamp of a data folder, and the places of what is in it.
 *
 * The stamp is written last by what makes a folder, and read first by everything else, so that no
 * folder of another format is ever opened.
 * @module
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { otherFormat } from '../../lib/errors.ts'
import { readRegular } from '../../lib/files.ts'
import { folderFileBytesMax } from '../../limits/operation-limits.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { isOutOfRoom } from './disk-space.ts'
import { replaceFile } from './regular-files.ts'

/** Moves with every change of what is on disk that a binary of before could not read. */
export const formatVersion = 4
const stampPattern = /^coffer data folder, format ([1-9][0-9]{0,5})\n$/

export const pathsOf = (folder: string) => ({
  stamp: join(folder, 'format'),
  newStamp: join(folder, 'format.new'),
  masterKey: join(folder, 'master.key'),
  derivation: join(folder, 'master.kdf'),
  lock: join(folder, 'lock'),
  store: join(folder, 'store'),
  /** Says which database the store is in, where it is in one. */
  database: join(folder, 'store', 'database'),
  /** The file of the folder's own store, once the vault was moved. */
  moved: join(folder, 'store', 'data.mdb.moved'),
  /** Says which database has a copy, or a part of one, of a vault that is in the folder. */
  databaseLeft: join(folder, 'store', 'database.left'),
  clock: join(folder, 'clock'),
  control: join(folder, 'control'),
  compacting: join(folder, 'compacting'),
  verifying: join(folder, 'verifying'),
  restoring: join(folder, 'restoring'),
})

/** Turns a failed system call into a line for the person; everything else goes on as it is. */
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

/** Whether there is a stamp, of whatever format. */
export const isDataFolder = (folder: string): boolean => existsSync(pathsOf(folder).stamp)

/** Says that a folder is of this format. */
export function stampFolder(folder: string): void {
  const { stamp, newStamp } = pathsOf(folder)
  replaceFile(stamp, `coffer data folder, format ${formatVersion}\n`, newStamp)
}

const putBack = 'put that file back from a copy of the folder, or restore a backup'

/**
 * What is said of a vault without its stamp; `undefined` where there is no vault, as in a folder
 * that an init has left which was cut off: the stamp under its first name is the first thing that
 * it writes.
 */
export function lostStampOf(folder: string): CommandFailure | undefined {
  const { stamp, newStamp, store } = pathsOf(folder)
  if (existsSync(stamp) || existsSync(newStamp) || !existsSync(store)) return undefined
  return new CommandFailure(`${folder} holds a vault, whose file format is lost: ${putBack}`)
}

/** @throws CommandFailure when the folder is missing, foreign, or its stamp is lost or damaged */
function readStamp(folder: string): number {
  let stamp: string
  try {
    stamp = readRegular(pathsOf(folder).stamp, folderFileBytesMax)?.toString('latin1') ?? ''
  } catch (error) {
    if (systemCodeOf(error) === 'EACCES') throw explained(folder, error)
    const none = `${folder} is not a data folder: make one with coffer init --data`
    throw lostStampOf(folder) ?? new CommandFailure(none)
  }
  const version = stampPattern.exec(stamp)?.[1]
  if (version === undefined) {
    throw new CommandFailure(`the format stamp in ${folder} is damaged: ${putBack}`)
  }
  return Number(version)
}

/** @throws CommandFailure as `readStamp`, and when the folder is of another format */
export function checkStamp(folder: string): void {
  const format = readStamp(folder)
  if (format !== formatVersion) throw new CommandFailure(otherFormat(folder, format, formatVersion))
}
