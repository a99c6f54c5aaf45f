/**
 * Entries of the audit log that are not signed yet.
 * @module
 */
import { utf8Text } from '../lib/bytes.ts'
import type { Store } from '../store/contract.ts'
import { checkpointIn } from './checkpoint.ts'
import { newestCheckpointKey, readDerived } from './derived-keys.ts'

/** @returns number of entries that no checkpoint covers; `undefined` where none was ever signed */
export async function countUnsigned(
  store: Pick<Store, 'derived' | 'logRange'>,
): Promise<number | undefined> {
  const stored = await readDerived(store, newestCheckpointKey)
  const signed = stored && checkpointIn(utf8Text(stored))
  // The log is read after the checkpoint, so that the difference is not negative.
  const { next } = await store.logRange()
  return signed === undefined ? undefined : next - signed.size
}
