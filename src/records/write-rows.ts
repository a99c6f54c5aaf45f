/**
 * Read, decide, write once: the one pattern by which every feature changes the store.
 * @module
 */
import { ApiError } from '../lib/errors.ts'
import { writeAttemptsMax } from '../limits/work-limits.ts'
import type { Row, Change, Store } from '../store/contract.ts'

/** Where a row stood when it was read. */
interface RowVersion {
  readonly ordinal: number
  readonly version: number
}

/** What an operation has done, as it is kept in JSON: ids and verdicts, never data. */
export type Effect =
  string | number | boolean | null | readonly Effect[] | { readonly [name: string]: Effect }

/** On whose behalf is written: a write lands only while all these rows stand unchanged. */
export interface WriteContext {
  readonly credential: RowVersion
  readonly dependsOn: readonly Pick<WriteContext, 'credential'>[]
  /** What is to land in the same write as the operation, or both not at all. */
  readonly along?: ((effect: Effect) => readonly Change[]) | undefined
}

/**
 * The credential of a write, or what it rests on, was changed or deleted meanwhile, so nothing was
 * written: authentication decides anew under what it holds now.
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
  { credential, dependsOn, along }: WriteContext,
  changes: readonly Change[],
  effectOf: () => Effect = () => null,
): Promise<boolean> {
  if (changes.length === 0 && along === undefined) return true
  const stand = [requireRow(credential), ...dependsOn.map(backer => requireRow(backer.credential))]
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
 * Of a row that is told as done: a read may show what is on one machine alone, so it is written
 * that it stands.
 * @throws ApiError `conflict` where it stands no more
 */
export async function standing(store: Pick<Store, 'write'>, row: Row): Promise<Row> {
  const outcome = await store.write([{ require: row.ordinal, ifVersion: row.version }])
  if (!outcome.ok) throw changedByOthers()
  return row
}

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
