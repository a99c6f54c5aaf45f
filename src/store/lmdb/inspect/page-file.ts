/**
 * The engine's file, read as numbered pages by plain reads: nothing in it can end the process, as
 * a damaged page under the engine's memory map would (hardening L32).
 *
 * Layout of the file format as lmdb 3.5.6 writes it: 64 bits, little endian. A page begins with
 * its number u64 · transaction u64 · unused u16 · kind u16 · end of its list of nodes u16 · begin
 * of its nodes u16 (of a run of overflow pages: their count u32). Source: its mdb.c.
 * @module
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'

export const pageHeaderBytes = 24
/** Any page is of this size or smaller. */
export const pageBytesMax = 65_536

export const pageKinds = { branch: 1, leaf: 2, overflow: 4, meta: 8 } as const

/** Bytes of one or more pages; a view of plain memory, overwritten by the next read into it. */
export interface PageBuffer {
  readonly bytes: Uint8Array
  readonly view: DataView
}

export function makePageBuffer(length: number): PageBuffer {
  const bytes = new Uint8Array(length)
  return { bytes, view: new DataView(bytes.buffer) }
}

/** Exact up to 2^53; above, it is still greater than any number that is right. */
export const readU64 = (view: DataView, at: number): number =>
  view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32

export interface DataFile {
  /** As it is now: another process may write. */
  lengthBytes(): number
  /** Whether all of the buffer was read, from that position on; `false` also for a bad disk. */
  read(buffer: PageBuffer, positionBytes: number): boolean
  close(): void
}

/** @throws the system's own error when there is none, or it cannot be read */
export function openDataFile(folder: string): DataFile {
  const handle = openSync(join(folder, 'data.mdb'), 'r')
  return {
    lengthBytes: () => fstatSync(handle).size,
    read({ bytes }, positionBytes) {
      try {
        return readSync(handle, bytes, 0, bytes.length, positionBytes) === bytes.length
      } catch {
        return false
      }
    },
    close: () => closeSync(handle),
  }
}
