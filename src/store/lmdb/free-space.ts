/**
 * The guard before a full disk: writes that add bytes are refused while there is room to remove.
 *
 * A file system that is full in the middle of a commit can end the process within the engine
 * (hardening L11), so it is asked before, at most once in `freeSpaceProbeMs`.
 * @module
 */
import { statfsSync } from 'node:fs'
import { ApiError } from '../../errors.ts'
import { freeSpaceBytesMin, freeSpaceProbeMs } from '../../limits.ts'
import type { Change } from '../contract.ts'

/** Bytes that whoever runs this may still write. */
export type FreeBytes = () => number

export const freeBytesAt =
  (path: string): FreeBytes =>
  () => {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  }

const addsBytes = (change: Change): boolean => 'insert' in change || 'replace' in change

/** @returns a check of one write: throws ApiError `storage_full` when it adds and room is short */
export function openSpaceGuard(freeBytes: FreeBytes): (changes: readonly Change[]) => void {
  let isShort: boolean | undefined
  return changes => {
    if (!changes.some(addsBytes)) return
    if (isShort === undefined) {
      isShort = freeBytes() < freeSpaceBytesMin
      setTimeout(() => {
        isShort = undefined
      }, freeSpaceProbeMs).unref()
    }
    if (isShort) throw new ApiError('storage_full', 'The storage is full. Reading goes on.')
  }
}
