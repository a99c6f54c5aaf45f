/**
 * Group commit over a database that may fail: waiting writes are committed together, exactly once.
 *
 * A connection lost during its COMMIT leaves the outcome unknown. So each writer has a receipt,
 * which each of its groups locks first, and updates: a writer that starts over waits there for
 * whatever is still in progress, and then reads whether it landed. A writer has one group at a
 * time; a vault has several writers, so that one group is decided while another is flushed. Source:
 * docs/many-machines.md, "Exactly once".
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../../../lib/errors.ts'
import { StoreClosed, type SumSealer, type WriteOutcome } from '../../contract.ts'
import type { SetResult } from '../../core/decide-change.ts'
import { gatheredMax, gatheredMin, receiptHoursMax, writesPerWriterMin } from '../../core/limits.ts'
import { answerGroup, takeGroup, type ChangeSet, type QueuedWrite } from '../../core/write-queue.ts'
import type { DatabaseTimeouts } from '../timeouts.ts'
import type { Pool } from '../pool.ts'
import type { Tables } from '../schema.ts'
import { DatabaseError, databaseErrorOf, faultOf, retry } from '../database-error.ts'
import { beginWriter } from './begin-writer.ts'
import { makeTries, newGroup, type Begun } from './try-group.ts'

const hourMs = 60 * 60 * 1_000

interface Writer {
  readonly pool: Pool
  readonly tables: Tables
  /** Makes an id that no writer has, 16 bytes. */
  readonly newId: () => Uint8Array
  /** Returns the functions of the sum over all rows, once the store was handed them. */
  readonly sealer: () => SumSealer | undefined
  readonly bounds: DatabaseTimeouts
  readonly elapsedMs: () => number
  /** Called when the database has not what it said was done (`try-group.ts`). */
  readonly onLoss: () => void
}

/**
 * True for a fault of what one set changes or meets, which others do not share. With an SQLSTATE
 * the database has refused it, and nothing of its group landed.
 */
const isOfOneSet = ({ kind, cause }: ApiError): boolean =>
  kind === 'storage_corrupt' ||
  (kind === 'internal' && cause instanceof DatabaseError && cause.state !== undefined)

/** Commits each set as its own group, so that the fault of one leaves the others unaffected. */
async function commitEach(
  commit: (sets: readonly ChangeSet[]) => Promise<SetResult[]>,
  sets: readonly ChangeSet[],
): Promise<SetResult[]> {
  const results: SetResult[] = []
  for (const set of sets) {
    try {
      results.push(...(await commit([set])))
    } catch (error) {
      const fault = faultOf(error)
      results.push({ fault })
      if (fault.kind === 'unavailable') break
    }
  }
  const fault = faultOf(new DatabaseError('lost'))
  return sets.map((_, i) => results[i] ?? { fault })
}

/** Commits one group at a time. @throws ApiError: nothing is known to have landed */
function makeCommitter(own: Writer, onRetry: () => void) {
  const { pool, tables, newId, sealer: sealerNow, bounds, elapsedMs, onLoss } = own
  let groups = 0
  let begun: Begun | undefined
  const nextNumber = (): number => (groups += 1)
  const onEnd = (): void => void (begun = undefined)
  let usedMs = -Infinity
  // Half of it: two clocks measure it.
  const isRecent = (): boolean => elapsedMs() - usedMs < (receiptHoursMax / 2) * hourMs
  const tryOnce = makeTries({ tables, nextNumber, onEnd, onLoss, isRecent })

  async function begin(msMax: number): Promise<Begun> {
    const [writer, sealer] = [newId(), sealerNow()]
    const part = await beginWriter(pool, tables, writer, sealer, msMax)
    // It is not looked at whether standbys have this, so that a failover may lose it.
    usedMs = -Infinity
    return { writer, sealer, part }
  }

  async function commit(sets: readonly ChangeSet[]): Promise<SetResult[]> {
    const group = newGroup(nextNumber())
    let isLost = false
    if (begun?.sealer !== sealerNow()) begun = undefined
    try {
      return await retry({ elapsedMs, msMax: bounds.writeMs, onRetry }, async msLeft => {
        const msMax = Math.min(bounds.tryMs, msLeft)
        const as = (begun ??= await begin(msMax))
        const results = await pool
          .hold(msMax, session => tryOnce({ session, begun: as, sets, group }))
          .catch((error: unknown) => {
            isLost ||= !(error instanceof ApiError) && databaseErrorOf(error).kind === 'lost'
            throw error
          })
        usedMs = elapsedMs()
        return results
      })
    } catch (error) {
      // A lost try may have landed: then none of it may be repeated.
      const isWhole = isLost || sets.length === 1 || !isOfOneSet(faultOf(error))
      if (isWhole) throw error
      return commitEach(commit, sets)
    }
  }
  return commit
}

export interface WriteQueue {
  /** @throws ApiError `unavailable` if no database took it in time, or the queue is closed */
  readonly submit: (changes: ChangeSet) => Promise<WriteOutcome>
  readonly close: () => Promise<void>
  /** Number of committed change sets. */
  readonly writes: () => number
  /** Number of sets waiting for a group, and of retries. */
  readonly figures: () => { readonly writesWaiting: number; readonly retries: number }
}

type Commit = ReturnType<typeof makeCommitter>

export function makeWriteQueue(writers: readonly Writer[]): WriteQueue {
  let retries = 0
  const countRetry = (): void => void (retries += 1)
  const idle = writers.map(writer => makeCommitter(writer, countRetry))
  const draining = new Set<Promise<void>>()
  const waiting: QueuedWrite[] = []
  let isClosed = false
  let writes = 0

  async function commitNext(commit: Commit): Promise<void> {
    const group = takeGroup(waiting)
    try {
      answerGroup(group, await commit(group.map(({ changes }) => changes)))
      writes += group.length
    } catch (error) {
      const fault = faultOf(error)
      // Writes behind it waited for the same database, but do not have its fault.
      const behind = isOfOneSet(fault) ? [] : waiting.splice(0)
      for (const { reject } of [...group, ...behind]) reject(fault)
    }
  }

  /** Many requests that come together start in several turns of the loop; this gathers them. */
  async function gathered(): Promise<void> {
    for (let known = gatheredMin - 1; waiting.length > known && known < gatheredMax;) {
      known = waiting.length
      await setImmediate()
    }
  }

  async function drain(commit: Commit): Promise<void> {
    // Writes of the same turn of the loop go along.
    await Promise.resolve()
    while (waiting.length > 0) {
      await gathered()
      await commitNext(commit)
    }
    // In the turn in which the queue was found empty: a later write finds this writer idle.
    idle.push(commit)
  }

  /** Starts another writer only under load: larger groups cost less per write. */
  function start(): void {
    const busy = writers.length - idle.length
    if (waiting.length <= writesPerWriterMin * busy) return
    const commit = idle.pop()
    if (commit === undefined) return
    const until: Promise<void> = drain(commit).finally(() => draining.delete(until))
    draining.add(until)
  }

  return {
    submit(changes) {
      if (isClosed) return Promise.reject(new StoreClosed())
      return new Promise((resolve, reject) => {
        waiting.push({ changes, resolve, reject })
        start()
      })
    },
    async close() {
      isClosed = true
      await Promise.all(draining)
    },
    writes: () => writes,
    figures: () => ({ writesWaiting: waiting.length, retries }),
  }
}
