/**
 * The reserve: blocks behind the end of the store's file that the disk has given already.
 *
 * Another program can fill a disk between any look at it and the write that follows. The engine
 * meets only what is left of the reserve, so that it never runs out in the middle of a commit
 * (hardening L11), and rows can be removed from a disk that is full. The file's length does not
 * change by it, and the blocks stay its own when the process ends in any way.
 * Source: fallocate(2), FALLOC_FL_KEEP_SIZE.
 * @module
 */
import { FFIType } from 'bun:ffi'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { findInLibc } from '../../libc.ts'
import { reserveBytesToAddMin, reserveBytesToRemoveMin, reserveBytesWanted } from '../../limits.ts'

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
 * The reserve of the store in a folder. Where the file system cannot keep one, it counts as
 * endless: there the look at the free space is all there is.
 */
export function openReserve(folder: string, allocate: Allocate = findAllocate()): Reserve {
  const file = openSync(join(folder, 'data.mdb'), 'r+')
  // The first byte has its block, so nothing but the lack of the call can fail here.
  const isKept = allocate(file, 0, 1)
  let reservedTo = 0
  return {
    fill() {
      if (!isKept) return Infinity
      const { size } = fstatSync(file)
      if (reservedTo - size >= reserveBytesToAddMin) return reservedTo - size
      const sizes = [reserveBytesWanted, reserveBytesToAddMin, reserveBytesToRemoveMin]
      const had = sizes.find(bytes => allocate(file, size, bytes))
      if (had !== undefined) reservedTo = Math.max(reservedTo, size + had)
      return Math.max(0, reservedTo - size)
    },
    close: () => closeSync(file),
  }
}
