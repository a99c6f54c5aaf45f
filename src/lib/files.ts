/**
 * Files of a vault: only their owner may use them, their folders are synced, and reads are bounded.
 * @module
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  writeSync,
  type Stats,
} from 'node:fs'

/** File modes. */
export const ownerOnlyFile = 0o600
export const ownerOnlyFolder = 0o700

/** Without it, a power cut may lose a new file whose contents were synced. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/**
 * Writes all bytes: a nearly full disk takes only a part, and shows that by the count alone.
 * @param position in the file; by default, behind the previous write
 */
export function writeWhole(file: number, bytes: Uint8Array, position?: number): void {
  for (let at = 0; at < bytes.length;) {
    const to = position === undefined ? null : position + at
    at += writeSync(file, bytes, at, bytes.length - at, to)
  }
}

/** Reads until the end: a device may be endless, or report a size of 0. */
function readWithin(file: number, bytesMax: number): Buffer | undefined {
  const bytes = Buffer.alloc(bytesMax + 1)
  let length = 0
  while (length < bytes.length) {
    const count = readSync(file, bytes, length, bytes.length - length, length)
    if (count === 0) break
    length += count
  }
  const whole = length > bytesMax ? undefined : Buffer.from(bytes.subarray(0, length))
  bytes.fill(0)
  return whole
}

/**
 * Returns all of a regular file. A link may lead to it, as files mounted into containers often are
 * links. Never blocks, not even on a pipe without a writer.
 * @param check gets the state of the open file before it is read
 * @returns `undefined` if it is larger, or not a regular file
 * @throws the system's own error
 */
export function readRegular(
  path: string,
  bytesMax: number,
  check: (stats: Stats) => void = () => {},
): Buffer | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(file)
    check(stats)
    return stats.isFile() ? readWithin(file, bytesMax) : undefined
  } finally {
    closeSync(file)
  }
}
