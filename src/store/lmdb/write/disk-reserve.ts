/**
 * Room on the disk: writes that add are refused early, and a commit does not run out of space.
 * @module
 */
import { freeSpaceBytesMin } from '../../../limits/operation-limits.ts'
import { statfsSync, closeSync, fstatSync, openSync } from 'node:fs'
import { ApiError } from '../../../lib/errors.ts'
import {
  freeSpaceProbeMs,
  reserveBytesToAddMin,
  reserveBytesToRemoveMin,
  reserveBytesWanted,
} from '../../core/limits.ts'
import type { Change } from '../../contract.ts'
import type { PreparedChange } from '../../core/prepare-change.ts'
import { FFIType } from 'bun:ffi'
import { join } from 'node:path'
import { findInLibc } from '../../../lib/libc.ts'

/*
 * Guards against a full disk: writes that add are refused while there is still room to remove.
 *
 * A file system that fills up during a commit can end the process within the engine (hardening
 * L11). So free space is checked before a write is accepted, at most once per `freeSpaceProbeMs`,
 * and a group is refused that the reserve of the file may not hold.
 */

/** Bytes that the user of this process may still write. */
export type FreeBytes = () => number

export const freeBytesAt =
  (path: string): FreeBytes =>
  () => {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  }

const storageFull = () => new ApiError('storage_full', 'The storage is full. Masked reads go on.')

const addsRow = (change: Change): boolean =>
  'insert' in change || 'replace' in change || 'reseal' in change

/** True for what makes room. */
const removes = (change: Change): boolean => 'remove' in change || 'pruneLog' in change

/** An entry of the log that comes with a removal uses the room that is left for removals. */
const addsBytes = (changes: readonly Change[]): boolean =>
  changes.some(addsRow) || (changes.some(change => 'log' in change) && !changes.some(removes))

/** @returns a check of one write: throws ApiError `storage_full` when it adds and room is short */
export function makeSpaceGuard(freeBytes: FreeBytes): (changes: readonly Change[]) => void {
  let isShort: boolean | undefined
  return changes => {
    if (!addsBytes(changes)) return
    if (isShort === undefined) {
      isShort = freeBytes() < freeSpaceBytesMin
      setTimeout(() => {
        isShort = undefined
      }, freeSpaceProbeMs).unref()
    }
    if (isShort) throw storageFull()
  }
}

const growsRows = ({ kind }: PreparedChange): boolean =>
  kind === 'insert' || kind === 'replace' || kind === 'reseal'

const growsStore = (changes: readonly PreparedChange[]): boolean =>
  changes.some(growsRows) ||
  (changes.some(({ kind }) => kind === 'log' || kind === 'entry') &&
    !changes.some(({ kind }) => kind === 'remove' || kind === 'prune'))

/**
 * Returns the fault that forbids committing a set of changes; `undefined` if it may be committed.
 * @param roomBytes growth left to the store's file
 */
export function faultOfRoom(
  roomBytes: number,
  changes: readonly PreparedChange[],
): ApiError | undefined {
  if (roomBytes >= reserveBytesToAddMin) return undefined
  const mayRemove = roomBytes >= reserveBytesToRemoveMin
  return mayRemove && !growsStore(changes) ? undefined : storageFull()
}

/*
 * The reserve: disk blocks already allocated behind the end of the store's file.
 *
 * Another program can fill the disk between any check and the write that follows. The engine then
 * uses the reserve, so that it does not run out during a commit (hardening L11), and rows can be
 * removed from a full disk. The reserve does not change the file's length, and its blocks survive
 * any end of the process. It is limited: a commit that copies more pages can still run out of a
 * disk that was filled meanwhile, and so can any commit on a copy-on-write file system.
 */

export interface Reserve {
  /** Adds blocks if it is low and the disk has some; returns its size in bytes. */
  topUp(): number
  close(): void
}

/** Allocates bytes of a file from a position on; returns true if all of them were allocated. */
export type Allocate = (file: number, positionBytes: number, lengthBytes: number) => boolean

/** Source: fallocate(2), FALLOC_FL_KEEP_SIZE. */
const keepSize = 1

const fallocate = {
  args: [FFIType.i32, FFIType.i32, FFIType.i64, FFIType.i64],
  returns: FFIType.i32,
} as const

function findAllocate(): Allocate {
  const libc = findInLibc({ fallocate })
  return (file, position, length) => libc?.fallocate(file, keepSize, position, length) === 0
}

/**
 * Opens the reserve of the store in a folder. On a file system without preallocation the reserve
 * counts as endless while space is free, and as enough for removals when it is not. An allocation
 * that fails on a full disk is tried again with the next commit. Holes within the file are filled
 * first, because a commit may need a block for one of them too.
 */
export function openReserve(
  folder: string,
  freeBytes: FreeBytes,
  allocate: Allocate = findAllocate(),
): Reserve {
  const file = openSync(join(folder, 'data.mdb'), 'r+')
  let isKept = false
  let reservedTo = 0
  return {
    topUp() {
      const { size } = fstatSync(file)
      isKept ||= allocate(file, 0, Math.max(1, size))
      if (!isKept) return freeBytes() < freeSpaceBytesMin ? reserveBytesToRemoveMin : Infinity
      if (reservedTo - size >= reserveBytesToAddMin) return reservedTo - size
      const sizes = [reserveBytesWanted, reserveBytesToAddMin, reserveBytesToRemoveMin]
      const had = sizes.find(bytes => allocate(file, size, bytes))
      if (had !== undefined) reservedTo = Math.max(reservedTo, size + had)
      return Math.max(0, reservedTo - size)
    },
    close: () => closeSync(file),
  }
}
