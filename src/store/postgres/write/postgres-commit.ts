/**
 * Group commit over a database that may go away: writes that wait go together, each exactly once.
 *
 * A connection that is lost amid its COMMIT does not tell whether that landed. So each writer has a
 * receipt, which every group of it changes and locks first: a writer that begins again waits for
 * what is still under way there, and then reads whether it landed. A writer has one group at a
 * time; a vault has several writers, so that one is decided while another is flushed.
 * Source: docs/many-machines.md, "Exactly once".
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../../../lib/errors.ts'
import type { WriteOutcome } from '../../contract.ts'
import { applySet, makeGroupDraft, type SetResult } from '../../core/decide-change.ts'
import { gatheredMax, gatheredMin, laneWritesMin } from '../../core/limits.ts'
import { answerGroup, takeGroup, type ChangeSet, type Waiter } from '../../core/write-queue.ts'
import type { DatabaseTimeouts } from '../timeouts.ts'
import type { Pool, DatabaseSession } from '../pool.ts'
import { persist } from '../retried-reads.ts'
import { commitRead } from './landed-commits.ts'
import { hasLeft, leftFormat, readFormat, type Tables } from '../schema.ts'
import { faultOf, DatabaseError, databaseErrorOf } from '../database-error.ts'
import { decideAtOnce, insertAtOnce, settleAtOnce } from './fast-insert.ts'
import { putGroup } from './apply-group.ts'
import { placeholderFrom, stand } from './lock-rows.ts'

/** What a group has become, where rows that it inserts have no ordinal yet. */
type Decided = readonly SetResult[]

/**
 * Puts the ordinals that the database has given in the place of placeholders.
 * @throws DatabaseError where it has given too few: all has landed, so it is nothing to begin anew
 */
function withOrdinals(results: Decided, ordinals: readonly number[]): SetResult[] {
  const real = (ordinal: number): number | undefined =>
    ordinal < placeholderFrom ? ordinal : ordinals[ordinal - placeholderFrom]
  const given = (ordinal: number): number => {
    const known = real(ordinal)
    if (known === undefined) throw new DatabaseError('lost')
    return known
  }
  const outcomeOf = (outcome: WriteOutcome): WriteOutcome => {
    if (outcome.ok) return { ok: true, ordinals: outcome.ordinals.map(given) }
    // Of a set that was refused, a row that has not come to be has none.
    return outcome.reason === 'unique_taken'
      ? { ...outcome, ordinal: real(outcome.ordinal) ?? outcome.ordinal }
      : outcome
  }
  return results.map(result =>
    'outcome' in result ? { outcome: outcomeOf(result.outcome) } : result,
  )
}

interface Writer {
  readonly pool: Pool
  readonly tables: Tables
  /** Of this process alone, 16 bytes. */
  readonly writer: Uint8Array
  readonly bounds: DatabaseTimeouts
  readonly elapsedMs: () => number
}

/** Each as a group of its own: what one asks for is damaged, and others have no part in it. */
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

/** What was tried of a group. */
interface Sent {
  /** Of the receipt that it leaves. */
  number: number
  /** What it becomes, where a COMMIT of that was sent and not answered. */
  decided: Decided | undefined
  /** Whether it went at once and was not answered: it may be on its way still. */
  isUnderWay: boolean
}

const newSent = (number: number): Sent => ({ number, decided: undefined, isUnderWay: false })

/** One try after the other, each on a connection of its own. */
function makeTries({ tables, writer }: Writer, nextNumber: () => number, onNoReceipt: () => void) {
  /** Whether nothing stood in the way of the last group. */
  let isClear = true

  /** @returns `undefined`: the group is to be decided by what stands */
  async function tryAtOnce(
    session: DatabaseSession,
    sets: readonly ChangeSet[],
    sent: Sent,
  ): Promise<SetResult[] | undefined> {
    const atOnce = isClear && sent.decided === undefined ? decideAtOnce(sets) : undefined
    if (atOnce === undefined) return undefined
    sent.decided = atOnce.decided
    sent.isUnderWay = true
    const ordinals = await insertAtOnce(session, tables, atOnce, { writer, number: sent.number })
    sent.isUnderWay = false
    if (ordinals !== undefined) return withOrdinals(atOnce.decided, ordinals)
    sent.decided = undefined
    return undefined
  }

  /** @returns `undefined`: it has not landed, and never will */
  async function settle(session: DatabaseSession, sent: Sent): Promise<SetResult[] | undefined> {
    const ordinals = await settleAtOnce(session, tables, { writer, number: sent.number })
    if (ordinals === undefined) throw withoutReceipt(sent)
    if (ordinals.length > 0) return withOrdinals(sent.decided ?? [], ordinals)
    Object.assign(sent, newSent(nextNumber()))
    isClear = false
    return undefined
  }

  /** Where it was sent before, nobody can tell any more whether it landed. */
  function withoutReceipt({ decided }: Sent): Error {
    onNoReceipt()
    return decided === undefined
      ? new DatabaseError('again')
      : new ApiError('unavailable', 'nothing tells whether this was done')
  }

  return async function tryOnce(
    session: DatabaseSession,
    sets: readonly ChangeSet[],
    sent: Sent,
  ): Promise<SetResult[]> {
    const landed = sent.isUnderWay ? await settle(session, sent) : undefined
    const done = landed ?? (await tryAtOnce(session, sets, sent))
    if (done !== undefined) return done
    const { number } = sent
    const stood = await stand(session, tables, writer, sets)
    if (stood.receipt === undefined) throw withoutReceipt(sent)
    if (stood.receipt.number === number && sent.decided !== undefined) {
      await commitRead(session, tables, { writer, number })
      return withOrdinals(sent.decided, stood.receipt.ordinals)
    }
    const from = { nextOrdinal: placeholderFrom, generation: 0 }
    const draft = makeGroupDraft(from, stood.standing, () => {})
    const decided = sets.map(set => applySet(draft, set, faultOf))
    isClear = decided.every(result => 'outcome' in result && result.outcome.ok)
    const hasMoved = draft.rows.size > 0 || draft.generation > 0
    if (!hasMoved) {
      // What stands in the way of it must be there to stay.
      await commitRead(session, tables, { writer, number: 0 })
      return decided
    }
    sent.decided = decided
    const ordinals = await putGroup(session, tables, draft, stood, { writer, number })
    return withOrdinals(decided, ordinals)
  }
}

/** Commits one group at a time. @throws ApiError: nothing is known to have landed */
function makeCommitter(own: Writer, onRetry: () => void) {
  const { pool, tables, writer, bounds, elapsedMs } = own
  let groups = 0
  let hasReceipt = false
  const nextNumber = (): number => (groups += 1)
  const tryOnce = makeTries(own, nextNumber, () => {
    hasReceipt = false
  })

  /** Nobody has one of a vault that has left: with the row of its format held, none comes late. */
  async function addReceipt(): Promise<void> {
    const text = `INSERT INTO ${tables.receipts}
SELECT $1::bytea, 0, '{}'::bigint[], clock_timestamp() FROM ${tables.state}
WHERE format <> ${leftFormat} FOR SHARE
ON CONFLICT (writer) DO NOTHING RETURNING 1`
    const added = await pool.query(text, [writer])
    if (added.length === 0 && (await readFormat(pool, tables)) === leftFormat) {
      throw new ApiError('unavailable', hasLeft)
    }
    hasReceipt = true
  }

  async function commit(sets: readonly ChangeSet[]): Promise<SetResult[]> {
    const sent = newSent(nextNumber())
    let isLost = false
    try {
      return await persist({ elapsedMs, msMax: bounds.writeMs, onRetry }, async () => {
        if (!hasReceipt) await addReceipt()
        return pool
          .hold(bounds.tryMs, session => tryOnce(session, sets, sent))
          .catch((error: unknown) => {
            isLost ||= !(error instanceof ApiError) && databaseErrorOf(error).kind === 'lost'
            throw error
          })
      })
    } catch (error) {
      // A try that was lost may have landed: then none of it is done again.
      const isWhole = isLost || sets.length === 1 || faultOf(error).kind !== 'storage_corrupt'
      if (isWhole) throw error
      return commitEach(commit, sets)
    }
  }
  return commit
}

export interface WriteQueue {
  /** @throws ApiError `unavailable` where no database took it in time, or the queue is closed */
  readonly submit: (changes: ChangeSet) => Promise<WriteOutcome>
  readonly close: () => Promise<void>
  /** How many change sets were committed. */
  readonly writes: () => number
  /** How many wait for a group; and how often one was tried again. */
  readonly figures: () => { readonly writesWaiting: number; readonly retries: number }
}

type Commit = ReturnType<typeof makeCommitter>

/** @param writers of which each has an id of its own */
export function makeWriteQueue(writers: readonly Writer[]): WriteQueue {
  let retries = 0
  const countRetry = (): void => void (retries += 1)
  const idle = writers.map(writer => makeCommitter(writer, countRetry))
  const draining = new Set<Promise<void>>()
  const waiting: Waiter[] = []
  let isClosed = false
  let writes = 0

  async function commitNext(commit: Commit): Promise<void> {
    const group = takeGroup(waiting)
    try {
      answerGroup(group, await commit(group.map(({ changes }) => changes)))
      writes += group.length
    } catch (error) {
      const fault = faultOf(error)
      // What has waited behind it has waited for the same database, and for no damage in it.
      const behind = fault.kind === 'storage_corrupt' ? [] : waiting.splice(0)
      for (const { reject } of [...group, ...behind]) reject(fault)
    }
  }

  /** Where many come at once they begin in several turns of the loop: they go together as well. */
  async function gathered(): Promise<void> {
    for (let known = gatheredMin - 1; waiting.length > known && known < gatheredMax;) {
      known = waiting.length
      await setImmediate()
    }
  }

  async function drain(commit: Commit): Promise<void> {
    // What comes in the same turn of the loop goes along.
    await Promise.resolve()
    while (waiting.length > 0) {
      await gathered()
      await commitNext(commit)
    }
    // In the same turn: a writer that comes from here on begins another one.
    idle.push(commit)
  }

  /** One after the other where little is to do: the more go together, the less each costs. */
  function start(): void {
    const busy = writers.length - idle.length
    if (waiting.length <= laneWritesMin * busy) return
    const commit = idle.pop()
    if (commit === undefined) return
    const until: Promise<void> = drain(commit).finally(() => draining.delete(until))
    draining.add(until)
  }

  return {
    submit(changes) {
      if (isClosed) return Promise.reject(new ApiError('unavailable', 'the store is closed'))
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
