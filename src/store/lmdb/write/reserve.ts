/**
 * The reserve: blocks behind the end of the store's file that the disk has given already.
 *
 * Another program can fill a disk between any look at it and the write that follows. The engine
 * then meets what is left of the reserve, so that it does not run out in the middle of a commit
 * (hardening L11), and rows can be removed from a disk that is full. The file's length does not
 * change by it, and the blocks stay its own when the process ends in any way. It is no more than
 * its size: a commit that copies more pages can still meet the end of a disk that was filled
 * meanwhile, and so can any on a file system that copies on write.
 * Source: fallocate(2), FALLOC_FL_KEEP_SIZE.
 * @module
 */
import { FFIType } from 'bun:ffi'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { findInLibc } from '../../../libc.ts'
import {
  freeSpaceBytesMin,
  reserveBytesToAddMin,
  reserveBytesToRemoveMin,
  reserveBytesWanted,
} from '../../../limits.ts'
import type { FreeBytes } from './free-space.ts'

export interface Reserve {
  /** Fills it up where it is low and that can be; gives the bytes that it has. */
  fill(): number
  close(): void
}

/** Takes blocks for bytes of a file from a position on; whether all of them are there. */
export type Allocate = (file: number, positionBytes: number, lengthBytes: number) => boolean

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
 * The reserve of the store in a folder. Where the file system keeps none, it counts as endless
 * while space is free, and as enough to remove where it is not. A call that fails once, on a disk
 * that is full, is tried again. Holes within the file are filled first: they are no room either.
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
    fill() {
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
