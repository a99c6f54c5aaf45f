/**
 * The callers of live keys, kept while the store's generation stands.
 *
 * So a change that bumps the generation is seen by the next look-up, in every process that shares
 * the store. An expired key is looked up like one that was never there, so that refusing both costs
 * the same (contract section 2). The administrator of a database may hold its generation still, so
 * nothing is kept for long.
 *
 * decision: keys are kept as they are. Digesting them for each request cost 5 % of a read, and a
 * reader of this process's memory finds them in requests too. Only keys that were found live are
 * kept: these are random, so no caller decides what they are hashed to.
 * @module
 */
import {
  credentialCacheBytesMax,
  credentialCacheEntriesMax,
  credentialCacheMsMax,
} from '../limits/work-limits.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import type { Loaded } from '../rules/caller.ts'
import type { Store } from '../store/contract.ts'

/** Characters by which a kept key is found: some 46 random bits of base58. */
const keyEndChars = 8

const holds = ({ keepUntilMs }: Loaded<unknown>, nowMs: number): boolean =>
  keepUntilMs === undefined || nowMs < keepUntilMs

/** Few keys share their last characters; of those that do, the last one found is kept. */
const endOf = (key: string): string => key.slice(-keyEndChars)

/** In constant time for one length, so that no answer's time tells how much of a key is right. */
function isSameKey(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i += 1) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

interface Entry<T> extends Loaded<T> {
  readonly key: string
}

interface Kept<T> {
  readonly byEnd: Map<string, Entry<T>>
  /** Memory of all of them. */
  bytes: number
}

const nothingKept = <T>(): Kept<T> => ({ byEnd: new Map(), bytes: 0 })

const isFull = ({ byEnd, bytes }: Kept<unknown>): boolean =>
  byEnd.size >= credentialCacheEntriesMax || bytes >= credentialCacheBytesMax

function keep<T>(kept: Kept<T>, entry: Entry<T>): void {
  const end = endOf(entry.key)
  kept.bytes += (entry.bytes ?? 0) - (kept.byEnd.get(end)?.bytes ?? 0)
  kept.byEnd.set(end, entry)
}

/**
 * Returns a look-up of a key: `isFresh` reads it anew even if it is kept, `isPatient` waits as long
 * as a write may.
 * @param load reads the store, for the instant of the look-up; gives `undefined` where there is
 * nothing, which is not kept
 */
export function cacheByGeneration<T>(
  { store, now }: { readonly store: Pick<Store, 'generation'>; readonly now: () => number },
  load: (key: string, nowMs: number) => Promise<Loaded<T> | undefined>,
): (key: string, isFresh?: boolean, isPatient?: boolean) => MaybeLater<T | undefined> {
  let generation = -1
  let cached = nothingKept<T>()

  async function loadAnew(key: string, nowMs: number): Promise<T | undefined> {
    // A key that is read under this generation must not land in the map of a later one.
    const into = cached
    const loaded = await load(key, nowMs)
    if (loaded !== undefined && loaded.keepUntilMs !== 0) {
      const keepUntilMs = Math.min(loaded.keepUntilMs ?? Infinity, nowMs + credentialCacheMsMax)
      keep(into, { ...loaded, key, keepUntilMs })
    }
    return loaded?.value
  }

  function findAt(current: number, key: string, isFresh: boolean): MaybeLater<T | undefined> {
    if (current !== generation || isFull(cached)) {
      generation = current
      cached = nothingKept()
    }
    const nowMs = now()
    const known = isFresh ? undefined : cached.byEnd.get(endOf(key))
    if (known !== undefined && isSameKey(known.key, key) && holds(known, nowMs)) return known.value
    return loadAnew(key, nowMs)
  }

  return (key, isFresh = false, isPatient = false) => {
    const current = store.generation(isPatient)
    return current instanceof Promise
      ? current.then(known => findAt(known, key, isFresh))
      : findAt(current, key, isFresh)
  }
}
