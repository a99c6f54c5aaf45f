/**
 * A vault on a store of its own, whose keys are changed within this process.
 * @module
 */
import { auditLogOf } from '../support/audit-log.ts'
import { afterAll } from 'bun:test'
import { uniqueDigest } from '../../src/crypto/keyring.ts'
import type { Deps } from '../../src/deps.ts'
import { withKeyringFence } from '../../src/vault/keyring/fence.ts'
import { openKeyring } from '../../src/vault/keyring/live-keyring.ts'
import { sealRow } from '../../src/records/seal-row.ts'
import type { RowHeader } from '../../src/store/contract.ts'
import { defaultSettings } from '../../src/settings/settings.ts'
import { openLmdbStore, type LmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { createVault } from '../../src/vault/vault.ts'
import { makeScheduler } from '../../src/lib/work.ts'
import { temporaryFolder } from '../support/folders.ts'
import { seededBytes } from '../support/seeded.ts'

export const randomBytes = seededBytes(1)
const now = () => 1_800_000_000_000
const elapsedMs = () => performance.now()
const stores: LmdbStore[] = []

afterAll(async () => {
  for (const store of stores) await store.close()
})

/** @param change wraps the store */
export async function openVault(change: (store: LmdbStore) => LmdbStore = store => store) {
  const path = temporaryFolder()
  const plain = await openLmdbStore({ path })
  stores.push(plain)
  const masterKey = randomBytes(32)
  const { key } = await createVault({ store: plain, now, randomBytes }, masterKey)
  const keyring = await openKeyring(plain, masterKey)
  const store = change(withKeyringFence(plain, keyring))
  const deps: Deps = {
    store,
    keys: keyring.keys,
    now,
    settled: now,
    elapsedMs,
    turns: makeScheduler(elapsedMs),
    randomBytes,
    log: () => {},
    audit: auditLogOf({ store, keys: keyring.keys, now, log: () => {} }),
    settings: defaultSettings,
  }
  let count = 0
  const sealNew = (more: Partial<RowHeader> = {}) => {
    const { keys } = keyring
    const unique = uniqueDigest(keys.installation, 'tenant-id', String((count += 1)))
    const header = { uniques: [unique], terms: [], ...more }
    const sealer = { scope: keys.installation, collection: 'tenant' } as const
    return sealRow(sealer, randomBytes, header, 1, [Buffer.from('{}')])
  }
  /** A write as of a request: sealed under the current key, and refused under an older one. */
  const insert = () => store.write([{ insert: sealNew() }])
  const holder = { store, keyring, now, randomBytes }
  const managementKey = key.reveal()
  return { path, plain, masterKey, store, keyring, deps, holder, sealNew, insert, managementKey }
}
