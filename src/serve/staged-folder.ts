/**
 * A folder that is made beside its place and takes it once all is there, or is taken away again:
 * of a backup, a restore, a look at a copy. It holds a whole database meanwhile.
 * @module
 */
import type { LockedFolder } from './data-folder.ts'
import { explained, pathsOf } from './folder-stamp.ts'
import { removeMark, takeStaging } from './staging-mark.ts'
import { elapsedMs, sleep } from './system.ts'

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

/** Once all is there: from here on it is a folder like any other. */
export const endStaging = ({ data }: LockedFolder): void => removeMark(data)
