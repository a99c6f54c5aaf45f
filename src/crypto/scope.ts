/**
 * Key scopes: the subkeys of one tenant, or of the installation itself.
 *
 * Credentials live in the installation's scope, because an API key is looked up before its tenant
 * is known. Everything else lives in the scope of its tenant. Subkeys are derived once and kept.
 * @module
 */
import { ApiError } from '../errors.ts'
import { deriveKey, type Purpose } from './derive.ts'
import type { Keyring } from './keyring.ts'
import { primitives } from './primitives.ts'

export interface KeyScope {
  /** A tenant id, or `installation`. Part of every value's context. */
  readonly name: string
  readonly indexKey: Uint8Array
  readonly fingerprintKey: Uint8Array
  /** Seals the cursors of lists; never what is stored. */
  readonly cursorKey: Uint8Array
  readonly currentKeyNumber: number
  /** The record key of that number. @throws ApiError `storage_corrupt` when there is none */
  recordKey(number: number): Uint8Array
}

export interface Keys {
  readonly installation: KeyScope
  tenant(tenantId: string): KeyScope
}

const installationName = 'installation'

function openScope(keyring: Keyring, name: string): KeyScope {
  const derive = (key: Uint8Array, purpose: Purpose) =>
    primitives.keep(deriveKey(key, purpose, name))
  const usable = keyring.dataKeys.filter(entry => entry.state !== 'retired')
  const recordKeys = new Map(usable.map(entry => [entry.number, derive(entry.key, 'record')]))
  const current = usable.find(entry => entry.state === 'current')
  if (current === undefined) throw new ApiError('internal', 'the keyring has no current key')
  return {
    name,
    indexKey: derive(keyring.indexKey, 'index'),
    fingerprintKey: derive(keyring.fingerprintKey, 'fingerprint'),
    cursorKey: derive(keyring.indexKey, 'cursor'),
    currentKeyNumber: current.number,
    recordKey(number) {
      const key = recordKeys.get(number)
      if (key === undefined) throw new ApiError('storage_corrupt', 'a value names an unknown key')
      return key
    },
  }
}

/** The number of scopes is the number of tenants: ids reach this only from opened records. */
export function openKeys(keyring: Keyring): Keys {
  const tenants = new Map<string, KeyScope>()
  return {
    installation: openScope(keyring, installationName),
    tenant(tenantId) {
      let scope = tenants.get(tenantId)
      if (scope === undefined) {
        scope = openScope(keyring, tenantId)
        tenants.set(tenantId, scope)
      }
      return scope
    },
  }
}
