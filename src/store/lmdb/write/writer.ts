/**
 * The writer of a store: groups of changes, each with a step of a fold, committed one by one.
 * @module
 */
import { foldPauseMs, foldStepsAheadMax } from '../../../limits.ts'
import type { State } from '../environment.ts'
import type { ChunkCounts } from '../index/postings.ts'
import type { IndexedEnvironment } from '../index/tail.ts'
import { commit, makeCommitQueue, type CommitGroup, type CommitQueue } from './commit.ts'
import { isFoldBehind, isFoldLeft, type FoldSizes } from './fold.ts'
import { writeGroup, type Reserve } from './write-group.ts'

interface CommitterOptions {
  /**
   * Opened for the first commit alone: whoever only reads changes nothing of the file. It is filled
   * within a transaction: no other process takes of it before the commit.
   */
  readonly openOwnReserve: () => Reserve
  readonly fold: FoldSizes
}

interface Committer {
  readonly commitGroup: CommitGroup
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
  { openOwnReserve, fold }: CommitterOptions,
): Committer {
  let reserve: Reserve | undefined
  let state: State | undefined
  let hasMoved = false
  const commitOne: CommitGroup = async take => {
    const own = (reserve ??= openOwnReserve())
    const written = await commit(environment, () => {
      const sets = take()
      return writeGroup(environment, counts, sets, { roomBytes: own.fill(), fold })
    })
    // As the answers that follow promise: every read from here on sees this commit.
    counts.end()
    ;({ state, hasMoved } = written)
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
    close: () => reserve?.close(),
  }
}

export interface WriterOptions extends CommitterOptions {
  readonly onFailure: ((cause: unknown) => void) | undefined
  readonly processes: number
}

/** The commit queue of a store; a fold that has begun goes on while nobody writes. */
export function openWriter(
  environment: IndexedEnvironment,
  counts: ChunkCounts,
  options: WriterOptions,
): CommitQueue {
  const committer = makeCommitter(environment, counts, options)
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
    async close() {
      await queue.close()
      clearTimeout(timer)
      committer.close()
    },
  }
}
