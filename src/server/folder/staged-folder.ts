/**
 * A folder that is made beside its place, and then moved there or removed: for a backup, a restore,
 * or a check of a copy. Meanwhile it holds a whole database.
 * @module
 */
import { forgetCopy, noteCopy } from './copies.ts'
import type { LockedFolder } from './data-folder.ts'
import { explained, pathsOf } from './folder-stamp.ts'
import { lookAtStaging, removeStaging, takeStaging } from './staging-mark.ts'
import { elapsedMs, sleep } from '../process/system.ts'

/**
 * Makes an empty folder, removing leftovers, that this process holds until it ends.
 * @throws CommandFailure if it cannot be made, or another process is making it
 */
export function makeStagedFolder(data: string, masterKey: Uint8Array): LockedFolder {
  const { store, clock, auditKey, control, compacting } = pathsOf(data)
  try {
    const lockFile = takeStaging(data, { elapsedMs, sleep })
    return { data, masterKey, store, clock, auditKey, control, compacting, lockFile }
  } catch (error) {
    throw explained(data, error)
  }
}

/**
 * Like `makeStagedFolder`, for a place that the data folder does not know: it is noted first, so
 * that a process killed at any moment leaves no copy that destruction would miss.
 * @throws CommandFailure as `makeStagedFolder`
 */
export function makeNotedFolder(data: string, path: string, masterKey: Uint8Array): LockedFolder {
  try {
    noteCopy(data, path)
  } catch (error) {
    throw explained(data, error)
  }
  try {
    return makeStagedFolder(path, masterKey)
  } catch (error) {
    // Another process may be working there, and rely on the same note.
    if (lookAtStaging(path, false) === undefined) forgetCopy(data, path)
    throw error
  }
}

/** Removes a noted folder, and its note. */
export function removeNoted(data: string, path: string): void {
  removeStaging(path)
  forgetCopy(data, path)
}
