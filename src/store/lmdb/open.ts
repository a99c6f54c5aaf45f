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
import { noChunkCounts, makeChunkCounts } from './index/postings.ts'
import { assertDataFile } from './inspect/damaged-pages.ts'
import { faultOf, openEnvironment, openMeta, readState, type State } from './environment.ts'
import { followStore, withIndex, type IndexedEnvironment } from './index/tail.ts'
import { foldSizes, type FoldSizes } from './write/fold.ts'
import {
  freeBytesAt,
  makeSpaceGuard,
  type FreeBytes,
  openReserve,
  type Allocate,
} from './write/write-group.ts'
import { checkIntegrity, type Finding } from './inspect/integrity.ts'
import { readDue, readPage } from './index/query.ts'
import { prepareChanges } from './write/changes.ts'
import { openWriter } from './write/writer.ts'
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
  /** Other sizes of folds, so that a test may see one in many steps. */
  readonly fold?: Partial<FoldSizes>
  /** Told once when a commit failed: the store writes nothing more, and the process should end. */
  readonly onFailure?: (cause: unknown) => void
}

export interface LmdbStore extends Store {
  /** Walks the whole store and blocks meanwhile; empty when rows and indexes agree. */
  integrity(): Promise<readonly Finding[]>
  /** How far rows are folded, for whoever measures or waits. */
  state(): State
  /** All rows, oldest first; for a walk in one go. What is no row, `integrity` finds. */
  everyRow(): Iterable<Row>
}

/** @throws ApiError `storage_corrupt`, as `openMeta`, with nothing left open */
async function openIndexed(path: string, firstOrdinal: number): Promise<IndexedEnvironment> {
  const environment = withIndex(openEnvironment(path))
  try {
    openMeta(environment, firstOrdinal)
    return environment
  } catch (error) {
    await environment.root.close()
    throw error
  }
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
  fold = {},
  onFailure,
}: LmdbOptions): Promise<LmdbStore> {
  const isShared = processes > 1
  if (!isShared) assertDataFile(path)
  const environment = await openIndexed(path, firstOrdinal)
  const { root } = environment
  const counts = isShared ? noChunkCounts : makeChunkCounts()
  const writer = openWriter(environment, counts, {
    openOwnReserve: () => openReserve(path, freeBytes, allocate),
    fold: { ...foldSizes, ...fold },
    onFailure,
    processes,
  })
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

  const follow = <T>(look: (state: State) => T): T => read(() => look(followStore(environment)))

  // After a failed commit the engine never lets go of its writer (hardening L10).
  const close = async (): Promise<void> => {
    await writer.close()
    if (!writer.isHalted()) await root.close()
  }

  return {
    find: unique => {
      checkUnique(unique)
      return follow(() => findRow(environment, unique, firstOrdinal))
    },
    page: async (query, window) => {
      checkQuery(query)
      checkWindow(window)
      return follow(state => readPage(environment, state, counts, query, window))
    },
    write: async changes => {
      assertSpace(changes)
      return writer.submit(prepareChanges(changes))
    },
    due: async (nowMs, limit) => {
      checkDue(nowMs, limit)
      return follow(() => readDue(environment, nowMs, limit))
    },
    generation: () => read(() => readState(environment).generation),
    integrity: async () => follow(state => checkIntegrity(environment, state)),
    state: () => read(() => readState(environment)),
    everyRow: () => read(() => readEveryRow(environment)),
    close: () => (closing ??= close()),
  }
}
