/**
 * The LMDB engine of the store: one folder, one file, shared by the processes of one instance.
 *
 * Reads are synchronous within and see the newest state that is on disk; writes go through the
 * commit queue alone. Source: design.md, "LMDB engine".
 * @module
 */
import { ApiError } from '../../errors.ts'
import { checkDue, checkQuery, checkUnique, checkWindow } from '../check-query.ts'
import type { Store } from '../contract.ts'
import { openCommitQueue, type CommitGroup } from './commit-queue.ts'
import { openEnvironment } from './environment.ts'
import { faultOf } from './fault.ts'
import { freeBytesAt, openSpaceGuard, type FreeBytes } from './free-space.ts'
import { checkIntegrity, type Finding } from './integrity.ts'
import { openMeta, readGeneration } from './meta.ts'
import { readDue, readPage } from './page.ts'
import { prepareChanges } from './prepare-changes.ts'
import { findRow } from './stored-rows.ts'
import { writeGroup } from './write-group.ts'

export interface LmdbOptions {
  /** An existing folder, for nothing else than the store. */
  readonly path: string
  /** Of the first row of a new store, so that a test may begin just before the end of a chunk. */
  readonly firstOrdinal?: number
  /** Asked in place of the file system, so that a test may fill it. */
  readonly freeBytes?: FreeBytes
  /** Told once when a commit failed: the store writes nothing more, and the process should end. */
  readonly onFailure?: (cause: unknown) => void
}

export interface LmdbStore extends Store {
  /** Walks the whole store and blocks meanwhile; empty when rows and indexes agree. */
  integrity(): Promise<readonly Finding[]>
}

/**
 * Opens a store, and makes it where the folder has none.
 * @throws ApiError `storage_corrupt` when the store is of another format or was damaged; the
 *   system's own error when the folder cannot be used
 */
export async function openLmdbStore({
  path,
  firstOrdinal = 1,
  freeBytes = freeBytesAt(path),
  onFailure,
}: LmdbOptions): Promise<LmdbStore> {
  const environment = openEnvironment(path)
  const { root } = environment
  try {
    openMeta(environment, firstOrdinal)
  } catch (error) {
    await root.close()
    throw error
  }
  const commitGroup: CommitGroup = take => root.transaction(() => writeGroup(environment, take()))
  const queue = openCommitQueue(commitGroup, onFailure)
  const assertSpace = openSpaceGuard(freeBytes)
  let closing: Promise<void> | undefined

  const read = <T>(look: () => T): T => {
    if (closing !== undefined) throw new ApiError('unavailable', 'the store is closed')
    try {
      // The engine keeps one state for a whole turn of the event loop; meanwhile another process
      // may have answered a write that this read must see.
      root.resetReadTxn()
      return look()
    } catch (error) {
      throw faultOf(error)
    }
  }

  // After a failed commit the engine never lets go of its writer (hardening L10).
  const close = async (): Promise<void> => {
    await queue.close()
    if (!queue.isHalted()) await root.close()
  }

  return {
    find: async unique => {
      checkUnique(unique)
      return read(() => findRow(environment, unique))
    },
    page: async (query, window) => {
      checkQuery(query)
      checkWindow(window)
      return read(() => readPage(environment, query, window))
    },
    write: async changes => {
      assertSpace(changes)
      return queue.submit(prepareChanges(changes))
    },
    due: async (nowMs, limit) => {
      checkDue(nowMs, limit)
      return read(() => readDue(environment, nowMs, limit))
    },
    generation: async () => read(() => readGeneration(environment)),
    integrity: async () => read(() => checkIntegrity(environment)),
    close: () => (closing ??= close()),
  }
}
