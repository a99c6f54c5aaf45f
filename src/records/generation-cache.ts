/**
 * What was made of rows that are found by a digest, kept while the store's generation stands.
 *
 * So a change that bumps the generation is seen by the next look-up, in every process that shares
 * the store. The cache is keyed by digests: no text of a caller is kept. What has expired is looked
 * up like what was never there, so that refusing both costs the same (contract section 2).
 * @module
 */
import { hexOf } from '../bytes.ts'
import { credentialCacheEntriesMax } from '../limits.ts'
import { andThen, type MaybeLater } from '../maybe-later.ts'
import type { Digest, Store } from '../store/contract.ts'

export interface Loaded<T> {
  readonly value: T
  /** Unix milliseconds from which it is loaded anew; 0: each time; `undefined`: never. */
  readonly keepUntilMs: number | undefined
}

const holds = ({ keepUntilMs }: Loaded<unknown>, nowMs: number): boolean =>
  keepUntilMs === undefined || nowMs < keepUntilMs

/**
 * What it gives takes a digest, and whether it is to be read anew even if it is kept.
 * @param load reads the store, for the instant of the look-up; gives `undefined` where there is
 * nothing, which is not kept
 */
export function cacheByGeneration<T>(
  { store, now }: { readonly store: Pick<Store, 'generation'>; readonly now: () => number },
  load: (digest: Digest, nowMs: number) => Promise<Loaded<T> | undefined>,
): (digest: Digest, isFresh?: boolean) => MaybeLater<T | undefined> {
  let generation = -1
  let cached = new Map<string, Loaded<T>>()

  async function loadAnew(digest: Digest, nowMs: number, cacheKey: string): Promise<T | undefined> {
    // What is read under this generation must not land in the map of a later one.
    const into = cached
    const loaded = await load(digest, nowMs)
    if (loaded !== undefined && loaded.keepUntilMs !== 0) into.set(cacheKey, loaded)
    return loaded?.value
  }

  return (digest, isFresh = false) =>
    andThen(store.generation(), current => {
      if (current !== generation || cached.size >= credentialCacheEntriesMax) {
        generation = current
        cached = new Map()
      }
      const nowMs = now()
      const cacheKey = hexOf(digest)
      const known = cached.get(cacheKey)
      if (!isFresh && known !== undefined && holds(known, nowMs)) return known.value
      return loadAnew(digest, nowMs, cacheKey)
    })
}
