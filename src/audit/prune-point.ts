/**
 * The prune point of the audit log, compared with the entry by which the vault says how far it has
 * pruned: a writer to the store can move the point as the vault does, but seals no such entry.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import type { Store } from '../store/contract.ts'
import { prunedFrontierKey, readDerived } from './derived-keys.ts'
import { decodeFrontier } from './merkle-tree.ts'
import { entriesBefore } from './read-log.ts'

/** Operation of that entry, whose only id is the sequence of the oldest entry that was kept. */
export const prunedOperation = 'auditLogPruned'

/**
 * Returns true if nothing was pruned, or as much as the newest such entry says.
 * @throws ApiError `storage_corrupt`
 */
export async function isPruneLogged({
  store,
  keys,
}: {
  readonly store: Pick<Store, 'bundles' | 'derived' | 'logRange'>
  readonly keys: Pick<Keys, 'auditKey'>
}): Promise<boolean> {
  const { from, next } = await store.logRange()
  const pruned = await readDerived(store, prunedFrontierKey)
  const size = pruned === undefined ? 0 : decodeFrontier(pruned).size
  if (size !== from || from === 0) return size === from
  for await (const { entry } of entriesBefore({ store, keys }, next)) {
    if (entry.operation === prunedOperation) return entry.entityIds[0] === String(from)
  }
  return false
}
