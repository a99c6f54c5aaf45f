/**
 * Room on the disk: asked for before something large is written, and told of where it ran out.
 * @module
 */
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname } from 'node:path'
import { freeBytesAt } from '../../store/lmdb/write/write-group.ts'
import { CommandFailure } from '../process/failure.ts'

/** What is to be written. */
export interface DiskNeed {
  /** A folder of the disk; where it is not there yet, the one that it will be in counts. */
  readonly folder: string
  readonly bytes: number
  /** Such as `a backup`. */
  readonly what: string
}

const { ENOSPC, EDQUOT } = constants.errno
/** Of the system, and of the engine, which gives the number alone. */
const outOfRoom: readonly unknown[] = ['ENOSPC', 'EDQUOT', ENOSPC, EDQUOT]

/** Whether a disk was full, or what its user may take of it; also as a cause. */
export const isOutOfRoom = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && outOfRoom.includes(error.code)) || isOutOfRoom(error.cause))

const mebibyte = 1024 ** 2

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

/** @throws CommandFailure that says where room is missing, and how much is needed and free */
export function assertRoom(room: DiskNeed): void {
  const freeBytes = freeBytesOf(room)
  if (freeBytes < room.bytes) throw missing(room, freeBytes)
}

/**
 * Does what needs room, which leaves none of it where it fails.
 * @throws CommandFailure as `assertRoom`, also where room ran out meanwhile; what the task throws
 */
export async function withRoom<T>(room: DiskNeed, task: () => Promise<T>): Promise<T> {
  assertRoom(room)
  try {
    return await task()
  } catch (error) {
    throw isOutOfRoom(error) ? missing(room, freeBytesOf(room), error) : error
  }
}
