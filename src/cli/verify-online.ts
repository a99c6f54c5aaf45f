/**
 * `coffer verify --online`: looks at a vault that is served, by a copy of one moment of it,
 * within its folder: what lies beside may be another disk, or nobody's to write.
 *
 * The copy is made as a backup is, by this process and not by the one that serves, and is gone when
 * it was looked at. It has no free page and no page of another commit: what is damaged of these,
 * only a look at the stopped vault finds.
 * @module
 */
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { freeSpaceBytesMin } from '../limits/operation-limits.ts'
import {
  checkFolder,
  damagedIn,
  type FolderOptions,
  type FoundFolder,
  type LockedFolder,
} from '../server/folder/data-folder.ts'
import { explained, pathsOf } from '../server/folder/folder-stamp.ts'
import { ApiError } from '../lib/errors.ts'
import { assertRoom } from '../server/folder/disk-space.ts'
import { makeStagedFolder } from '../server/folder/staged-folder.ts'
import { removeStaging } from '../server/folder/staging-mark.ts'
import { copySnapshot } from '../store/lmdb/inspect/compact-copy.ts'

export const removeCopy = (copy: FoundFolder): void => removeStaging(copy.data)

/**
 * A copy of one moment, within the data folder.
 * @throws CommandFailure, or the system's own error, with no copy left
 */
export async function copyServed(options: FolderOptions): Promise<LockedFolder> {
  const data = resolve(options.data)
  const masterKey = checkFolder(options)
  const store = join(data, 'store')
  const bytes = statSync(join(store, 'data.mdb')).size + freeSpaceBytesMin
  assertRoom({ folder: data, bytes, what: 'a copy' })
  const copy = makeStagedFolder(pathsOf(data).verifying, masterKey)
  try {
    await copySnapshot(store, copy.store)
    return copy
  } catch (error) {
    removeCopy(copy)
    if (error instanceof ApiError && error.kind === 'storage_corrupt') {
      throw damagedIn(options.data, error)
    }
    throw explained(data, error)
  }
}
