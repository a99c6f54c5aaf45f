/**
 * Walks over the whole log of a store without writers, and over the values beside it, in steps.
 * @module
 */
import type { DerivedValue, Store, StoredBundle } from '../contract.ts'
import { derivedKeyBytesMax, logStep } from './limits.ts'

/** Reads of the log of a store, of any engine. */
export type LogReads = Pick<Store, 'logRange' | 'bundles' | 'derived'>

/** Bundles from the one that holds a sequence on, oldest first. */
export async function* everyBundle(
  store: Pick<LogReads, 'bundles'>,
  first = 0,
): AsyncGenerator<readonly StoredBundle[]> {
  for (let from = first; ;) {
    const bundles = await store.bundles({ from }, logStep)
    const last = bundles.at(-1)
    if (last === undefined) return
    yield bundles
    from = last.first + last.leaves.length
  }
}

/** Above every key. */
const keyEnd = new Uint8Array(derivedKeyBytesMax + 1).fill(255)

/** Values in the order of their keys. */
export async function* everyDerived(
  store: Pick<LogReads, 'derived'>,
): AsyncGenerator<readonly DerivedValue[]> {
  for (let from = Uint8Array.of(0); ;) {
    const values = await store.derived(from, keyEnd, logStep)
    const last = values.at(-1)
    if (last === undefined) return
    yield values
    from = Uint8Array.of(...last.key, 0)
  }
}
