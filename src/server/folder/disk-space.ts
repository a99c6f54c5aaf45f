/**
 * Disk space: checked before a large write, and reported if it runs out.
 * @module
 */
import { existsSync, statfsSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileSpareBytes, freeSpaceBytesMin } from '../../limits/operation-limits.ts'
import { freeBytesAt } from '../../store/lmdb/write/disk-reserve.ts'
import { CommandFailure } from '../process/failure.ts'
import { fileBytesMax } from '../process/machine.ts'

/** A planned write. */
export interface DiskNeed {
  /** A folder on the disk; if it does not exist yet, its nearest existing parent is checked. */
  readonly folder: string
  readonly bytes: number
  /** Length of its longest file, if it is known. */
  readonly fileBytes?: number
  /** Name of the write, such as `a backup`. */
  readonly what: string
}

const { ENOSPC, EDQUOT } = constants.errno
/** Codes of the system, and of the engine, which gives only the number. */
const outOfRoom: readonly unknown[] = ['ENOSPC', 'EDQUOT', ENOSPC, EDQUOT]

/** True if the error, or its cause, is a full disk or the user's exceeded quota on it. */
export const isOutOfRoom = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && outOfRoom.includes(error.code)) || isOutOfRoom(error.cause))

const mebibyte = 1024 ** 2

/** Returns the size of the disk of a path, in bytes. */
export function diskBytesAt(path: string): number {
  const { blocks, bsize } = statfsSync(path)
  return blocks * bsize
}

function freeBytesOf({ folder }: DiskNeed): number {
  let found = folder
  while (!existsSync(found)) found = dirname(found)
  return freeBytesAt(found)()
}

function missing({ folder, bytes, what }: DiskNeed, freeBytes: number, cause?: unknown) {
  const needed = `${Math.ceil(bytes / mebibyte)} MiB are needed`
  const free = `${Math.floor(freeBytes / mebibyte)} MiB are free`
  const where = `for ${what} on the disk of ${folder}: ${needed}, ${free}`
  return cause === undefined
    ? new CommandFailure(`too little space is free ${where}`)
    : new CommandFailure(`the disk, or a quota, was full ${where}`, 1, cause)
}

/**
 * In a commit or a copy, the engine and the runtime would tell of it in their own words.
 * @param bytes of the longest file that is to be written
 * @throws CommandFailure if this process may not write one as long, with room to grow
 */
export function assertFileRoom(bytes: number): void {
  const needed = bytes + fileSpareBytes
  const most = fileBytesMax()
  if (most >= needed) return
  const expected = `files of ${Math.ceil(needed / mebibyte)} MiB, `
  const limited = `the length of files is limited to ${Math.floor(most / mebibyte)} MiB`
  throw new CommandFailure(`expected ${expected}and ${limited}: lift ulimit -f (LimitFSIZE)`)
}

/** @throws CommandFailure as `assertFileRoom`, if a store could not grow; nothing, if it is new */
export const assertStoreRoom = (store: string): void =>
  assertFileRoom(statSync(join(store, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0)

/** @throws CommandFailure that names the disk, and how much space is needed and free */
export function assertRoom(room: DiskNeed): void {
  assertFileRoom(room.fileBytes ?? 0)
  const freeBytes = freeBytesOf(room)
  if (freeBytes < room.bytes) throw missing(room, freeBytes)
}

/**
 * The file of a backup and the database that is in it take room at once.
 * @param bytes of the file
 * @throws CommandFailure as `assertRoom`
 */
export function assertRoomToRestore(folder: string, bytes: number): void {
  const what = 'the restored backup'
  assertRoom({ folder, bytes: 2 * bytes + freeSpaceBytesMin, fileBytes: bytes, what })
}

/**
 * Runs a task that needs space, and that leaves nothing behind if it fails.
 * @throws CommandFailure as `assertRoom`, also if space ran out meanwhile; the errors of the task
 */
export async function withRoom<T>(room: DiskNeed, task: () => Promise<T>): Promise<T> {
  assertRoom(room)
  try {
    return await task()
  } catch (error) {
    throw isOutOfRoom(error) ? missing(room, freeBytesOf(room), error) : error
  }
}
