/**
 * What was made of rows that are found by a digest, kept while the store's generation stands.
 *
 * So a change that bumps the generation is seen by the next look-up, in every process that shares
 * the store. The cache is keyed by digests: no text of a caller is kept.
 * @module
 */
import { hexOf } from '../bytes.ts'
import { credentialCacheEntriesMax } from '../limits.ts'
import type { Digest, Store } from '../store/contract.ts'

export interface Loaded<T> {
  readonly value: T
  /** Whether it holds until the generation moves; else it is loaded each time. */
  readonly mayKeep: boolean
}

/** @param load reads the store; gives `undefined` where there is nothing, which is not kept */
export function cacheByGeneration<T>(
  store: Pick<Store, 'generation'>,
  load: (digest: Digest) => Promise<Loaded<T> | undefined>,
): (digest: Digest) => Promise<T | undefined> {
  let generation = -1
  let cached = new Map<string, T>()

  return async digest => {
    const current = await store.generation()
    if (current !== generation || cached.size >= credentialCacheEntriesMax) {
      generation = current
      cached = new Map()
    }
    const cacheKey = hexOf(digest)
    const known = cached.get(cacheKey)
    if (known !== undefined) return known
    // What is read under this generation must not land in the map of a later one.
    const into = cached
    const loaded = await load(digest)
    if (loaded?.mayKeep === true) into.set(cacheKey, loaded.value)
    return loaded?.value
  }
}
