/**
 * Reading, deciding and writing on behalf of a credential, with the memory that it may take.
 * @module
 */
import type { Row, Change, Store } from '../store/contract.ts'
import { ApiError } from '../errors.ts'
import { writeAttemptsMax } from '../limits.ts'
import { hexOf } from '../bytes.ts'
import { makeFairQueue, type FairQueue } from '../turns.ts'

/*
 * Room for what one request needs to be answered: rows that are read for it, what is opened of
 * them, and the answer itself until it was sent.
 *
 * Whoever reads much says so before it is opened. Source: contract section 16 (`decision:`).
 */

export interface Room {
  /**
   * So many bytes at a time. What was asked for before counts towards it.
   * @throws ApiError `overloaded` where so many are not free
   */
  readonly needs: (bytes: number) => void
}

/** Who asks, with the room of its request; absent where nobody bounds it. */
export interface Housed {
  readonly room?: Room | undefined
}

const bytesOf = ({ parts }: Row): number => parts.reduce((bytes, part) => bytes + part.length, 0)

/** @throws ApiError `overloaded` where there is no room for all of them */
export function makeRoom({ room }: Housed, rows: readonly Row[]): void {
  room?.needs(rows.reduce((bytes, row) => bytes + bytesOf(row), 0))
}

/*
 * Read, decide, write once: the one pattern by which every feature changes the store.
 */

/** Where a row stood when it was read. */
interface RowVersion {
  readonly ordinal: number
  readonly version: number
}

/** What an operation has done, as it is kept in JSON: ids and verdicts, never data. */
export type Effect =
  string | number | boolean | null | readonly Effect[] | { readonly [name: string]: Effect }

/** On whose behalf is written: a write lands only while all these rows stand unchanged. */
export interface Standing {
  readonly credential: RowVersion
  readonly restsOn: readonly Pick<Standing, 'credential'>[]
  /** What is to land in the same write as the operation, or both not at all. */
  readonly along?: ((effect: Effect) => readonly Change[]) | undefined
}

/**
 * The credential of a write, or what it rests on, was changed or deleted meanwhile, so nothing was
 * written: whoever authenticates decides anew under what it holds now.
 */
export class CredentialMoved extends Error {}

/** The place of what was to land along was taken meanwhile, so nothing was written. */
export class AlongTaken extends Error {}

const requireRow = ({ ordinal, version }: RowVersion): Change => ({
  require: ordinal,
  ifVersion: version,
})

/**
 * Writes on behalf of a credential. Without changes only what lands along is written, if anything.
 * What lands along comes last: its rows have greater ordinals than those of the operation.
 * @param effectOf what the changes do; asked where something lands along with them
 * @returns whether it landed; `false` when a row moved or a unique was taken meanwhile
 * @throws CredentialMoved, AlongTaken
 */
export async function writeAs(
  store: Store,
  { credential, restsOn, along }: Standing,
  changes: readonly Change[],
  effectOf: () => Effect = () => null,
): Promise<boolean> {
  if (changes.length === 0 && along === undefined) return true
  const stand = [requireRow(credential), ...restsOn.map(backer => requireRow(backer.credential))]
  const outcome = await store.write([...stand, ...changes, ...(along?.(effectOf()) ?? [])])
  if (outcome.ok) return true
  if (outcome.at < stand.length) throw new CredentialMoved()
  if (outcome.at >= stand.length + changes.length) throw new AlongTaken()
  return false
}

/** What is told of a write that others were always faster than. */
export const changedByOthers = () =>
  new ApiError('conflict', 'This is being changed by others. Try again.')

/**
 * Repeats read, decide and write until the write lands on what was read.
 * @param attempt gives its result when the write landed, `undefined` to be repeated
 * @throws ApiError `conflict` when others are always faster
 */
export async function untilWritten<T>(
  attempt: () => Promise<{ readonly result: T } | undefined>,
): Promise<T> {
  for (let count = 0; count < writeAttemptsMax; count += 1) {
    const landed = await attempt()
    if (landed !== undefined) return landed.result
  }
  throw changedByOthers()
}

/*
 * Turns: in one process, the writers of one row go one after the other.
 *
 * Only to spare them from failing each other over and over: that a write lands on what was read is
 * decided by the store, also against writers of other processes. Credentials have turns, so that
 * nobody waits for all the writes that another one has brought.
 */

/** Of each row that is being written: who waits, by the ordinal of their credential. */
const waitingFor = new Map<string, FairQueue<() => void>>()

function beginNext(key: string, waiting: FairQueue<() => void>): void {
  for (const [owner] of waiting.heads()) {
    waiting.take(owner)?.()
    return
  }
  waitingFor.delete(key)
}

/**
 * Runs the task when no other one of the same digest is under way, whose end may be well or badly.
 * @param digest a unique of the row; keyed, so it is the row's own among all stores
 * @param owner  the ordinal of the credential on whose behalf it runs
 */
export async function inTurn<T>(
  digest: Uint8Array,
  owner: number,
  task: () => Promise<T>,
): Promise<T> {
  const key = hexOf(digest)
  const known = waitingFor.get(key)
  const waiting = known ?? makeFairQueue()
  if (known === undefined) waitingFor.set(key, waiting)
  else await new Promise<void>(resolve => waiting.add(owner, resolve))
  try {
    return await task()
  } finally {
    beginNext(key, waiting)
  }
}
