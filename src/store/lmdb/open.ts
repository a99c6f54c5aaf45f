/**
 * The LMDB engine of the store: one folder, one file, shared by the processes of one instance.
 *
 * Reads are synchronous within and see the newest state that is on disk; writes go through the
 * commit queue alone. Source: docs/decisions.md, "LMDB engine".
 * @module
 */
import { ApiError } from '../../errors.ts'
import { checkDue, checkQuery, checkUnique, checkWindow } from '../checks.ts'
import type { Row, Store } from '../contract.ts'
import { noChunkCounts, makeChunkCounts, type ChunkCounts } from './index/postings.ts'
import { commit, makeCommitQueue, type CommitGroup } from './write/commit.ts'
import { assertDataFile } from './inspect/damaged-pages.ts'
import {
  openEnvironment,
  type Environment,
  faultOf,
  openMeta,
  readGeneration,
} from './environment.ts'
import {
  freeBytesAt,
  makeSpaceGuard,
  type FreeBytes,
  openReserve,
  type Allocate,
  type Reserve,
  writeGroup,
} from './write/write-group.ts'
import { checkIntegrity, type Finding } from './inspect/integrity.ts'
import { readDue, readPage } from './index/query.ts'
import { prepareChanges } from './write/changes.ts'
import { findRow, readEveryRow } from './rows.ts'

export interface LmdbOptions {
  /** An existing folder, for nothing else than the store. */
  readonly path: string
  /**
   * Of the first row of a new store, so that a test may begin just before the end of a chunk. That
   * row is read in place of one that is not there.
   */
  readonly firstOrdinal?: number
  /** Asked in place of the file system, so that a test may fill it. */
  readonly freeBytes?: FreeBytes
  /** Takes blocks in place of the file system, so that a test may refuse them. */
  readonly allocate?: Allocate
  /**
   * How many of the instance have it open, this one too; 1 when it is not said. Of several, the
   * file was checked before the first one: under their writes the check would look at pages of
   * several states. And the engine keeps one state for a whole turn of the event loop, in which one
   * of them may have answered a write that a read must see.
   */
  readonly processes?: number
  /** Told once when a commit failed: the store writes nothing more, and the process should end. */
  readonly onFailure?: (cause: unknown) => void
}

export interface LmdbStore extends Store {
  /** Walks the whole store and blocks meanwhile; empty when rows and indexes agree. */
  integrity(): Promise<readonly Finding[]>
  /** All rows, oldest first; for a walk in one go. What is no row, `integrity` finds. */
  everyRow(): Iterable<Row>
}

interface Committer {
  readonly commitGroup: CommitGroup
  readonly close: () => void
}

/**
 * @param openOwnReserve opened for the first commit alone: whoever only reads changes nothing of
 *   the file. It is filled within a transaction: no other process takes of it before the commit
 */
function makeCommitter(
  environment: Environment,
  counts: ChunkCounts,
  openOwnReserve: () => Reserve,
): Committer {
  let reserve: Reserve | undefined
  const commitGroup: CommitGroup = async take => {
    const own = (reserve ??= openOwnReserve())
    const results = await commit(environment, () => {
      const sets = take()
      return writeGroup(environment, counts, sets, own.fill())
    })
    // As the answers that follow promise: every read from here on sees this commit.
    counts.end()
    return results
  }
  return { commitGroup, close: () => reserve?.close() }
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
  allocate,
  processes = 1,
  onFailure,
}: LmdbOptions): Promise<LmdbStore> {
  const isShared = processes > 1
  if (!isShared) assertDataFile(path)
  const environment = openEnvironment(path)
  const { root } = environment
  try {
    openMeta(environment, firstOrdinal)
  } catch (error) {
    await root.close()
    throw error
  }
  const counts = isShared ? noChunkCounts : makeChunkCounts()
  const openOwnReserve = () => openReserve(path, freeBytes, allocate)
  const committer = makeCommitter(environment, counts, openOwnReserve)
  const queue = makeCommitQueue(committer.commitGroup, onFailure, processes)
  const assertSpace = makeSpaceGuard(freeBytes)
  let closing: Promise<void> | undefined

  const read = <T>(look: () => T): T => {
    if (closing !== undefined) throw new ApiError('unavailable', 'the store is closed')
    try {
      if (isShared) root.resetReadTxn()
      return look()
    } catch (error) {
      throw faultOf(error)
    }
  }

  // After a failed commit the engine never lets go of its writer (hardening L10).
  const close = async (): Promise<void> => {
    await queue.close()
    committer.close()
    if (!queue.isHalted()) await root.close()
  }

  return {
    find: unique => {
      checkUnique(unique)
      return read(() => findRow(environment, unique, firstOrdinal))
    },
    page: async (query, window) => {
      checkQuery(query)
      checkWindow(window)
      return read(() => readPage(environment, counts, query, window))
    },
    write: async changes => {
      assertSpace(changes)
      return queue.submit(prepareChanges(changes))
    },
    due: async (nowMs, limit) => {
      checkDue(nowMs, limit)
      return read(() => readDue(environment, nowMs, limit))
    },
    generation: () => read(() => readGeneration(environment)),
    integrity: async () => read(() => checkIntegrity(environment)),
    everyRow: () => read(() => readEveryRow(environment)),
    close: () => (closing ??= close()),
  }
}
