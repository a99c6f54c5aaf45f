/**
 * Deleting many tokens, a few at a time.
 * @module
 */
import type { CallOptions } from './call.ts'
import { CofferError } from './error.ts'
import { deletionsAtOnce } from './limits.ts'

/** Result of deleting many tokens. */
export interface Deleted {
  /** Tokens that this call deleted. */
  readonly deleted: number
  /** Tokens that were absent, or not for this key. */
  readonly missing: number
}

/** @internal */
type Delete = (id: string, options: CallOptions) => Promise<unknown>

async function isDeleted(each: Delete, id: string, options: CallOptions): Promise<boolean> {
  try {
    await each(id, options)
    return true
  } catch (thrown) {
    if (thrown instanceof CofferError && thrown.code === 'not_found') return false
    throw thrown
  }
}

/**
 * @internal
 * The first failure ends it, once pending deletions are over.
 * @throws CofferError, or the reason of the signal
 */
export async function deleteAll(
  each: Delete,
  ids: Iterable<string>,
  options: CallOptions,
): Promise<Deleted> {
  const left = ids[Symbol.iterator]()
  let deleted = 0
  let missing = 0
  let hasFailed = false
  const work = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true && !hasFailed; next = left.next()) {
      try {
        if (await isDeleted(each, next.value, options)) deleted += 1
        else missing += 1
      } catch (thrown) {
        hasFailed = true
        throw thrown
      }
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: deletionsAtOnce }, work))
  const failure = ends.find(end => end.status === 'rejected')
  if (failure !== undefined) throw failure.reason
  return { deleted, missing }
}
