/**
 * Integrity of a store, and the sum over its rows, once its server has ended.
 * @module
 */
import { join } from 'node:path'
import { existsSync } from 'node:fs'
import { sumSealerOf } from '../../../src/records/sum-sealer.ts'
import type { Keys } from '../../../src/crypto/keyring.ts'
import { readMasterKey } from '../../../src/server/keys/master-key.ts'
import { openWithEither } from '../../../src/server/keys/next-master-key.ts'
import { makeSumCheck } from '../../../src/store/core/check-sum.ts'
import { openLmdbStore, type LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts'
import { openVaultKeys } from '../../../src/vault/vault.ts'

/** Compares the rows with their sum. */
export async function sumDamageIn(store: LmdbStore, keys: Keys): Promise<string[]> {
  const sealer = sumSealerOf(keys)
  const { add, end } = makeSumCheck(sealer)
  for (const row of store.everyRow()) add(row)
  const stored = await store.storedSum()
  return stored === undefined ? ['no sum'] : end(stored).map(kind => `sum: ${kind}`)
}

/** Rows, indexes and sum that disagree; empty if all agree. @param data the data folder */
export async function findDamage(data: string): Promise<string[]> {
  const store = await openLmdbStore({ path: join(data, 'store') })
  const findings = await store.integrity()
  const masterKey = join(data, 'master.key')
  const open = (key: Uint8Array): Promise<Keys> => openVaultKeys(store, key)
  const ofSum = existsSync(masterKey)
    ? await sumDamageIn(store, await openWithEither(masterKey, readMasterKey(masterKey), open))
    : []
  await store.close()
  return [...findings.map(({ kind, ordinal }) => `integrity: ${kind} at ${ordinal}`), ...ofSum]
}
