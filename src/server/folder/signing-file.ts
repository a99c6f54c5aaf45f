/**
 * The file `audit.key` of a data folder: the sealed keys that sign checkpoints of the audit log.
 *
 * It has one size and is overwritten in place, so that nothing is left of a key whose day is over.
 * A file system that copies what it writes, and a flash disk, may keep some all the same.
 *
 * Layout: length u16 · the sealed keys · zeros.
 * @module
 */
import { closeSync, constants, fsyncSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SigningPlace } from '../../audit/signing-keys.ts'
import { readU16, writeU16 } from '../../lib/bytes.ts'
import { giveToOwnerOf, openRegular } from './regular-files.ts'

const { O_CREAT, O_RDWR } = constants
const fileBytes = 1_024
const lengthBytes = 2

function openFile(path: string): number {
  const file = openRegular(path, O_RDWR | O_CREAT)
  try {
    giveToOwnerOf(dirname(path), file)
  } catch {
    // The file stays with the user who made it: only root can give it away.
  }
  return file
}

function withFile<T>(path: string, use: (file: number) => T): T {
  const file = openFile(path)
  try {
    return use(file)
  } finally {
    closeSync(file)
  }
}

/** Only the process that holds the folder's lock, or one of its workers, may use it. */
export const signingFile = (path: string): SigningPlace => ({
  /** Bytes cut off by a power failure do not open, and count as none. */
  read: () =>
    withFile(path, file => {
      const bytes = Buffer.alloc(fileBytes)
      const length = readSync(file, bytes, 0, fileBytes, 0)
      if (length === 0) return undefined
      return Uint8Array.from(bytes.subarray(lengthBytes, lengthBytes + readU16(bytes, 0)))
    }),
  write: sealed =>
    withFile(path, file => {
      const bytes = Buffer.alloc(fileBytes)
      writeU16(bytes, 0, sealed.length)
      bytes.set(sealed, lengthBytes)
      writeSync(file, bytes, 0, fileBytes, 0)
      fsyncSync(file)
    }),
})
