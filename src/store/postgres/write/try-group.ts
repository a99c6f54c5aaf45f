/**
 * One try of a group: at once if it may, else by the state that it locks; or, after a try that was
 * not answered, by what the receipt of its writer says.
 * @module
 */
import { ApiError } from '../../../lib/errors.ts'
import type { SumSealer, WriteOutcome } from '../../contract.ts'
import { applySet, makeGroupDraft, type SetResult } from '../../core/decide-change.ts'
import type { ChangeSet } from '../../core/write-queue.ts'
import { DatabaseError, faultOf } from '../database-error.ts'
import type { DatabaseSession } from '../pool.ts'
import type { Tables } from '../schema.ts'
import { putGroup } from './apply-group.ts'
import { decideFastInsert, fastChangeOf, runFastInsert, settleFastInsert } from './fast-insert.ts'
import { commitRead } from './landed-commits.ts'
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

/** A writer, as it stands in the database. */
export interface Begun {
  readonly writer: Uint8Array
  readonly sealer: SumSealer | undefined
  readonly part: WriterPart | undefined
}

/** Progress of a group through its tries. */
export interface TriedGroup {
  /** Number of the receipt that it leaves. */
  number: number
  /** Its result, if a COMMIT of it was sent but not answered. */
  decided: Decided | undefined
  /** True if its fast path was not answered: it may still be on its way. */
  isUnderWay: boolean
}

export const newGroup = (number: number): TriedGroup => ({
  number,
  decided: undefined,
  isUnderWay: false,
})

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

/** State that the tries of a writer share. */
interface Tries {
  readonly tables: Tables
  readonly nextNumber: () => number
  /** Called when the writer is to begin anew: its receipt is gone, or its part not its own. */
  readonly onEnd: () => void
  /**
   * Called when its part is not its own, and not again before a group has landed: the database has
   * lost a commit that it said was done, or was put back, or somebody changed it.
   */
  readonly onLoss: () => void
  isLossTold: boolean
  /** False if the receipt may be gone for its age, and another writer have taken over the part. */
  readonly isRecent: () => boolean
  /** True if no set of the last group was refused: the next one may try the fast path. */
  isClear: boolean
}

interface Try {
  readonly session: DatabaseSession
  readonly begun: Begun
  readonly sets: readonly ChangeSet[]
  readonly group: TriedGroup
}

/** @returns `undefined`: the group must be decided by the stored state */
async function tryFastInsert(
  { tables, isClear }: Tries,
  { session, begun, sets, group }: Try,
): Promise<SetResult[] | undefined> {
  const { writer, part } = begun
  const mayTry = isClear && group.decided === undefined && part?.isUnsure() !== true
  const fastInsert = mayTry ? decideFastInsert(sets) : undefined
  if (fastInsert === undefined) return undefined
  const moved = part?.move(fastChangeOf(fastInsert))
  group.decided = fastInsert.decided
  group.isUnderWay = true
  const commit = { writer, number: group.number, part: moved }
  const ordinals = await runFastInsert(session, tables, fastInsert, commit)
  group.isUnderWay = false
  part?.learn(ordinals === undefined ? moved?.before : moved?.after)
  if (ordinals !== undefined) return withOrdinals(fastInsert.decided, ordinals)
  group.decided = undefined
  return undefined
}

/** @returns false if the database has neither part that the writer may have */
function learnPart(
  tries: Tries,
  { part }: Begun,
  stored: Uint8Array | undefined,
  hasReceipt: boolean,
): boolean {
  const isTaken = !hasReceipt && stored === undefined && !tries.isRecent()
  const isKnown = isTaken || (part?.learn(stored) ?? true)
  if (isKnown) return true
  tries.onEnd()
  if (!tries.isLossTold) tries.onLoss()
  tries.isLossTold = true
  return false
}

/** @returns `undefined`: it has not landed, and never will */
async function settle(
  tries: Tries,
  { session, begun, group }: Try,
): Promise<SetResult[] | undefined> {
  const { tables, nextNumber, onEnd } = tries
  const commitId = { writer: begun.writer, number: group.number }
  const { ordinals, part } = await settleFastInsert(session, tables, commitId)
  const isKnown = learnPart(tries, begun, part, ordinals !== undefined)
  if (ordinals === undefined) {
    onEnd()
    throw withoutReceipt(group)
  }
  if (ordinals.length > 0) return withOrdinals(group.decided ?? [], ordinals)
  Object.assign(group, newGroup(nextNumber()))
  tries.isClear = false
  if (!isKnown) throw new DatabaseError('again')
  return undefined
}

async function tryLocked(tries: Tries, { session, begun, sets, group }: Try): Promise<SetResult[]> {
  const { tables, onEnd } = tries
  const { writer, part } = begun
  const { number } = group
  const locked = await lockRows(session, tables, writer, sets)
  const isKnown = learnPart(tries, begun, locked.part, locked.receipt !== undefined)
  if (locked.receipt === undefined) {
    onEnd()
    throw withoutReceipt(group)
  }
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
  tries.isClear = decided.every(result => 'outcome' in result && result.outcome.ok)
  if (draft.rows.size === 0 && draft.generation === 0 && isLogEmpty(draft.log)) {
    // The rows that refuse it must themselves be durable.
    await commitRead(session, tables, { writer, number: 0 })
    return decided
  }
  group.decided = decided
  const ordinals = await putGroup(session, tables, draft, locked, { writer, number, part })
  return withOrdinals(decided, ordinals)
}

/** Makes one try after the other, each on its own connection. */
export function makeTries(given: Omit<Tries, 'isClear' | 'isLossTold'>) {
  const tries: Tries = { ...given, isClear: true, isLossTold: false }
  return async (each: Try): Promise<SetResult[]> => {
    const landed = each.group.isUnderWay ? await settle(tries, each) : undefined
    const atOnce = landed ?? (await tryFastInsert(tries, each))
    const done = atOnce ?? (await tryLocked(tries, each))
    tries.isLossTold = false
    return done
  }
}
