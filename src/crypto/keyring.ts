/**
 * Keys: the keyring of an installation, the subkeys of its tenants, and digests under them.
 * @module
 */
import { termBytes } from '../limits.ts'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bufferOf, utf8, base58 } from '../bytes.ts'
import { keyBytes, primitives } from './primitives.ts'
import { ApiError } from '../errors.ts'

/*
 * Subkeys: HKDF-SHA256 (RFC 5869) by tenant and purpose, so that no key has two jobs.
 */

/** What a derived key is for. A new purpose is a new label, never a reuse. */
type Purpose = 'keyring' | 'record' | 'index' | 'fingerprint' | 'cursor' | 'backup' | 'backup-check'

/**
 * @param key 32 bytes of high entropy
 * @param scope whose key it is: a tenant id, or the installation's scope
 * @returns 32 bytes
 */
export const deriveKey = (key: Uint8Array, purpose: Purpose, scope: string): Uint8Array =>
  hkdf(sha256, key, utf8(scope), utf8(`coffer/1/${purpose}`), keyBytes)

/*
 * The keyring: all keys that data at rest depends on, wrapped as one value by the master key.
 *
 * Data keys are numbered. New values are sealed under the current one; readable ones open older
 * values. The index and fingerprint keys stay for the life of the installation, since digests on
 * disk and fingerprints that clients hold depend on them. Source: docs/decisions.md, "Keys".
 */

type DataKeyState = 'current' | 'readable' | 'retired'

interface DataKey {
  readonly number: number
  readonly state: DataKeyState
  readonly key: Uint8Array
}

export interface Keyring {
  /** Whether ids that nobody chose carry an era (`tokens/id.ts`): not before folder format 4. */
  readonly idsHaveEras: boolean
  readonly dataKeys: readonly DataKey[]
  readonly indexKey: Uint8Array
  readonly fingerprintKey: Uint8Array
}

const versionWithoutEras = 1
const versionWithEras = 2
const states: readonly DataKeyState[] = ['current', 'readable', 'retired']
const entryBytes = 4 + 1 + keyBytes
const headBytes = 1 + 1 + 2 * keyBytes

export function createKeyring(randomBytes: (count: number) => Uint8Array): Keyring {
  const fresh = () => primitives.keep(randomBytes(keyBytes))
  return {
    idsHaveEras: true,
    dataKeys: [{ number: 1, state: 'current', key: fresh() }],
    indexKey: fresh(),
    fingerprintKey: fresh(),
  }
}

/**
 * Layout: version u8 · index key 32 · fingerprint key 32 · count u8, then for each data key
 * number u32be · state u8 · key 32.
 */
export function encodeKeyring(keyring: Keyring): Uint8Array {
  const bytes = Buffer.alloc(headBytes + keyring.dataKeys.length * entryBytes)
  bytes[0] = keyring.idsHaveEras ? versionWithEras : versionWithoutEras
  bytes.set(keyring.indexKey, 1)
  bytes.set(keyring.fingerprintKey, 1 + keyBytes)
  bytes[headBytes - 1] = keyring.dataKeys.length
  keyring.dataKeys.forEach((entry, index) => {
    const at = headBytes + index * entryBytes
    bytes.writeUInt32BE(entry.number, at)
    bytes[at + 4] = states.indexOf(entry.state)
    bytes.set(entry.key, at + 5)
  })
  return bytes
}

/**
 * @param encoded its keys are moved: they are wiped there
 * @throws ApiError `storage_corrupt` when the layout, a state or the one current key is wrong
 */
export function decodeKeyring(encoded: Uint8Array): Keyring {
  const bytes = bufferOf(encoded)
  // No count that fits the length is a fraction, or below zero.
  const count = (bytes.length - headBytes) / entryBytes
  const [version] = bytes
  const isKnown = version === versionWithEras || version === versionWithoutEras
  if (!isKnown || bytes[headBytes - 1] !== count) {
    throw new ApiError('storage_corrupt', 'the keyring does not have the expected layout')
  }
  const dataKeys = Array.from({ length: count }, (_, index) => decodeEntry(bytes, index))
  if (dataKeys.filter(entry => entry.state === 'current').length !== 1) {
    throw new ApiError('storage_corrupt', 'the keyring does not have exactly one current key')
  }
  const keep = (at: number) => primitives.keep(bytes.subarray(at, at + keyBytes))
  const idsHaveEras = version === versionWithEras
  return { idsHaveEras, dataKeys, indexKey: keep(1), fingerprintKey: keep(1 + keyBytes) }
}

function decodeEntry(bytes: Buffer, index: number): DataKey {
  const at = headBytes + index * entryBytes
  const state = states[bytes.readUInt8(at + 4)]
  if (state === undefined) {
    throw new ApiError('storage_corrupt', 'the keyring has a key in an unknown state')
  }
  const key = primitives.keep(bytes.subarray(at + 5, at + entryBytes))
  return { number: bytes.readUInt32BE(at), state, key }
}

/*
 * Key scopes: the subkeys of one tenant, or of the installation itself.
 *
 * Credentials live in the installation's scope, because an API key is looked up before its tenant
 * is known. Everything else lives in the scope of its tenant. Subkeys are derived once and kept.
 */

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
  /** See `Keyring`. */
  readonly idsHaveEras: boolean
  readonly installation: KeyScope
  tenant(tenantId: string): KeyScope
}

const installationName = 'installation'

function makeScope(keyring: Keyring, name: string): KeyScope {
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
export function makeKeys(keyring: Keyring): Keys {
  const tenants = new Map<string, KeyScope>()
  return {
    idsHaveEras: keyring.idsHaveEras,
    installation: makeScope(keyring, installationName),
    tenant(tenantId) {
      let scope = tenants.get(tenantId)
      if (scope === undefined) {
        scope = makeScope(keyring, tenantId)
        tenants.set(tenantId, scope)
      }
      return scope
    },
  }
}

/*
 * Keyed digests: what the blind store is searched by, and fingerprints.
 *
 * HMAC-SHA256 (RFC 2104), which PCI DSS 3.5.1.1 names for hashes of card numbers. The input is
 * injective: a label without NUL, NUL, then each field behind its length.
 */

/** What a digest stands for; two labels never give the same digest for the same text. */
export type DigestLabel =
  | 'api-key'
  | 'application-id'
  | 'application-key'
  | 'application-tenant'
  | 'application-type'
  | 'idempotency'
  | 'idempotency-body'
  | 'session-id'
  | 'session-key'
  | 'session-nonce'
  | 'session-tenant'
  | 'tenant'
  | 'tenant-id'
  | 'token-id'
  | 'token-id-era'
  | 'token-dedup'
  | 'token'
  | 'token-type'
  | 'token-container'
  | 'token-below-container'
  | 'token-id-prefix'
  | 'token-metadata'
  | 'token-search'
  | 'token-search-shown'
  | 'token-search-blank'
  | 'token-fingerprint'
  | 'token-fingerprint-hidden'
  | 'token-created-by'
  | 'token-created-day'
  | 'token-created-span'
  | 'token-modified-by'
  | 'token-modified-day'
  | 'token-modified-span'

function hasherOf(key: Uint8Array, label: string, fields: readonly string[]): Bun.CryptoHasher {
  let input = label + '\0'
  for (const field of fields) input += `${field.length}:${field}`
  return new Bun.CryptoHasher('sha256', key).update(input)
}

/** 32 bytes: what at most one live row holds. */
export const uniqueDigest = (
  scope: Pick<KeyScope, 'indexKey'>,
  label: DigestLabel,
  ...fields: readonly string[]
): Uint8Array => hasherOf(scope.indexKey, label, fields).digest()

/** A hasher asks for the length of the longest digest there is, whatever its own is. */
const digestScratch = new Uint8Array(64)

/** 16 bytes: what many rows are found by. */
export const termDigest = (
  scope: KeyScope,
  label: DigestLabel,
  ...fields: readonly string[]
): Uint8Array => {
  hasherOf(scope.indexKey, label, fields).digest(digestScratch)
  return digestScratch.slice(0, termBytes)
}

/** 44 characters, equal for equal content of one type in one tenant (contract section 8). */
export const fingerprint = (scope: KeyScope, type: string, content: string): string =>
  base58(hasherOf(scope.fingerprintKey, 'fingerprint', [type, content]).digest())
