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
import type { SumSealer, WriteOutcome } from '../../contract.ts'
import { applySet, makeGroupDraft, type SetResult } from '../../core/decide-change.ts'
import { gatheredMax, gatheredMin, writesPerWriterMin } from '../../core/limits.ts'
import { answerGroup, takeGroup, type ChangeSet, type QueuedWrite } from '../../core/write-queue.ts'
import type { DatabaseTimeouts } from '../timeouts.ts'
import type { Pool, DatabaseSession } from '../pool.ts'
import { commitRead } from './landed-commits.ts'
import type { Tables } from '../schema.ts'
import { DatabaseError, databaseErrorOf, faultOf, retry } from '../database-error.ts'
import { beginWriter } from './begin-writer.ts'
import { decideFastInsert, fastChangeOf, runFastInsert, settleFastInsert } from './fast-insert.ts'
import { putGroup } from './apply-group.ts'
import { lockRows, placeholderFrom, type LockedRows } from './lock-rows.ts'
import { isLogEmpty } from './log-statements.ts'
import type { WriterPart } from './writer-part.ts'

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
  /** Makes an id that no writer has, 16 bytes. */
  readonly newId: () => Uint8Array
  /** The functions of the sum over all rows, once the store was handed them. */
  readonly sealer: () => SumSealer | undefined
  readonly bounds: DatabaseTimeouts
  readonly elapsedMs: () => number
}

/** What a writer has in the database. */
interface Begun {
  readonly writer: Uint8Array
  readonly sealer: SumSealer | undefined
  readonly part: WriterPart | undefined
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

/**
 * Makes one try after the other, each on its own connection.
 * @param onEnd called when the writer is to begin anew: its receipt is gone, or its part another's
 */
function makeTries({ tables }: Writer, nextNumber: () => number, onEnd: () => void) {
  /** True if no set of the last group was refused: the next one may try the fast path. */
  let isClear = true

  /** @returns `undefined`: the group must be decided by the stored state */
  async function tryFastInsert(
    session: DatabaseSession,
    { writer, part }: Begun,
    sets: readonly ChangeSet[],
    group: TriedGroup,
  ): Promise<SetResult[] | undefined> {
    const mayTry = isClear && group.decided === undefined && part?.isUnsure() !== true
    const fastInsert = mayTry ? decideFastInsert(sets) : undefined
    if (fastInsert === undefined) return undefined
    const moved = part?.move(fastChangeOf(fastInsert))
    group.decided = fastInsert.decided
    group.isUnderWay = true
    const ordinals = await runFastInsert(session, tables, fastInsert, {
      writer,
      number: group.number,
      part: moved,
    })
    group.isUnderWay = false
    part?.learn(ordinals === undefined ? moved?.before : moved?.after)
    if (ordinals !== undefined) return withOrdinals(fastInsert.decided, ordinals)
    group.decided = undefined
    return undefined
  }

  /** @returns `undefined`: it has not landed, and never will */
  async function settle(
    session: DatabaseSession,
    { writer, part }: Begun,
    group: TriedGroup,
  ): Promise<SetResult[] | undefined> {
    const settled = await settleFastInsert(session, tables, { writer, number: group.number })
    if (settled === undefined) {
      onEnd()
      throw withoutReceipt(group)
    }
    const isKnown = part?.learn(settled.part) ?? true
    if (!isKnown) onEnd()
    const { ordinals } = settled
    if (ordinals.length > 0) return withOrdinals(group.decided ?? [], ordinals)
    Object.assign(group, newGroup(nextNumber()))
    isClear = false
    if (!isKnown) throw new DatabaseError('again')
    return undefined
  }

  return async function tryOnce(
    session: DatabaseSession,
    begun: Begun,
    sets: readonly ChangeSet[],
    group: TriedGroup,
  ): Promise<SetResult[]> {
    const { writer, part } = begun
    const landed = group.isUnderWay ? await settle(session, begun, group) : undefined
    const done = landed ?? (await tryFastInsert(session, begun, sets, group))
    if (done !== undefined) return done
    const { number } = group
    const locked = await lockRows(session, tables, writer, sets)
    if (locked.receipt === undefined) {
      onEnd()
      throw withoutReceipt(group)
    }
    const isKnown = part?.learn(locked.part) ?? true
    if (!isKnown) onEnd()
    if (locked.receipt.number === number && group.decided !== undefined) {
      await commitRead(session, tables, { writer, number })
      return withOrdinals(group.decided, locked.receipt.ordinals)
    }
    // It has not landed, and cannot any more: its receipt is locked.
    if (!isKnown) {
      group.decided = undefined
      throw new DatabaseError('again')
    }
    const { draft, decided } = decideLocked(locked, sets)
    isClear = decided.every(result => 'outcome' in result && result.outcome.ok)
    if (draft.rows.size === 0 && draft.generation === 0 && isLogEmpty(draft.log)) {
      // The rows that refuse it must themselves be durable.
      await commitRead(session, tables, { writer, number: 0 })
      return decided
    }
    group.decided = decided
    const ordinals = await putGroup(session, tables, draft, locked, { writer, number, part })
    return withOrdinals(decided, ordinals)
  }
}

/** Commits one group at a time. @throws ApiError: nothing is known to have landed */
function makeCommitter(own: Writer, onRetry: () => void) {
  const { pool, tables, newId, sealer: sealerNow, bounds, elapsedMs } = own
  let groups = 0
  let begun: Begun | undefined
  const nextNumber = (): number => (groups += 1)
  const tryOnce = makeTries(own, nextNumber, () => {
    begun = undefined
  })

  async function begin(): Promise<Begun> {
    const [writer, sealer] = [newId(), sealerNow()]
    const part = await beginWriter(pool, tables, writer, sealer, bounds.tryMs)
    return { writer, sealer, part }
  }

  async function commit(sets: readonly ChangeSet[]): Promise<SetResult[]> {
    const group = newGroup(nextNumber())
    let isLost = false
    if (begun?.sealer !== sealerNow()) begun = undefined
    try {
      return await retry({ elapsedMs, msMax: bounds.writeMs, onRetry }, async () => {
        const as = (begun ??= await begin())
        return pool
          .hold(bounds.tryMs, session => tryOnce(session, as, sets, group))
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
