/**
 * Read, decide, write once: the pattern by which every feature changes the store.
 * @module
 */
import { ApiError } from '../lib/errors.ts'
import { writeAttemptsMax } from '../limits/work-limits.ts'
import type { Row, Change, Store } from '../store/contract.ts'
import { unchanged, type ReadRow } from './read-row.ts'

/** Effect of an operation, as kept in JSON: ids and verdicts, never data. */
export type Effect =
  string | number | boolean | null | readonly Effect[] | { readonly [name: string]: Effect }

/** The effect of an earlier request with the same idempotency key and the same body. */
export interface Past<T = Effect> {
  readonly effect: T
  /** That of the row that landed with the operation: a row with a greater one was made later. */
  readonly ordinal: number
}

/** Credentials of the writer: a write is applied only if none of them has changed since read. */
export interface WriteContext {
  readonly credential: ReadRow
  readonly dependsOn: readonly Pick<WriteContext, 'credential'>[]
  /** Gives the changes that keep the effect: they commit together with it, or not at all. */
  readonly keepEffect?: ((effect: Effect) => readonly Change[]) | undefined
  /** Absent if what is written has no entry in the audit log. */
  readonly audit?: WriteAudit | undefined
}

/** The entry of a write in the audit log. */
export interface WriteAudit {
  /**
   * Returns the change that appends it.
   * @param ids of what the write made; none if the address names it
   */
  readonly changeOf: (ids: readonly string[]) => Change
  /** Called once the write has landed: then so has the entry. */
  readonly landed: () => void
}

/** Subject of a write; computed only if somebody asks. */
interface WriteSubject {
  /** Default: null. */
  readonly effect?: () => Effect
  /** Ids of what it makes, or of what the address does not name. Default: none. */
  readonly ids?: () => readonly string[]
}

/**
 * The credential of a write, or a row it depends on, was changed or deleted meanwhile. Nothing was
 * written: authenticate again, with the rights as they are now.
 */
export class CredentialChanged extends Error {}

/** The place of a change from `keepEffect` was taken meanwhile, so nothing was written. */
export class EffectKept extends Error {}

/**
 * Writes on behalf of a credential, with the entry of the audit log. Without changes, it writes
 * only those of `keepEffect`, if any; these come last, so their rows have greater ordinals than
 * those of the operation.
 * @returns true if committed; false if a row changed or a unique was taken meanwhile
 * @throws CredentialChanged, EffectKept
 */
export async function writeAs(
  store: Store,
  { credential, dependsOn, keepEffect, audit }: WriteContext,
  changes: readonly Change[],
  { effect = () => null, ids = () => [] }: WriteSubject = {},
): Promise<boolean> {
  if (changes.length === 0 && keepEffect === undefined) return true
  const required = [credential, ...dependsOn.map(backer => backer.credential)].map(unchanged)
  const entry = audit === undefined ? [] : [audit.changeOf(ids())]
  const kept = keepEffect?.(effect()) ?? []
  const outcome = await store.write([...required, ...changes, ...entry, ...kept])
  if (outcome.ok) {
    audit?.landed()
    return true
  }
  if (outcome.at < required.length) throw new CredentialChanged()
  if (outcome.at >= required.length + changes.length + entry.length) throw new EffectKept()
  return false
}

/** The error for a write that lost to others every time. */
export const changedByOthers = () =>
  new ApiError('conflict', 'This is being changed by others. Try again.')

/**
 * Confirms a row before it is reported as done: a read may see what only one machine has, so a
 * write makes sure that the row still stands.
 * @throws ApiError `conflict` if it does not
 */
export async function confirmRow(store: Pick<Store, 'write'>, row: Row): Promise<Row> {
  const outcome = await store.write([unchanged(row)])
  if (!outcome.ok) throw changedByOthers()
  return row
}

/**
 * Repeats read, decide and write until the write matches what was read.
 * @param attempt returns its result once the write is committed, `undefined` to retry
 * @throws ApiError `conflict` if others are always faster
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
