/**
 * Backups on standard output or standard input: `-` in place of a file.
 *
 * An outgoing backup is made and verified in the data folder before its first byte goes out. An
 * incoming one is first written to a file, as long as its beginning says and no longer.
 * @module
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { ownerOnlyFile, writeWhole } from '../../lib/files.ts'
import { backupChunkBytes } from '../../limits/operation-limits.ts'
import { assertRoomToRestore } from '../folder/disk-space.ts'
import { CommandFailure, systemCodeOf, usage } from '../process/failure.ts'
import { writeOut } from '../process/system.ts'
import { backupStartBytes, damaged, lengthThatBegins } from './backup-file.ts'
import type { BackupPlace } from './backup-place.ts'

/** Stands in place of a file name. */
export const standardStream = '-'
/** Its name in errors. */
export const standardInput = 'standard input'

const [input, output] = [0, 1]

/** @returns 0 at the end of the input */
function readPiece(file: number, piece: Uint8Array): number {
  try {
    return readSync(file, piece, 0, piece.length, null)
  } catch (error) {
    if (systemCodeOf(error) === 'EOF') return 0
    throw error
  }
}

function copy(from: number, write: (bytes: Uint8Array) => void): void {
  const piece = Buffer.alloc(backupChunkBytes)
  for (let count = readPiece(from, piece); count > 0; count = readPiece(from, piece)) {
    write(piece.subarray(0, count))
  }
}

function put(path: string): void {
  const file = openSync(path, 'r')
  try {
    copy(file, writeOut)
  } catch (error) {
    if (systemCodeOf(error) !== 'EPIPE') throw error
    throw new CommandFailure('standard output was closed before the backup was whole', 1, error)
  } finally {
    closeSync(file)
  }
}

/**
 * @param data the data folder, in which the backup is made
 * @throws CommandFailure for a terminal
 */
export function standardOutput(
  data: string,
): Pick<BackupPlace, 'stagingOf' | 'assertFree' | 'put'> {
  if (isatty(output)) {
    const expected = 'expected a pipe or a file, and no terminal, at standard output'
    throw usage(`--to -: ${expected}`)
  }
  return {
    stagingOf: () => join(data, 'uploading'),
    assertFree: async () => {},
    put: async (_, path) => put(path),
  }
}

/** @returns as many bytes as there are before the end, at most `bytesMax` */
function readUpTo(bytesMax: number): Uint8Array {
  const bytes = Buffer.alloc(bytesMax)
  let length = 0
  for (let count = -1; count !== 0 && length < bytesMax; length += count) {
    count = readPiece(input, bytes.subarray(length))
  }
  return bytes.subarray(0, length)
}

/**
 * Writes a backup from standard input to a new file. Its beginning is opened before the rest is
 * read, so that no endless input fills the disk.
 * @param masterKey of the backup
 * @throws CommandFailure for a terminal, another input than a backup, and where room is too little
 */
export function takeStandardInput(path: string, masterKey: Uint8Array): void {
  if (isatty(input)) {
    const expected = 'expected a backup by a pipe or from a file at standard input'
    throw usage(`restore -: ${expected}, and no terminal`)
  }
  const start = readUpTo(backupStartBytes)
  let missing = lengthThatBegins(start, { masterKey, told: standardInput }) - start.length
  assertRoomToRestore(dirname(path), start.length + missing)
  const file = openSync(path, 'wx', ownerOnlyFile)
  try {
    writeWhole(file, start)
    copy(input, bytes => {
      missing -= bytes.length
      if (missing < 0) throw damaged(standardInput)
      writeWhole(file, bytes)
    })
  } finally {
    closeSync(file)
  }
}
