/**
 * A vault's beginning and opening: the keyring under its master key, the first tenant and the
 * first management application.
 *
 * The keyring is a row like any other, found by a fixed digest and sealed in a scope that is
 * derived from the master key. Source: docs/decisions.md, "Keys".
 * @module
 */
import { createHash } from 'node:crypto'
import { composeApplication } from './applications/service.ts'
import { uuidOf } from './bytes.ts'
import {
  deriveKey,
  createKeyring,
  decodeKeyring,
  encodeKeyring,
  makeKeys,
  type KeyScope,
  type Keys,
} from './crypto/keyring.ts'
import { primitives } from './crypto/primitives.ts'
import type { Deps } from './deps.ts'
import { mayHold, permissions } from './rules/permissions.ts'
import { ApiError, invariant } from './errors.ts'
import { unsealRow, sealRow, type RowSealer } from './records/rows.ts'
import { Secret } from './secret.ts'
import type { Row, Store } from './store/contract.ts'
import { sealTenant } from './tenants/record.ts'

const keyringScopeName = 'keyring'
/** Where the keyring is found, in every store. */
export const keyringUnique = createHash('sha256').update('coffer/1/keyring').digest()

/** A scope with one key, for the one value that no data key may seal. */
function masterScope(masterKey: Uint8Array): KeyScope {
  const wrappingKey = primitives.keep(deriveKey(masterKey, 'keyring', keyringScopeName))
  return {
    name: keyringScopeName,
    indexKey: wrappingKey,
    fingerprintKey: wrappingKey,
    cursorKey: wrappingKey,
    currentKeyNumber: 0,
    recordKey(number) {
      if (number !== 0) throw new ApiError('storage_corrupt', 'the keyring names an unknown key')
      return wrappingKey
    },
  }
}

/** What seals the keyring. Its key is as good as the master key: `wipeSealer` ends it. */
export const keyringSealer = (masterKey: Uint8Array): RowSealer => ({
  scope: masterScope(masterKey),
  collection: 'keyring',
})

const wipeSealer = ({ scope }: RowSealer): void => void scope.recordKey(0).fill(0)

export interface NewVault {
  readonly tenantId: string
  readonly applicationId: string
  readonly key: Secret
}

type Impure = Pick<Deps, 'store' | 'now' | 'randomBytes'>

/** A management application that may do all that one may, and its row, not yet written. */
export const composeManager = (
  deps: Pick<Deps, 'keys' | 'now' | 'randomBytes'>,
  tenantId: string,
  name: string,
) =>
  composeApplication(deps, tenantId, undefined, {
    name,
    type: 'management',
    permissions: permissions.filter(permission => mayHold('management', permission)),
  })

/** Makes keyring, tenant and management application in one write of an empty store. */
export async function createVault(deps: Impure, masterKey: Uint8Array): Promise<NewVault> {
  const { store, randomBytes } = deps
  const keyring = createKeyring(randomBytes)
  const keys = makeKeys(keyring)
  const header = { uniques: [keyringUnique], terms: [] }
  const sealer = keyringSealer(masterKey)
  const encoded = encodeKeyring(keyring)
  const keyringRow = sealRow(sealer, randomBytes, header, 1, [encoded])
  encoded.fill(0)
  wipeSealer(sealer)
  const tenantId = uuidOf(randomBytes(16))
  const name = 'First management application'
  const { record, key, row } = composeManager({ ...deps, keys }, tenantId, name)
  const owned = { id: tenantId, name: 'First tenant', ownerId: record.id, createdAtMs: deps.now() }
  const tenant = sealTenant({ keys, randomBytes }, owned)
  const inserts = [keyringRow, tenant, row]
  const outcome = await store.write(inserts.map(insert => ({ insert })))
  invariant(outcome.ok, 'a new vault starts on an empty store')
  return { tenantId, applicationId: record.id, key }
}

/** Whether it is the row that the keys are opened from. */
export const isKeyringRow = ({ uniques: [unique] }: Row): boolean =>
  unique !== undefined && keyringUnique.equals(unique)

/**
 * Opens the keyring of a store. What was derived from the master key on the way is wiped.
 * @throws ApiError `storage_corrupt` when there is none, or when the master key does not open it
 */
export async function openVaultKeys(store: Store, masterKey: Uint8Array): Promise<Keys> {
  const row = await store.find(keyringUnique)
  if (row === undefined) throw new ApiError('storage_corrupt', 'the store has no keyring')
  const sealer = keyringSealer(masterKey)
  try {
    const encoded = unsealRow(sealer, row).value(0)
    try {
      return makeKeys(decodeKeyring(encoded))
    } finally {
      encoded.fill(0)
    }
  } finally {
    wipeSealer(sealer)
  }
}
