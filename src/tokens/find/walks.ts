/**
 * How many long walks one credential has under way: they hold much memory for long.
 *
 * Kept for each store, in memory alone, and only while a walk is under way.
 * @module
 */
import { ApiError } from '../../errors.ts'
import { keptFor } from '../../kept.ts'
import { walksPerCredentialMax } from '../../limits.ts'
import type { Store } from '../../store/contract.ts'

const walksOf = keptFor<Pick<Store, 'page'>, Map<number, number>>(() => new Map())

/**
 * @param credential its ordinal
 * @returns what to call once, when the walk has ended
 * @throws ApiError `too_many_requests`
 */
export function enterWalk(store: Pick<Store, 'page'>, credential: number): () => void {
  const walks = walksOf(store)
  const count = walks.get(credential) ?? 0
  if (count >= walksPerCredentialMax) {
    throw new ApiError('too_many_requests', 'This credential has too many searches under way.')
  }
  walks.set(credential, count + 1)
  return () => {
    const left = (walks.get(credential) ?? 1) - 1
    if (left === 0) walks.delete(credential)
    else walks.set(credential, left)
  }
}
