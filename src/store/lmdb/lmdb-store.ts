/**
 * The LMDB engine of the store: one folder, one file, shared by the processes of one instance.
 *
 * Reads are synchronous within and see the newest state that is on disk; writes go through the
 * commit queue alone. Source: docs/decisions.md, "LMDB engine".
 * @module
 */
import { ApiError } from '../../lib/errors.ts'
import { eraOrdinals, foldPauseMs, foldStepsAheadMax } from '../core/limits.ts'
import { checkDue, checkQuery, checkWindow } from '../core/queries.ts'
import type { Row } from '../contract.ts'
import { noChunkCounts, makeChunkCounts, type ChunkCounts } from './index/postings.ts'
import { assertDataFile } from './inspect/damaged-pages.ts'
import {
  faultOf,
  checkMeta,
  makeMeta,
  openEnvironment,
  readState,
  type StoreState,
} from './environment.ts'
import {
  followStore,
  withIndex,
  type IndexedEnvironment,
  findGlimpse,
  findRow,
  readEveryRow,
} from './index/tail.ts'
import { foldSizes, isFoldBehind, isFoldLeft, type FoldSizes } from './write/lmdb-fold.ts'
import {
  freeBytesAt,
  makeSpaceGuard,
  type FreeBytes,
  openReserve,
  writeGroup,
  type Allocate,
  type Reserve,
} from './write/write-group.ts'
import { lastCommitOf, usedBytesOf } from './inspect/compact-copy.ts'
import { checkIntegrity } from './inspect/integrity.ts'
import type { OperatedStore, StoreFigures } from '../operated.ts'
import { isReadBefore } from './inspect/readers.ts'
import { scrub } from './inspect/scrub.ts'
import { readDue, readPage } from './index/index-query.ts'
import { prepareChanges } from '../core/decide-change.ts'
import { commit, makeCommitQueue, type CommitGroup, type CommitQueue } from './write/lmdb-commit.ts'

/*
 * The writer: groups of changes, each with a step of a fold, committed one by one.
 */

interface CommitterOptions {
  /**
   * Opened for the first commit alone: a reader changes nothing of the file. It is filled
   * within a transaction: no other process takes of it before the commit.
   */
  readonly openOwnReserve: () => Reserve
  readonly fold: FoldSizes
  /** Run within the next transaction, while nobody else writes to the file. */
  readonly tasks: (() => void)[]
}

interface Committer {
  readonly commitGroup: CommitGroup
  /** How many change sets were committed. */
  readonly writes: () => number
  /**
   * Whether a step of a fold is to come that nobody's write may bring along. Not after a commit
   * that moved nothing: what kept the fold from its step would keep it again.
   */
  readonly hasFoldLeft: () => boolean
  readonly close: () => void
}

function makeCommitter(
  environment: IndexedEnvironment,
  counts: ChunkCounts,
  { openOwnReserve, fold, tasks }: CommitterOptions,
): Committer {
  let reserve: Reserve | undefined
  let state: StoreState | undefined
  let hasMoved = false
  let writes = 0
  const commitOne: CommitGroup = async take => {
    const own = (reserve ??= openOwnReserve())
    const written = await commit(environment, () => {
      const sets = take()
      for (const task of tasks.splice(0)) task()
      return writeGroup(environment, counts, sets, { roomBytes: own.fill(), fold })
    })
    // As the answers that follow promise: every read from here on sees this commit.
    counts.end()
    written.follow?.()
    ;({ state, hasMoved } = written)
    writes += written.results.length
    return written.results
  }
  const hasFoldLeft = (): boolean =>
    hasMoved && state !== undefined && isFoldLeft(environment, state, fold)
  const mustWait = (): boolean =>
    state !== undefined && isFoldBehind(environment, state, fold) && hasFoldLeft()
  return {
    async commitGroup(take) {
      for (let i = 0; i < foldStepsAheadMax && mustWait(); i += 1) await commitOne(() => [])
      return commitOne(take)
    },
    hasFoldLeft,
    writes: () => writes,
    close: () => reserve?.close(),
  }
}

interface WriterOptions extends Omit<CommitterOptions, 'tasks'> {
  readonly onFailure: ((cause: unknown) => void) | undefined
  readonly processes: number
}

interface Writer extends CommitQueue, Pick<Committer, 'writes'> {
  /** Runs a task while nobody else writes to the file. */
  readonly alone: (task: () => void) => Promise<void>
}

/** The commit queue of a store; a fold that has begun goes on while nobody writes. */
function openWriter(
  environment: IndexedEnvironment,
  counts: ChunkCounts,
  options: WriterOptions,
): Writer {
  const tasks: (() => void)[] = []
  const committer = makeCommitter(environment, counts, { ...options, tasks })
  let timer: ReturnType<typeof setTimeout> | undefined
  const foldOn = (): void => {
    timer = undefined
    // A store that was closed, or cannot write, has told others so.
    queue.submit([]).catch(() => {})
  }
  const commitGroup: CommitGroup = async take => {
    const results = await committer.commitGroup(take)
    if (committer.hasFoldLeft()) timer ??= setTimeout(foldOn, foldPauseMs)
    return results
  }
  const queue = makeCommitQueue(commitGroup, options.onFailure, options.processes)
  return {
    ...queue,
    writes: committer.writes,
    async alone(task) {
      const ended = Promise.withResolvers<void>()
      // Thrown within the commit, it would end all writes.
      tasks.push(() => {
        try {
          ended.resolve(task())
        } catch (error) {
          ended.reject(error)
        }
      })
      await Promise.all([ended.promise, queue.submit([])])
    },
    async close() {
      await queue.close()
      clearTimeout(timer)
      committer.close()
    },
  }
}

/*
 * The store.
 */

export interface LmdbOptions {
  /** An existing folder, for nothing else than the store. */
  readonly path: string
  /**
   * Of the first row of a new store, so that a test may begin just before the end of a chunk. That
   * row is read in place of one that is not there.
   */
  readonly firstOrdinal?: number
  /**
   * For readers alone. The engine keeps a file beside the database all the same, where the
   * folder may be written.
   */
  readonly readOnly?: boolean
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
  /**
   * Whether who had it open before ended out of order, as a damaged page ends a process: then every
   * page is looked at, however many there are.
   */
  readonly wasKilled?: boolean
  /** Other sizes of folds, so that a test may see one in many steps. */
  readonly fold?: Partial<FoldSizes>
  /** Told once when a commit failed: the store writes nothing more, and the process should end. */
  readonly onFailure?: (cause: unknown) => void
  /**
   * Told once when something of the newest rows is not what was written: they are not folded any
   * more, and each process reads them all at its start, until `integrity` has said what it is.
   */
  readonly onDamage?: () => void
}

export interface LmdbStore extends OperatedStore {
  scrub(sealed: readonly Uint8Array[]): Promise<number>
  figures(): StoreFigures
  /** How far rows are folded, for what measures or waits. */
  state(): StoreState
  everyRow(): Iterable<Row>
}

const eraOf = (nextOrdinal: number): number => Math.floor(nextOrdinal / eraOrdinals) % 2 ** 32

/** Follows the store, and tells of damage where it is first met. */
function makeFollower(environment: IndexedEnvironment, onDamage?: () => void): () => StoreState {
  let tell = onDamage
  return () => {
    const state = followStore(environment)
    if (environment.tail.isDamaged) {
      tell?.()
      tell = undefined
    }
    return state
  }
}

/** @throws ApiError `storage_corrupt`, as `checkMeta`, with nothing left open */
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
    nextOrdinal,
    waiting: nextOrdinal - foldedTo,
  }
}

/** After a failed commit the engine never lets go of its writer (hardening L10). */
async function closeAll(writer: Writer, { root }: IndexedEnvironment): Promise<void> {
  await writer.close()
  if (!writer.isHalted()) await root.close()
}

/** A reader of a state before that commit reads what would be overwritten: then nothing is. */
const scrubAfter = (
  commits: number,
  path: string,
  sealed: readonly Uint8Array[],
  { environment, writer }: { environment: IndexedEnvironment; writer: Writer },
): Promise<number> =>
  scrub(path, sealed, overwrite =>
    writer.alone(() => {
      if (!isReadBefore(environment, commits)) overwrite()
    }),
  )

/**
 * Opens a store, and makes it where the folder has none.
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
      if (isShared) environment.root.resetReadTxn()
      return look()
    } catch (error) {
      throw faultOf(error)
    }
  }

  const newest = makeFollower(environment, onDamage)
  const follow = <T>(look: (state: StoreState) => T): T => read(() => look(newest()))

  return {
    find: unique => follow(() => findRow(environment, unique, firstOrdinal)),
    glance: (unique, parts) => follow(() => findGlimpse(environment, unique, firstOrdinal, parts)),
    page: async (query, window) => {
      checkQuery(query)
      checkWindow(window)
      return follow(state => readPage(environment, state, counts, query, window))
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
    era: () => eraOf(environment.tail.state?.nextOrdinal ?? firstOrdinal),
    scrub: async sealed => {
      const { commits } = read(() => figuresOf(environment, writer))
      return scrubAfter(commits, path, sealed, { environment, writer })
    },
    figures: () => read(() => figuresOf(environment, writer)),
    integrity: async progress => follow(state => checkIntegrity(environment, state, progress)),
    state: () => read(() => readState(environment)),
    everyRow: () => read(() => readEveryRow(environment)),
    close: () => (closing ??= closeAll(writer, environment)),
  }
}
