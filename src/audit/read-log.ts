/**
 * Reading the audit log, in order or backwards.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { readBundlesMax } from '../limits/work-limits.ts'
import type { Store, StoredBundle } from '../store/contract.ts'
import { openBundle, type LoggedEntry } from './bundle.ts'

type Read = Pick<Store, 'bundles'>

/** Bundles from the one that holds a sequence on, oldest first, up to the end of the log. */
export async function* bundlesFrom(store: Read, sequence: number): AsyncGenerator<StoredBundle> {
  for (let from = sequence; ;) {
    const bundles = await store.bundles({ from }, readBundlesMax)
    yield* bundles
    const last = bundles.at(-1)
    if (last === undefined) return
    from = last.first + last.leaves.length
  }
}

/**
 * Entries from a sequence on, oldest first.
 * @param onGap hears the first and the last sequence that are not there, before what follows them
 * @throws ApiError `storage_corrupt`
 */
export async function* entriesFrom(
  { store, keys }: { readonly store: Read; readonly keys: Pick<Keys, 'auditKey'> },
  sequence: number,
  onGap: (first: number, last: number) => void = () => {},
): AsyncGenerator<LoggedEntry> {
  let next = sequence
  for await (const bundle of bundlesFrom(store, sequence)) {
    if (bundle.first > next) onGap(next, bundle.first - 1)
    next = bundle.first + bundle.leaves.length
    for (const entry of openBundle(keys, bundle)) if (entry.sequence >= sequence) yield entry
  }
}

/** Entries below a sequence, newest first. @throws ApiError `storage_corrupt` */
export async function* entriesBefore(
  { store, keys }: { readonly store: Read; readonly keys: Pick<Keys, 'auditKey'> },
  sequence: number,
): AsyncGenerator<LoggedEntry> {
  for (let before = sequence; before > 0;) {
    const bundles = await store.bundles({ before }, readBundlesMax)
    for (const bundle of bundles) {
      const entries = openBundle(keys, bundle).filter(entry => entry.sequence < before)
      yield* entries.toReversed()
    }
    before = bundles.at(-1)?.first ?? 0
  }
}
