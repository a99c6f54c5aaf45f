/**
 * Files of a vault: for their owner alone, in folders of which the disk knows.
 * @module
 */
import { closeSync, fsyncSync, openSync } from 'node:fs'

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
