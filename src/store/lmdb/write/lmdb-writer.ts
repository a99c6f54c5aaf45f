/**
 * The writer of a store: groups of changes, each with a step of a fold, committed one by one.
 * @module
 */
import type { SetResult } from '../../core/decide-change.ts'
import { foldPauseMs, foldStepsAheadMax, readerLookCommits } from '../../core/limits.ts'
import type { ChangeSet } from '../../core/write-queue.ts'
import { dropDeadReaders } from '../environment.ts'
import type { ChunkCounts } from '../index/postings.ts'
import type { IndexedEnvironment } from '../index/tail.ts'
import type { SumKeeper } from '../kept-sum.ts'
import type { StoreState } from '../store-state.ts'
import type { Reserve } from './disk-reserve.ts'
import { commit, makeCommitQueue, type CommitGroup, type CommitQueue } from './lmdb-commit.ts'
import { isFoldBehind, isFoldLeft, type FoldSizes } from './lmdb-fold.ts'
import { writeGroup } from './write-group.ts'

interface CommitterOptions {
  /**
   * Opened only for the first commit, because a reader must not change the file. Topped up within a
   * transaction, so that no other process uses it before the commit.
   */
  readonly openOwnReserve: () => Reserve
  readonly fold: FoldSizes
  readonly sums: SumKeeper
  /** Run within the next transaction, while no other process writes to the file. */
  readonly tasks: (() => void)[]
}

interface Committer {
  readonly commitGroup: CommitGroup
  /** Number of committed change sets. */
  readonly writes: () => number
  /**
   * True if a fold has a step left that no write may come to carry. False after a commit that moved
   * nothing: whatever kept the fold from its step would keep it again.
   */
  readonly hasFoldLeft: () => boolean
  readonly close: () => void
}

function makeCommitter(
  environment: IndexedEnvironment,
  counts: ChunkCounts,
  { openOwnReserve, fold, sums, tasks }: CommitterOptions,
): Committer {
  let reserve: Reserve | undefined
  let state: StoreState | undefined
  let hasPut = false
  let writes = 0
  let commits = 0
  async function commitOne(take: () => readonly ChangeSet[]): Promise<readonly SetResult[]> {
    const own = (reserve ??= openOwnReserve())
    commits += 1
    if (commits % readerLookCommits === 0) dropDeadReaders(environment.root)
    const written = await commit(environment, () => {
      const sets = take()
      for (const task of tasks.splice(0)) task()
      return writeGroup(environment, counts, sets, { roomBytes: own.topUp(), fold, sums })
    })
    // Keeps the promise of the answers that follow: every later read sees this commit.
    counts.end()
    written.follow?.()
    ;({ state, hasPut } = written)
    writes += written.results.length
    return written.results
  }
  const hasFoldLeft = (): boolean =>
    hasPut && state !== undefined && isFoldLeft(environment, state, fold)
  const mustWait = (): boolean =>
    state !== undefined && isFoldBehind(environment, state, fold) && hasFoldLeft()
  return {
    async commitGroup(take, goOn) {
      for (let i = 0; i < foldStepsAheadMax && mustWait(); i += 1) {
        await commitOne(() => [])
        goOn()
      }
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

export interface Writer extends CommitQueue, Pick<Committer, 'writes'> {
  /** Runs a task while no other process writes to the file. */
  readonly runAlone: (task: () => void) => Promise<void>
}

/** Opens the commit queue of a store; a fold in progress goes on while no writes arrive. */
export function openWriter(
  environment: IndexedEnvironment,
  counts: ChunkCounts,
  options: WriterOptions,
): Writer {
  const tasks: (() => void)[] = []
  const committer = makeCommitter(environment, counts, { ...options, tasks })
  let timer: ReturnType<typeof setTimeout> | undefined
  const foldOn = (): void => {
    timer = undefined
    // A store that is closed or cannot write has reported that elsewhere.
    queue.submit([]).catch(() => {})
  }
  const commitGroup: CommitGroup = async (...asked) => {
    const results = await committer.commitGroup(...asked)
    if (committer.hasFoldLeft()) timer ??= setTimeout(foldOn, foldPauseMs)
    return results
  }
  const queue = makeCommitQueue(commitGroup, options.onFailure, options.processes)
  return {
    ...queue,
    writes: committer.writes,
    async runAlone(task) {
      const ended = Promise.withResolvers<void>()
      // An error thrown within the commit would end all writes.
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
