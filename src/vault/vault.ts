/**
 * Creates and opens a vault: the keyring under its master key, the first tenant and the first
 * management application.
 *
 * Source: docs/decisions.md, "Keys".
 * @module
 */
import { composeManager } from '../applications/application-service.ts'
import { uuidOf } from '../lib/bytes.ts'
import { makeKeys, type Keys } from '../crypto/keyring.ts'
import { createKeyring } from '../crypto/keyring-format.ts'
import type { Deps } from '../deps.ts'
import { ApiError } from '../lib/errors.ts'
import {
  keyringSealer,
  keyringUnique,
  keyringValues,
  openKeyring,
  wipeSealer,
} from './keyring/live-keyring.ts'
import { sealRow } from '../records/seal-row.ts'
import { sumSealerOf } from '../records/sum-sealer.ts'
import { Secret } from '../lib/secret.ts'
import type { Store } from '../store/contract.ts'
import { sealTenant } from '../tenants/tenant-record.ts'

export interface NewVault {
  readonly tenantId: string
  readonly applicationId: string
  readonly key: Secret
}

type Impure = Pick<Deps, 'store' | 'now' | 'randomBytes'>

/**
 * Makes keyring, tenant and management application in one write to an empty store.
 * @throws ApiError `conflict` if another vault was made there meanwhile
 */
export async function createVault(deps: Impure, masterKey: Uint8Array): Promise<NewVault> {
  const { store, randomBytes } = deps
  const keyring = createKeyring(randomBytes, deps.now())
  const keys = makeKeys(keyring)
  const header = { uniques: [keyringUnique], terms: [] }
  const sealer = keyringSealer(masterKey)
  const values = keyringValues(keyring, deps.now())
  const keyringRow = sealRow(sealer, randomBytes, header, 1, values)
  for (const value of values) value.fill(0)
  wipeSealer(sealer)
  const tenantId = uuidOf(randomBytes(16))
  const name = 'First management application'
  const { record, key, row } = composeManager({ ...deps, keys }, tenantId, undefined, name)
  const owned = { id: tenantId, name: 'First tenant', ownerId: record.id, createdAtMs: deps.now() }
  const tenant = sealTenant({ keys, randomBytes }, owned)
  const inserts = [keyringRow, tenant, row]
  store.keepSum(sumSealerOf(keys))
  const outcome = await store.write(inserts.map(insert => ({ insert })))
  if (!outcome.ok) throw new ApiError('conflict', 'the store has a vault')
  return { tenantId, applicationId: record.id, key }
}

/**
 * Opens the keys of a store with its present keyring; wipes what the master key gave.
 * @throws ApiError `storage_corrupt` if there is none, or if the master key does not open it
 */
export async function openVaultKeys(store: Store, masterKey: Uint8Array): Promise<Keys> {
  const keyring = await openKeyring(store, masterKey)
  keyring.close()
  return keyring.keys
}
