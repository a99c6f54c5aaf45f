/**
 * The LMDB engine of the store: one folder, one file, shared by the processes of one instance.
 *
 * Reads are synchronous and see the newest state on disk; writes go only through the commit queue.
 * Source: docs/decisions.md, "LMDB engine".
 * @module
 */
import { makeKeptExpired } from '../core/kept-expired.ts'
import { eraOrdinals, unsettledMs } from '../core/limits.ts'
import { checkDue, checkQuery, checkWindow } from '../core/queries.ts'
import { StoreClosed, type Row } from '../contract.ts'
import { noChunkCounts, makeChunkCounts } from './index/postings.ts'
import { assertDataFile } from './inspect/damaged-pages.ts'
import { faultOf, lastCommitOf, logBytesOf, openEnvironment, usedBytesOf } from './environment.ts'
import { checkMeta, makeMeta, readState, type StoreState } from './store-state.ts'
import { followStore, withIndex, type IndexedEnvironment } from './index/tail.ts'
import { findGlimpse, findRow, readEveryRow } from './index/read-rows.ts'
import { foldSizes, type FoldSizes } from './write/lmdb-fold.ts'
import {
  freeBytesAt,
  makeSpaceGuard,
  type FreeBytes,
  openReserve,
  type Allocate,
} from './write/disk-reserve.ts'
import { checkIntegrity } from './inspect/integrity.ts'
import type { OperatedStore, StoredSum, StoreFigures } from '../operated.ts'
import { isReadBefore, scrub } from './maintenance/scrub.ts'
import { readDue, readPage, type KeptForPages } from './index/index-query.ts'
import { makeSumKeeper, readSum } from './kept-sum.ts'
import { logReadsOf } from './log-table.ts'
import { prepareChanges } from '../core/prepare-change.ts'
import { openWriter, type Writer } from './write/lmdb-writer.ts'

export interface LmdbOptions {
  /** An existing folder, used only for the store. */
  readonly path: string
  /**
   * Ordinal of the first row of a new store, so that a test may begin just before the end of a
   * chunk. Reads of a missing row read this row instead.
   */
  readonly firstOrdinal?: number
  /** For readers. The engine still keeps a file beside the database if the folder is writable. */
  readonly readOnly?: boolean
  /** Replaces the file system's free space, so that a test may fill it. */
  readonly freeBytes?: FreeBytes
  /** Replaces the file system's allocation, so that a test may refuse it. */
  readonly allocate?: Allocate
  /**
   * Number of processes of the instance that have it open, including this one; default 1. With
   * several, the file was checked before the first opened it: under their writes a check would see
   * pages of several states. Also, the engine keeps one state for a whole turn of the event loop,
   * in which another process may have acknowledged a write that a read must see.
   */
  readonly processes?: number
  /**
   * True if the last process that had it open crashed, as a damaged page would make it: then every
   * page is checked, whatever the size.
   */
  readonly wasKilled?: boolean
  /** Other fold sizes, so that a test may watch one in many steps. */
  readonly fold?: Partial<FoldSizes>
  /** Called once when a commit failed: nothing more is written, and the process should end. */
  readonly onFailure?: (cause: unknown) => void
  /**
   * Called once if one of the newest rows is not as it was written: folding stops, and each process
   * reads all unfolded rows at its start, until `integrity` has named the damage.
   */
  readonly onDamage?: () => void
}

export interface LmdbStore extends OperatedStore {
  scrub(sealed: readonly Uint8Array[]): Promise<number>
  figures(): StoreFigures
  /** Progress of folding, for measurements and for waiting. */
  state(): StoreState
  everyRow(): Iterable<Row>
  storedSum(): StoredSum
}

const eraOf = (nextOrdinal: number): number => Math.floor(nextOrdinal / eraOrdinals) % 2 ** 32

/** Follows the store, and reports damage when it is first met. */
function makeFollower(environment: IndexedEnvironment, onDamage?: () => void): () => StoreState {
  let report = onDamage
  return () => {
    const state = followStore(environment)
    if (environment.tail.isDamaged) {
      report?.()
      report = undefined
    }
    return state
  }
}

/** @throws ApiError `storage_corrupt`, as `checkMeta`, and leaves nothing open */
async function openIndexed(
  path: string,
  firstOrdinal: number,
  readOnly: boolean,
): Promise<IndexedEnvironment> {
  const environment = withIndex(openEnvironment(path, readOnly))
  try {
    if (!readOnly) makeMeta(environment, firstOrdinal)
    checkMeta(environment)
    return environment
  } catch (error) {
    await environment.root.close()
    throw error
  }
}

function figuresOf(environment: IndexedEnvironment, writer: Writer) {
  const { nextOrdinal, foldedTo } = readState(environment)
  return {
    commits: lastCommitOf(environment),
    writes: writer.writes(),
    usedBytes: usedBytesOf(environment),
    logBytes: logBytesOf(environment),
    nextOrdinal,
    waiting: nextOrdinal - foldedTo,
  }
}

/** After a failed commit the engine never releases its writer (hardening L10). */
async function closeAll(writer: Writer, { root }: IndexedEnvironment): Promise<void> {
  await writer.close()
  if (!writer.isHalted()) await root.close()
}

/** Scrubs the file, but overwrites nothing while a reader has a state from before that commit. */
const scrubAfter = (
  commits: number,
  path: string,
  sealed: readonly Uint8Array[],
  { environment, writer }: { environment: IndexedEnvironment; writer: Writer },
): Promise<number> =>
  scrub(path, sealed, overwrite =>
    writer.runAlone(() => {
      if (!isReadBefore(environment, commits)) overwrite()
    }),
  )

/** Runs reads, in the newest state; an error of the engine becomes a fault. */
const makeRead =
  ({ root }: IndexedEnvironment, isShared: boolean, isClosed: () => boolean) =>
  <T>(work: () => T): T => {
    if (isClosed()) throw new StoreClosed()
    try {
      if (isShared) root.resetReadTxn()
      return work()
    } catch (error) {
      throw faultOf(error)
    }
  }

type Read = ReturnType<typeof makeRead>

/**
 * Runs a read, and lets go of its state at once: a command that prints what it reads may wait for
 * its reader for ever, and pages freed meanwhile would not be reused.
 */
const releasing =
  ({ root }: IndexedEnvironment, read: Read): Read =>
  work => {
    try {
      return read(work)
    } finally {
      root.resetReadTxn()
    }
  }

const makeKeptForPages = (isShared: boolean): KeptForPages => ({
  counts: isShared ? noChunkCounts : makeChunkCounts(),
  expired: makeKeptExpired(unsettledMs),
})

/**
 * Opens a store, and creates it if the folder has none.
 * @throws ApiError `storage_corrupt` when the store is of another format or was damaged; the
 *   system's own error when the folder cannot be used
 */
export async function openLmdbStore({
  path,
  firstOrdinal = 1,
  readOnly = false,
  freeBytes = freeBytesAt(path),
  allocate,
  processes = 1,
  wasKilled = false,
  fold = {},
  onFailure,
  onDamage,
}: LmdbOptions): Promise<LmdbStore> {
  const isShared = processes > 1
  if (!isShared) assertDataFile(path, wasKilled)
  const environment = await openIndexed(path, firstOrdinal, readOnly)
  const kept = makeKeptForPages(isShared)
  const sums = makeSumKeeper(environment)
  const writer = openWriter(environment, kept.counts, {
    openOwnReserve: () => openReserve(path, freeBytes, allocate),
    fold: { ...foldSizes, ...fold },
    sums,
    onFailure,
    processes,
  })
  const assertSpace = makeSpaceGuard(freeBytes)
  let closing: Promise<void> | undefined

  const read = makeRead(environment, isShared, () => closing !== undefined)
  const followNewest = makeFollower(environment, onDamage)
  const follow = <T>(work: (state: StoreState) => T): T => read(() => work(followNewest()))

  return {
    find: unique => follow(() => findRow(environment, unique, firstOrdinal)),
    glance: (unique, parts) => follow(() => findGlimpse(environment, unique, firstOrdinal, parts)),
    page: async (query, window) => {
      checkQuery(query)
      checkWindow(window)
      return follow(state => readPage(environment, state, kept, query, window))
    },
    write: async changes => {
      assertSpace(changes)
      return writer.submit(prepareChanges(changes))
    },
    rowsFrom: async (ordinal, limit) =>
      read(() => readEveryRow(environment, ordinal).take(limit).toArray()),
    due: async (nowMs, limit) => {
      checkDue(nowMs, limit)
      return follow(() => readDue(environment, nowMs, limit))
    },
    generation: () => read(() => readState(environment).generation),
    ...logReadsOf(environment, readOnly ? releasing(environment, read) : read),
    era: () => eraOf(environment.tail.state?.nextOrdinal ?? firstOrdinal),
    scrub: async sealed => {
      const { commits } = read(() => figuresOf(environment, writer))
      return scrubAfter(commits, path, sealed, { environment, writer })
    },
    keepSum: sums.keep,
    storedSum: () => read(() => readSum(environment)),
    figures: () => read(() => figuresOf(environment, writer)),
    integrity: async progress => follow(state => checkIntegrity(environment, state, progress)),
    state: () => read(() => readState(environment)),
    everyRow: () => read(() => readEveryRow(environment)),
    eachRow: take =>
      read(() => {
        for (const row of readEveryRow(environment)) take(row)
        return readSum(environment)
      }),
    close: () => (closing ??= closeAll(writer, environment)),
  }
}
