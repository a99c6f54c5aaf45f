/**
 * The sum over all rows, begun in a new file of a vault whose file had none: an earlier coffer made
 * it, or the vault comes from a database.
 * @module
 */
import { primitives } from '../crypto/primitives.ts'
import { sumSealerOf } from '../records/sum-sealer.ts'
import { openFound, type FoundFolder } from '../server/folder/data-folder.ts'
import { randomBytes } from '../server/process/system.ts'
import { beginSum } from '../store/lmdb/kept-sum.ts'

/** Copies the master key, since opening a vault wipes the one that it is given. */
export const copyKeyOf = ({ masterKey }: FoundFolder): Uint8Array =>
  primitives.keep(Uint8Array.from(masterKey))

/**
 * @param folder whose store is the new file, which nobody has open; its master key is wiped
 * @throws CommandFailure
 */
export async function beginSumIn(folder: FoundFolder): Promise<void> {
  const opened = await openFound(folder, { onFailure: () => {}, wasKilled: false })
  const { store, keyring, keys } = opened
  try {
    // From now on a missing sum is damage.
    if (!keys.keepsSum) await keyring.change(randomBytes, now => ({ ...now, keepsSum: true }))
    await store.close()
    await beginSum(folder.store, sumSealerOf(keys))
  } finally {
    await store.close()
    keyring.close()
    keys.wipe()
  }
}
