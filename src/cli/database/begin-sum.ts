/**
 * The sum over all rows, begun where there was none: an earlier coffer made the vault, or it comes
 * from a database into a new file.
 * @module
 */
import { primitives } from '../../crypto/primitives.ts'
import { ApiError } from '../../lib/errors.ts'
import { sumSealerOf } from '../../records/sum-sealer.ts'
import { openFound, type FoundFolder, type OpenedFolder } from '../../server/folder/data-folder.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { randomBytes } from '../../server/process/system.ts'
import { beginSum } from '../../store/lmdb/kept-sum.ts'
import type { SumPart } from '../../store/operated.ts'

const served = 'the vault is served from the database, or a command is at it: end that first'

/** Copies the master key, since opening a vault wipes the one that it is given. */
export const copyKeyOf = ({ masterKey }: FoundFolder): Uint8Array =>
  primitives.keep(Uint8Array.from(masterKey))

async function noteSum({ keyring, keys }: OpenedFolder): Promise<void> {
  if (keys.keepsSum === 'everywhere') return
  await keyring.change(randomBytes, now => ({ ...now, keepsSum: 'everywhere' }))
}

/**
 * @param folder of a vault in a database that nobody serves; its master key is wiped
 * @throws CommandFailure
 */
export async function beginSumInDatabase(folder: FoundFolder): Promise<void> {
  const opened = await openFound(folder, { onFailure: () => {}, wasKilled: false })
  const { store, database, keyring, keys } = opened
  try {
    if ((await database?.isAlone()) !== true) throw new CommandFailure(served)
    await database?.beginSum(sumSealerOf(keys))
    // From now on a missing sum is damage.
    await noteSum(opened)
  } catch (error) {
    throw error instanceof ApiError ? new CommandFailure(error.message, 1, error) : error
  } finally {
    await store.close()
    keyring.close()
    keys.wipe()
  }
}

const unfit = 'the rows do not fit the sum that its vaults kept: see coffer verify, or try again'

/**
 * @param folder whose store is the new file, which nobody has open; its master key is wiped
 * @param there parts of the sum in the database that the rows come from, which could have changed
 *   since they were checked there; empty for another file
 * @throws CommandFailure
 */
export async function beginSumIn(
  folder: FoundFolder,
  there: readonly SumPart[] = [],
): Promise<void> {
  const opened = await openFound(folder, { onFailure: () => {}, wasKilled: false })
  const { store, keyring, keys } = opened
  try {
    const isBegun = keys.keepsSum === 'everywhere'
    // From now on a missing sum is damage.
    await noteSum(opened)
    await store.close()
    await beginSum(folder.store, sumSealerOf(keys), isBegun ? there : undefined)
  } catch (error) {
    const isUnfit = error instanceof ApiError && error.kind === 'storage_corrupt'
    throw isUnfit ? new CommandFailure(unfit, 1, error) : error
  } finally {
    await store.close()
    keyring.close()
    keys.wipe()
  }
}
