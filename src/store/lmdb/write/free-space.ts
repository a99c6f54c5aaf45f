/**
 * The guards before a full disk: writes that add bytes are refused while there is room to remove.
 *
 * A file system that is full in the middle of a commit can end the process within the engine
 * (hardening L11). So the free space is asked for before a write is taken, at most once in
 * `freeSpaceProbeMs`, and each commit keeps to what the reserve of the file has.
 * @module
 */
import { statfsSync } from 'node:fs'
import { ApiError } from '../../../errors.ts'
import {
  freeSpaceBytesMin,
  freeSpaceProbeMs,
  reserveBytesToAddMin,
  reserveBytesToRemoveMin,
} from '../../../limits.ts'
import type { Change } from '../../contract.ts'
import type { PreparedChange } from './prepare-changes.ts'

/** Bytes that whoever runs this may still write. */
export type FreeBytes = () => number

export const freeBytesAt =
  (path: string): FreeBytes =>
  () => {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  }

const storageFull = () => new ApiError('storage_full', 'The storage is full. Reading goes on.')

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
    if (isShort) throw storageFull()
  }
}

const growsStore = ({ kind }: PreparedChange): boolean => kind === 'insert' || kind === 'replace'

/**
 * Why a set of changes may not be committed; `undefined` when it may.
 * @param roomBytes that the store's file can grow by
 */
export function faultOfRoom(
  roomBytes: number,
  changes: readonly PreparedChange[],
): ApiError | undefined {
  if (roomBytes >= reserveBytesToAddMin) return undefined
  const mayRemove = roomBytes >= reserveBytesToRemoveMin
  return mayRemove && !changes.some(growsStore) ? undefined : storageFull()
}
