/**
 * Group commit: change sets wait while a transaction commits, then all go into the next one.
 *
 * Invariants: at most one transaction of ours runs at a time; a set is answered only after the
 * transaction that holds it is on disk; a set that was queued before another is decided before it.
 * After a failed commit nothing is written any more: a second try proves nothing about the first
 * (hardening section 0, item 5). One that the engine refused before it wrote is no such (`commit`).
 * @module
 */
import { ApiError } from '../../../errors.ts'
import { commitMsMax, groupCommitBytesMax, groupCommitChangesMax } from '../../../limits.ts'
import { afterTurning } from '../../../turning-time.ts'
import type { WriteOutcome } from '../../contract.ts'
import type { SetResult } from './apply-changes.ts'
import { causeOf } from './commit.ts'
import type { PreparedChange } from './prepare-changes.ts'

export type ChangeSet = readonly PreparedChange[]

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

interface Waiter {
  readonly changes: ChangeSet
  readonly resolve: (outcome: WriteOutcome) => void
  readonly reject: (fault: ApiError) => void
}

function bytesOf(changes: ChangeSet): number {
  let bytes = 0
  for (const change of changes) if ('row' in change) bytes += change.row.value.length
  return bytes
}

/** As many of the first waiters as one transaction may hold; always at least one. */
function takeGroup(waiting: Waiter[]): Waiter[] {
  let changes = 0
  let bytes = 0
  const end = waiting.findIndex((waiter, at) => {
    changes += waiter.changes.length
    bytes += bytesOf(waiter.changes)
    return at > 0 && (changes > groupCommitChangesMax || bytes > groupCommitBytesMax)
  })
  return waiting.splice(0, end < 0 ? waiting.length : end)
}

function answer(group: readonly Waiter[], results: readonly SetResult[]): void {
  group.forEach(({ resolve, reject }, i) => {
    const result = results[i]
    if (result === undefined) reject(new ApiError('internal', 'a change set was not decided'))
    else if ('fault' in result) reject(result.fault)
    else resolve(result.outcome)
  })
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
export function openCommitQueue(
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
      answer(group, results)
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
