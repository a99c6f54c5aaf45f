/**
 * Group commit: writes that wait are committed together, and answered once they are flushed.
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import { commitCauseMsMax, commitTriesMax, commitMsMax } from '../../core/limits.ts'
import { type LmdbEnvironment, rewriteMeta } from '../environment.ts'
import { ApiError } from '../../../lib/errors.ts'
import { afterTurning } from '../../../lib/waiting.ts'
import type { WriteOutcome } from '../../contract.ts'
import type { SetResult } from '../../core/decide-change.ts'
import { answerGroup, takeGroup, type ChangeSet, type Waiter } from '../../core/write-queue.ts'

/*
 * One transaction of the engine: on disk when its promise resolves.
 *
 * The engine refuses a commit now and then while it saves its list of free pages, as it reads more
 * of that list amid a change of the table that holds it (lmdb-js#321). Nothing refers to what it
 * has written by then, if it has written at all. The same once more would mostly ask for the same
 * pages and be refused again; behind a commit that moves a page or two it mostly is not.
 */

/** `MDB_NOTFOUND` and `MDB_BAD_VALSIZE`, of a commit. Source: lmdb.h */
const refusals: readonly unknown[] = [-30_798, -30_781]
/**
 * `MDB_BAD_TXN` is that as well with these words. With others it can be damage that the engine has
 * found, or a put that it could not do.
 */
const refusedTransaction = -30_782
const refusedTransactionText = 'reserved freelist'

/**
 * The engine tells the cause of a failed commit by another promise, which may never settle
 * (hardening L8).
 */
async function causeOf(error: unknown): Promise<unknown> {
  const told = error instanceof Error && 'commitError' in error ? error.commitError : undefined
  if (!(told instanceof Promise)) return error
  const cause = told.then(
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
 * A failed commit rejects one more promise, which the engine makes by an immediate of its own and
 * nobody else would catch: this one comes after that.
 */
function begin<T>({ root }: LmdbEnvironment, body: () => T): Promise<T> {
  const nothing = () => {}
  const ended = root.transaction(body)
  setImmediate(() => void root.committed.then(nothing, nothing))
  return ended
}

/**
 * @param body decides and puts; it is run again where the engine refused the commit, and not where
 *   it has thrown: the engine tells only that such a transaction is broken
 * @throws Error of the engine: whether it is on disk is not known
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
 * Invariants: at most one transaction of ours runs at a time; a set is answered only after the
 * transaction that holds it is on disk; a set that was queued before another is decided before it.
 * After a failed commit nothing is written any more: a second try proves nothing about the first
 * (hardening section 0, item 5). One that the engine refused before it wrote is no such (`commit`).
 */

/**
 * Commits one group. `take` gives its sets, and may be called only once the transaction began: what
 * came until then goes along. Called again it gives the same; once they were answered, it throws.
 */
export type CommitGroup = (take: () => readonly ChangeSet[]) => Promise<readonly SetResult[]>

export interface CommitQueue {
  /** @throws ApiError `unavailable` once the queue is closed or a commit failed */
  submit(changes: ChangeSet): Promise<WriteOutcome>
  /** Takes nothing more; resolves when all that was taken is answered. */
  close(): Promise<void>
  /** Whether a commit failed. */
  isHalted(): boolean
}

/** Resolves after so long; never, once `signal` is aborted. */
async function passing(waitMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>(resolve => {
    signal.addEventListener('abort', afterTurning(waitMs, resolve), { once: true })
  })
}

/**
 * Rejects when a commit is overdue; `signal` stops the clock. It measures the engine: time in which
 * this process could not have heard of the end of a commit does not count.
 * @param begun resolves when the transaction has begun
 */
async function overdue(
  signal: AbortSignal,
  begun: Promise<void>,
  processes: number,
): Promise<never> {
  if (processes > 1) {
    await Promise.race([begun, passing(processes * commitMsMax, signal)])
  }
  await passing(commitMsMax, signal)
  throw new Error('the commit did not end')
}

/**
 * @param onFailure is told once, with the cause, after the first commit that failed
 * @param processes how many write the store. Each of the others may keep a transaction from
 *   beginning: those whose own commits are overdue must not take this one with them
 */
export function makeCommitQueue(
  commitGroup: CommitGroup,
  onFailure: (cause: unknown) => void = () => {},
  processes = 1,
): CommitQueue {
  const waiting: Waiter[] = []
  let running: Promise<void> | undefined
  let isClosed = false
  let failure: ApiError | undefined

  const halt = async (group: readonly Waiter[], error: unknown): Promise<void> => {
    failure = new ApiError('unavailable', 'the store could not commit')
    failure = new ApiError('unavailable', failure.message, undefined, await causeOf(error))
    for (const { reject } of [...group, ...waiting.splice(0)]) reject(failure)
    onFailure(failure.cause)
  }

  const commitNext = async (): Promise<void> => {
    let group: readonly Waiter[] = []
    const begun = Promise.withResolvers<void>()
    const ended = new AbortController()
    const take = (): readonly ChangeSet[] => {
      // What waited too long was answered.
      ended.signal.throwIfAborted()
      begun.resolve()
      if (group.length === 0) group = takeGroup(waiting)
      return group.map(({ changes }) => changes)
    }
    const committed = Promise.race([
      commitGroup(take),
      overdue(ended.signal, begun.promise, processes),
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
      if (isClosed) return Promise.reject(new ApiError('unavailable', 'the store is closed'))
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
