/**
 * Read, decide, write once: the one pattern by which every feature changes the store.
 *
 * @module
 */
import { ApiError, unauthenticated } from '../errors.ts'
import { writeAttemptsMax } from '../limits.ts'
import type { Change, Store } from '../store/contract.ts'

/** Where the credential of a caller stands; a write for it lands only while it stands unchanged. */
export interface Credential {
  readonly ordinal: number
  readonly version: number
}

/**
 * Writes on behalf of a credential.
 * @returns whether it landed; `false` when a row moved or a unique was taken meanwhile
 * @throws ApiError `unauthenticated` when the credential itself was changed or deleted meanwhile
 */
export async function writeAs(
  store: Store,
  credential: Credential,
  changes: readonly Change[],
): Promise<boolean> {
  const stands: Change = { require: credential.ordinal, ifVersion: credential.version }
  const outcome = await store.write([stands, ...changes])
  if (!outcome.ok && outcome.at === 0) {
    throw unauthenticated()
  }
  return outcome.ok
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
  throw new ApiError('conflict', 'This is being changed by others. Try again.')
}
