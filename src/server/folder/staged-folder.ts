/**
 * A folder that is made beside its place and takes it once all is there, or is taken away again:
 * of a backup, a restore, a look at a copy. It holds a whole database meanwhile.
 * @module
 */
import { forgetCopy, noteCopy } from './copies.ts'
import type { LockedFolder } from './data-folder.ts'
import { explained, pathsOf } from './folder-stamp.ts'
import { lookAtStaging, removeMark, removeStaging, takeStaging } from './staging-mark.ts'
import { elapsedMs, sleep } from '../process/system.ts'

/**
 * Makes one, of this process until it ends, and empty, whatever one that was killed has left in it.
 * @throws CommandFailure when it cannot be made, or another process makes it
 */
export function makeStagedFolder(data: string, masterKey: Uint8Array): LockedFolder {
  const { store, clock, control, compacting } = pathsOf(data)
  try {
    const lockFile = takeStaging(data, { elapsedMs, sleep })
    return { data, masterKey, store, clock, control, compacting, lockFile }
  } catch (error) {
    throw explained(data, error)
  }
}

/**
 * The same of a place that the data folder does not know, which notes it first: one that is killed
 * at any moment leaves nothing there that destruction would miss.
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
    // Another process may be at work there, which has noted it as well.
    if (lookAtStaging(path, false) === undefined) forgetCopy(data, path)
    throw error
  }
}

/** Takes a noted one away. */
export function removeNoted(data: string, path: string): void {
  removeStaging(path)
  forgetCopy(data, path)
}

/** Once all is there: from here on it is a folder like any other. */
export const endStaging = ({ data }: LockedFolder): void => removeMark(data)
