/**
 * The prune point of the audit log, compared with the entry by which the vault says how far it has
 * pruned: a writer to the store can move the point, and cannot seal such an entry.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import type { Keys } from '../crypto/keyring.ts'
import { readBundlesMax } from '../limits/work-limits.ts'
import type { Store } from '../store/contract.ts'
import { readBundle } from './bundle.ts'
import { prunedFrontierKey, readDerived } from './derived-keys.ts'
import { decodeFrontier } from './merkle-tree.ts'

/** Operation of that entry, whose only id is the sequence of the oldest entry that was kept. */
export const prunedOperation = 'auditLogPruned'

interface PrunePointParts {
  readonly store: Pick<Store, 'bundles' | 'derived' | 'logRange'>
  readonly keys: Pick<Keys, 'auditKey'>
}

/** Returns the newest point that the vault has logged, looking below a sequence. */
async function newestPointBelow(
  { store, keys }: PrunePointParts,
  sequence: number,
): Promise<string | undefined> {
  for (let before = sequence; before > 0;) {
    const bundles = await store.bundles({ before }, readBundlesMax)
    for (const bundle of bundles) {
      const entries = readBundle(keys, bundle, () => true)
      const told = entries.findLast(({ entry }) => entry.operation === prunedOperation)
      if (told !== undefined) return told.entry.entityIds[0]
      // The entry may lie far back in a busy log.
      await setImmediate()
    }
    before = bundles.at(-1)?.first ?? 0
  }
  return undefined
}

/**
 * Returns true if nothing was pruned, or as much as the newest such entry says.
 * @throws ApiError `storage_corrupt`
 */
export async function isPruneLogged(parts: PrunePointParts): Promise<boolean> {
  const { from, next } = await parts.store.logRange()
  const pruned = await readDerived(parts.store, prunedFrontierKey)
  const size = pruned === undefined ? 0 : decodeFrontier(pruned).size
  if (size !== from || from === 0) return size === from
  return (await newestPointBelow(parts, next)) === String(from)
}
