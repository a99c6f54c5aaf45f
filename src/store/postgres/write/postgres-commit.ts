/**
 * Group commit over a database that may fail: waiting writes are committed together, exactly once.
 *
 * A connection lost during its COMMIT leaves the outcome unknown. So each writer has a receipt,
 * which each of its groups locks and updates first: a writer that starts over waits there for
 * whatever is still in progress, and then reads whether it landed. A writer has one group at a
 * time; a vault has several writers, so that one group is decided while another is flushed. Source:
 * docs/many-machines.md, "Exactly once".
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../../../lib/errors.ts'
import type { WriteOutcome } from '../../contract.ts'
import { applySet, makeGroupDraft, type SetResult } from '../../core/decide-change.ts'
import { gatheredMax, gatheredMin, writesPerWriterMin } from '../../core/limits.ts'
import { answerGroup, takeGroup, type ChangeSet, type QueuedWrite } from '../../core/write-queue.ts'
import type { DatabaseTimeouts } from '../timeouts.ts'
import type { Pool, DatabaseSession } from '../pool.ts'
import { commitRead } from './landed-commits.ts'
import { movedOutMessage, movedOutFormat, readFormat, type Tables } from '../schema.ts'
import { DatabaseError, databaseErrorOf, faultOf, retry } from '../database-error.ts'
import { decideFastInsert, runFastInsert, settleFastInsert } from './fast-insert.ts'
import { putGroup } from './apply-group.ts'
import { lockRows, placeholderFrom, type LockedRows } from './lock-rows.ts'
import { isLogEmpty } from './log-statements.ts'

/** The result of a group, in which inserted rows have no ordinal yet. */
type Decided = readonly SetResult[]

/**
 * Replaces placeholders by the ordinals that the database assigned.
 * @throws DatabaseError if there are too few: everything has landed, so it must not start over
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
    // In a refused set, a row that was never inserted has no ordinal.
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
  /** Id of the writer, unique to this process; 16 bytes. */
  readonly writer: Uint8Array
  readonly bounds: DatabaseTimeouts
  readonly elapsedMs: () => number
}

/** Commits each set as its own group: one asks for damaged data, and the others are unaffected. */
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

/** Progress of a group through its tries. */
interface TriedGroup {
  /** Number of the receipt that it leaves. */
  number: number
  /** Its result, if a COMMIT of it was sent but not answered. */
  decided: Decided | undefined
  /** True if its fast path was not answered: it may still be on its way. */
  isUnderWay: boolean
}

const newGroup = (number: number): TriedGroup => ({ number, decided: undefined, isUnderWay: false })

/** The error of a group whose writer has no receipt: if it was sent, its outcome is unknown. */
const withoutReceipt = ({ decided }: TriedGroup): Error =>
  decided === undefined
    ? new DatabaseError('again')
    : new ApiError('unavailable', 'nothing tells whether this was done')

/** Decides a group by the state that it has locked. */
function decideLocked({ stored }: LockedRows, sets: readonly ChangeSet[]) {
  const from = { nextOrdinal: placeholderFrom, generation: 0 }
  const draft = makeGroupDraft(from, stored, () => {})
  return { draft, decided: sets.map(set => applySet(draft, set, faultOf)) }
}

/** Makes one try after the other, each on its own connection. */
function makeTries({ tables, writer }: Writer, nextNumber: () => number, onNoReceipt: () => void) {
  /** True if no set of the last group was refused: the next one may try the fast path. */
  let isClear = true

  /** @returns `undefined`: the group must be decided by the stored state */
  async function tryFastInsert(
    session: DatabaseSession,
    sets: readonly ChangeSet[],
    group: TriedGroup,
  ): Promise<SetResult[] | undefined> {
    const fastInsert = isClear && group.decided === undefined ? decideFastInsert(sets) : undefined
    if (fastInsert === undefined) return undefined
    group.decided = fastInsert.decided
    group.isUnderWay = true
    const ordinals = await runFastInsert(session, tables, fastInsert, {
      writer,
      number: group.number,
    })
    group.isUnderWay = false
    if (ordinals !== undefined) return withOrdinals(fastInsert.decided, ordinals)
    group.decided = undefined
    return undefined
  }

  /** @returns `undefined`: it has not landed, and never will */
  async function settle(
    session: DatabaseSession,
    group: TriedGroup,
  ): Promise<SetResult[] | undefined> {
    const ordinals = await settleFastInsert(session, tables, { writer, number: group.number })
    if (ordinals === undefined) {
      onNoReceipt()
      throw withoutReceipt(group)
    }
    if (ordinals.length > 0) return withOrdinals(group.decided ?? [], ordinals)
    Object.assign(group, newGroup(nextNumber()))
    isClear = false
    return undefined
  }

  return async function tryOnce(
    session: DatabaseSession,
    sets: readonly ChangeSet[],
    group: TriedGroup,
  ): Promise<SetResult[]> {
    const landed = group.isUnderWay ? await settle(session, group) : undefined
    const done = landed ?? (await tryFastInsert(session, sets, group))
    if (done !== undefined) return done
    const { number } = group
    const locked = await lockRows(session, tables, writer, sets)
    if (locked.receipt === undefined) {
      onNoReceipt()
      throw withoutReceipt(group)
    }
    if (locked.receipt.number === number && group.decided !== undefined) {
      await commitRead(session, tables, { writer, number })
      return withOrdinals(group.decided, locked.receipt.ordinals)
    }
    const { draft, decided } = decideLocked(locked, sets)
    isClear = decided.every(result => 'outcome' in result && result.outcome.ok)
    if (draft.rows.size === 0 && draft.generation === 0 && isLogEmpty(draft.log)) {
      // The rows that refuse it must themselves be durable.
      await commitRead(session, tables, { writer, number: 0 })
      return decided
    }
    group.decided = decided
    const ordinals = await putGroup(session, tables, draft, locked, { writer, number })
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

  /** After a vault left, no writer has one; locking the row of its format keeps late ones out. */
  async function addReceipt(): Promise<void> {
    const text = `INSERT INTO ${tables.receipts}
SELECT $1::bytea, 0, '{}'::bigint[], clock_timestamp() FROM ${tables.state}
WHERE format <> ${movedOutFormat} FOR SHARE
ON CONFLICT (writer) DO NOTHING RETURNING 1`
    const added = await pool.query(text, [writer])
    if (added.length === 0 && (await readFormat(pool, tables)) === movedOutFormat) {
      throw new ApiError('unavailable', movedOutMessage)
    }
    hasReceipt = true
  }

  async function commit(sets: readonly ChangeSet[]): Promise<SetResult[]> {
    const group = newGroup(nextNumber())
    let isLost = false
    try {
      return await retry({ elapsedMs, msMax: bounds.writeMs, onRetry }, async () => {
        if (!hasReceipt) await addReceipt()
        return pool
          .hold(bounds.tryMs, session => tryOnce(session, sets, group))
          .catch((error: unknown) => {
            isLost ||= !(error instanceof ApiError) && databaseErrorOf(error).kind === 'lost'
            throw error
          })
      })
    } catch (error) {
      // A lost try may have landed: then none of it may be repeated.
      const isWhole = isLost || sets.length === 1 || faultOf(error).kind !== 'storage_corrupt'
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

/** @param writers each with an id of its own */
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
      // Writes behind it waited for the same database, but not for the same damage.
      const behind = fault.kind === 'storage_corrupt' ? [] : waiting.splice(0)
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
