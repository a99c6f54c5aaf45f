/**
 * Group commit: waiting writes are committed together, and answered once they are flushed.
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import { commitCauseMsMax, commitTriesMax, commitMsMax } from '../../core/limits.ts'
import { type LmdbEnvironment } from '../environment.ts'
import { rewriteMeta } from '../store-state.ts'
import { ApiError } from '../../../lib/errors.ts'
import { afterTurning } from '../../../lib/turning-time.ts'
import { StoreClosed, type WriteOutcome } from '../../contract.ts'
import type { SetResult } from '../../core/decide-change.ts'
import { answerGroup, takeGroup, type ChangeSet, type QueuedWrite } from '../../core/write-queue.ts'

/*
 * One transaction of the engine: on disk when its promise resolves.
 *
 * The engine sometimes refuses a commit while it saves its list of free pages, because it reads
 * more of that list while changing the table that holds it (lmdb-js#321). Nothing refers to the
 * pages written by then, if any. An identical retry would mostly ask for the same pages and be
 * refused again; a retry after a commit that moves a page or two mostly succeeds.
 */

/** `MDB_NOTFOUND` and `MDB_BAD_VALSIZE`, from a commit. Source: lmdb.h */
const refusals: readonly unknown[] = [-30_798, -30_781]
/**
 * `MDB_BAD_TXN` is such a refusal only with these words. Otherwise it may be damage that the engine
 * found, or a failed put.
 */
const refusedTransaction = -30_782
const refusedTransactionText = 'reserved freelist'

/**
 * The engine reports the cause of a failed commit by another promise, which may never settle
 * (hardening L8).
 */
async function causeOf(error: unknown): Promise<unknown> {
  const reported = error instanceof Error && 'commitError' in error ? error.commitError : undefined
  if (!(reported instanceof Promise)) return error
  const cause = reported.then(
    () => error,
    (reason: unknown) => reason,
  )
  return Promise.race([cause, setTimeout(commitCauseMsMax, error)])
}

async function isRefusal(error: unknown): Promise<boolean> {
  const cause = await causeOf(error)
  if (cause === error || !(cause instanceof Error) || !('code' in cause)) return false
  const isOfList = cause.message.includes(refusedTransactionText)
  return refusals.includes(cause.code) || (cause.code === refusedTransaction && isOfList)
}

/**
 * Begins a transaction. If its commit fails, the engine rejects one more promise, which it makes in
 * an immediate of its own and which nobody would catch: the immediate here runs after that one.
 */
function begin<T>({ root }: LmdbEnvironment, body: () => T): Promise<T> {
  const nothing = () => {}
  const ended = root.transaction(body)
  setImmediate(() => void root.committed.then(nothing, nothing))
  return ended
}

/**
 * @param body decides and puts; run again if the engine refused the commit, but not if `body`
 *   threw: the engine then reports only that the transaction is broken
 * @throws Error of the engine: it is unknown whether the transaction is on disk
 */
export async function commit<T>(environment: LmdbEnvironment, body: () => T): Promise<T> {
  let hasThrown = false
  const run = (): T => {
    hasThrown = true
    const result = body()
    hasThrown = false
    return result
  }
  for (let tries = 1; ; tries += 1) {
    try {
      return await begin(environment, run)
    } catch (error) {
      if (!(await isRefusal(error)) || hasThrown || tries >= commitTriesMax) throw error
    }
    await begin(environment, () => rewriteMeta(environment))
  }
}

/*
 * Group commit: change sets wait while a transaction commits, then all go into the next one.
 *
 * Invariants: at most one transaction of ours runs at a time; a set is answered only after its
 * transaction is on disk; sets are decided in the order in which they were queued. After a failed
 * commit nothing more is written: a second try proves nothing about the first (hardening section 0,
 * item 5). A commit that the engine refused before writing does not count as failed (`commit`).
 */

/**
 * Commits one group. `take` returns its sets, and may be called only once the transaction began, to
 * include late arrivals. Called again it returns the same; after they were answered, it throws.
 * @param goOn called after each transaction that goes before that of the group
 */
export type CommitGroup = (
  take: () => readonly ChangeSet[],
  goOn: () => void,
) => Promise<readonly SetResult[]>

export interface CommitQueue {
  /** @throws ApiError `unavailable` once the queue is closed or a commit failed */
  submit(changes: ChangeSet): Promise<WriteOutcome>
  /** Accepts no more sets; resolves when all accepted ones are answered. */
  close(): Promise<void>
  /** True after a failed commit. */
  isHalted(): boolean
}

/** Resolves after `waitMs` of turning event loop; never, once `signal` is aborted. */
async function passing(waitMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>(resolve => {
    signal.addEventListener('abort', afterTurning(waitMs, resolve), { once: true })
  })
}

/**
 * Rejects when a commit is overdue; `signal` stops the clock. It measures the engine: time in which
 * this process could not have noticed the end of a commit does not count.
 * @param begun resolves when the transaction has begun
 * @param ended number of transactions that ended before it
 */
async function overdue(
  signal: AbortSignal,
  begun: Promise<void>,
  ended: () => number,
  processes: number,
): Promise<never> {
  if (processes > 1) {
    await Promise.race([begun, passing(processes * commitMsMax, signal)])
  }
  for (let before = -1; before !== ended();) {
    before = ended()
    await passing(commitMsMax, signal)
  }
  throw new Error('the commit did not end')
}

/**
 * @param onFailure is called once, with the cause, after the first failed commit
 * @param processes number of writers of the store. Each of the others may delay the start of a
 *   transaction; their overdue commits must not count against this one
 */
export function makeCommitQueue(
  commitGroup: CommitGroup,
  onFailure: (cause: unknown) => void = () => {},
  processes = 1,
): CommitQueue {
  const waiting: QueuedWrite[] = []
  let running: Promise<void> | undefined
  let isClosed = false
  let failure: ApiError | undefined

  const halt = async (group: readonly QueuedWrite[], error: unknown): Promise<void> => {
    failure = new ApiError('unavailable', 'the store could not commit')
    failure = new ApiError('unavailable', failure.message, undefined, await causeOf(error))
    for (const { reject } of [...group, ...waiting.splice(0)]) reject(failure)
    onFailure(failure.cause)
  }

  const commitNext = async (): Promise<void> => {
    let group: readonly QueuedWrite[] = []
    const begun = Promise.withResolvers<void>()
    const ended = new AbortController()
    const take = (): readonly ChangeSet[] => {
      // A group that waited too long has already been answered.
      ended.signal.throwIfAborted()
      begun.resolve()
      if (group.length === 0) group = takeGroup(waiting)
      return group.map(({ changes }) => changes)
    }
    let commits = 0
    const committed = Promise.race([
      commitGroup(take, () => (commits += 1)),
      overdue(ended.signal, begun.promise, () => commits, processes),
    ]).finally(() => ended.abort())
    try {
      const results = await committed
      answerGroup(group, results)
    } catch (error) {
      await halt(group, error)
    }
  }

  const drain = async (): Promise<void> => {
    while (waiting.length > 0) await commitNext()
    running = undefined
  }

  return {
    submit(changes) {
      if (failure !== undefined) return Promise.reject(failure)
      if (isClosed) return Promise.reject(new StoreClosed())
      return new Promise((resolve, reject) => {
        waiting.push({ changes, resolve, reject })
        running ??= drain()
      })
    },
    async close() {
      isClosed = true
      await running
    },
    isHalted: () => failure !== undefined,
  }
}
