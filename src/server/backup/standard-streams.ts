/**
 * Backups on standard output or standard input: `-` in place of a file.
 *
 * An outgoing backup is made and verified in the data folder before its first byte goes out. An
 * incoming one is first written to a file, as only the length of the file shows where it ends.
 * @module
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { ownerOnlyFile, writeWhole } from '../../lib/files.ts'
import { backupChunkBytes } from '../../limits/operation-limits.ts'
import { CommandFailure, systemCodeOf, usage } from '../process/failure.ts'
import { writeOut } from '../process/system.ts'
import type { BackupPlace } from './backup-place.ts'

/** Stands in place of a file name. */
export const standardStream = '-'

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

/**
 * Writes a backup from standard input to a new file.
 * @throws CommandFailure for a terminal
 */
export function takeStandardInput(path: string): void {
  if (isatty(input)) {
    const expected = 'expected a backup by a pipe or from a file at standard input'
    throw usage(`restore -: ${expected}, and no terminal`)
  }
  const file = openSync(path, 'wx', ownerOnlyFile)
  try {
    copy(input, bytes => writeWhole(file, bytes))
  } finally {
    closeSync(file)
  }
}
