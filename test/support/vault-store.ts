/**
 * The store of a data folder, beside or without its server.
 * @module
 */
import { join } from 'node:path'
import { readMasterKey } from '../../src/server/keys/master-key.ts'
import { openLmdbStore, type LmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { openVaultKeys } from '../../src/vault/vault.ts'

/** Opens it to be written: with its keys, which keep the sum over its rows. */
export async function openWritableStore(data: string): Promise<LmdbStore> {
  const store = await openLmdbStore({ path: join(data, 'store') })
  await openVaultKeys(store, readMasterKey(join(data, 'master.key')))
  return store
}
