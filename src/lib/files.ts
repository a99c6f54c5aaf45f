/**
 * Files of a vault: for their owner alone, in folders of which the disk knows, and read within
 * bounds.
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

/** Modes. */
export const ownerOnlyFile = 0o600
export const ownerOnlyFolder = 0o700

/** Else a file that was just made may be gone after a power cut, whatever was synced of it. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/**
 * A disk that is nearly full takes a part, and says so by the count alone.
 * @param position in the file; behind what was written before where it is left out
 */
export function writeWhole(file: number, bytes: Uint8Array, position?: number): void {
  for (let at = 0; at < bytes.length;) {
    const to = position === undefined ? null : position + at
    at += writeSync(file, bytes, at, bytes.length - at, to)
  }
}

/** A device may have no end, and may say that it is empty. */
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
 * All of a regular file, to which a link may lead: what is mounted for a container is often one.
 * Nothing is waited for, as the writer of a pipe would be.
 * @param check is shown what was opened before it is read
 * @returns `undefined` for what is no regular file, or larger
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
