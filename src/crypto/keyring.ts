/**
 * Keys: the keyring of an installation, the subkeys of its tenants, and digests under them.
 * @module
 */
import { auditDigestBytes, termBytes } from '../limits/work-limits.ts'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base58, byteAt, utf8 } from '../lib/bytes.ts'
import { keyBytes, primitives } from './primitives.ts'
import { ApiError } from '../lib/errors.ts'
import type { Keyring, SumPlaces } from './keyring-format.ts'

/*
 * Subkeys: HKDF-SHA256 (RFC 5869) by tenant and purpose, so that no key has two uses.
 */

/** Purpose of a derived key. A new purpose needs a new label, never a reuse. */
type Purpose =
  | 'keyring'
  | 'record'
  | 'index'
  | 'fingerprint'
  | 'cursor'
  | 'log'
  | 'audit'
  | 'audit-index'
  | 'events'
  | 'sum'
  | 'sum-nonce'
  | 'sum-seal'
  | 'backup'
  | 'backup-check'
  | 'master-proof'
  | 'passphrase-check'
  | 'share-check'

/**
 * @param key 32 bytes of high entropy
 * @param scope owner of the key: a tenant id, or the installation's scope
 * @returns 32 bytes
 */
export const deriveKey = (key: Uint8Array, purpose: Purpose, scope: string): Uint8Array =>
  hkdf(sha256, key, utf8(scope), utf8(`coffer/1/${purpose}`), keyBytes)

/*
 * Key scopes: the subkeys of one tenant, or of the installation itself.
 *
 * Credentials live in the installation's scope, because an API key is looked up before its tenant
 * is known. Everything else lives in the scope of its tenant. Subkeys are derived once and cached.
 */

export interface KeyScope {
  /** A tenant id, or `installation`. Part of every value's context. */
  readonly name: string
  readonly indexKey: Uint8Array
  readonly fingerprintKey: Uint8Array
  /** Seals the cursors of lists; never stored data. */
  readonly cursorKey: Uint8Array
  readonly currentKeyNumber: number
  /** Returns the record key of a number. @throws ApiError `storage_corrupt` if there is none */
  recordKey(number: number): Uint8Array
}

/** Keys of the sum over all rows of the store. */
interface SumKeys {
  /** Makes the shares of rows. */
  readonly share: Uint8Array
  /** Makes nonces. */
  readonly nonce: Uint8Array
  readonly seal: Uint8Array
}

export interface Keys {
  readonly installation: KeyScope
  tenant(tenantId: string): KeyScope
  /** Digests text that must not be logged, and nothing else; `undefined` once wiped. */
  readonly logKey: Uint8Array | undefined
  /** Seals entries of the audit log, and nothing else; `undefined` once wiped. */
  readonly auditKey: Uint8Array | undefined
  /** Digests what entries of the audit log are found by; `undefined` once wiped. */
  readonly auditIndexKey: Uint8Array | undefined
  /** Seed of the Ed25519 key that signs events, and nothing else; `undefined` once wiped. */
  readonly eventSeed: Uint8Array | undefined
  /** `undefined` once wiped. */
  readonly sumKeys: SumKeys | undefined
  /** Stores in which a vault with these keys keeps the sum over its rows. */
  readonly keepsSum: SumPlaces
  /**
   * From now on seals under the current key of another keyring of the same installation. Scopes are
   * made anew: do not hold one across other work, since values sealed under an old scope are
   * rejected.
   * @returns a function that wipes the dropped keys; until then they open values read earlier
   */
  adopt(keyring: Keyring): () => void
  /** Overwrites all keys, once nothing is sealed or opened any more. */
  wipe(): void
}

const installationName = 'installation'

/** Called when a value names a key unknown to this process: another may have made it. */
type LookAgain = () => void

/** Subkeys of a scope: one of each, shared by all keyrings. */
type ScopeKeys = Pick<KeyScope, 'indexKey' | 'fingerprintKey' | 'cursorKey'> & {
  readonly recordKeys: Map<number, Uint8Array>
}

const derive = (key: Uint8Array, purpose: Purpose, name: string): Uint8Array =>
  primitives.keep(deriveKey(key, purpose, name))

const scopeKeysOf = ({ indexKey, fingerprintKey }: Keyring, name: string): ScopeKeys => ({
  indexKey: derive(indexKey, 'index', name),
  fingerprintKey: derive(fingerprintKey, 'fingerprint', name),
  cursorKey: derive(indexKey, 'cursor', name),
  recordKeys: new Map(),
})

/** Makes a scope from a keyring. @param keys receives the record keys that it lacks */
function makeScope(
  { dataKeys }: Keyring,
  name: string,
  keys: ScopeKeys,
  keyAgain: (number: number) => Uint8Array,
): KeyScope {
  const { recordKeys, indexKey, fingerprintKey, cursorKey } = keys
  for (const { number, key } of dataKeys) {
    if (!recordKeys.has(number)) recordKeys.set(number, derive(key, 'record', name))
  }
  const current = dataKeys.find(entry => entry.state === 'current')
  if (current === undefined) throw new ApiError('internal', 'the keyring has no current key')
  return {
    name,
    indexKey,
    fingerprintKey,
    cursorKey,
    currentKeyNumber: current.number,
    recordKey: number => recordKeys.get(number) ?? keyAgain(number),
  }
}

/** Wipes the keys of a keyring itself; derived keys stay. */
function wipe({ dataKeys, indexKey, fingerprintKey }: Keyring): void {
  for (const { key } of dataKeys) key.fill(0)
  for (const key of [indexKey, fingerprintKey]) key.fill(0)
}

function wipeScope({ indexKey, fingerprintKey, cursorKey, recordKeys }: ScopeKeys): void {
  for (const key of [indexKey, fingerprintKey, cursorKey]) key.fill(0)
  for (const key of recordKeys.values()) key.fill(0)
  // Otherwise a caller that still holds the scope would seal under zeros.
  recordKeys.clear()
}

/** Wipes a record key in every scope. */
function forget(scopes: ReadonlyMap<string, ScopeKeys>, number: number): void {
  for (const { recordKeys } of scopes.values()) {
    recordKeys.get(number)?.fill(0)
    recordKeys.delete(number)
  }
}

/** Keys of the installation that no rotation changes: of logs, events and the sum of rows. */
function ownKeysOf({ indexKey }: Keyring) {
  const auditKey = derive(indexKey, 'audit', installationName)
  const sumKey = derive(indexKey, 'sum', installationName)
  return [
    derive(indexKey, 'log', installationName),
    auditKey,
    derive(auditKey, 'audit-index', installationName),
    derive(indexKey, 'events', installationName),
    sumKey,
    derive(sumKey, 'sum-nonce', installationName),
    derive(sumKey, 'sum-seal', installationName),
  ] as const
}

/**
 * There are only as many scopes as tenants: ids reach this only from opened records.
 * @param lookAgain may adopt another keyring
 */
export function makeKeys(first: Keyring, lookAgain: LookAgain = () => {}): Keys {
  let keyring = first
  const scopes = new Map<string, KeyScope>()
  const keysOf = new Map<string, ScopeKeys>()
  const keyAgain = (name: string, { recordKeys }: ScopeKeys, number: number): Uint8Array => {
    lookAgain()
    scopeOf(name)
    const key = recordKeys.get(number)
    if (key === undefined) throw new ApiError('storage_corrupt', 'a value names an unknown key')
    return key
  }
  let isWiped = false
  const scopeOf = (name: string): KeyScope => {
    if (isWiped) throw new ApiError('unavailable', 'The vault is sealed.')
    const known = scopes.get(name)
    if (known !== undefined) return known
    const keys = keysOf.get(name) ?? scopeKeysOf(keyring, name)
    keysOf.set(name, keys)
    const made = makeScope(keyring, name, keys, number => keyAgain(name, keys, number))
    scopes.set(name, made)
    return made
  }
  const wipeAll = (): void => {
    isWiped = true
    for (const keys of keysOf.values()) wipeScope(keys)
    for (const key of own) key.fill(0)
    scopes.clear()
    wipe(keyring)
  }
  scopeOf(installationName)
  const own = ownKeysOf(first)
  const [logKey, auditKey, auditIndexKey, eventSeed, share, nonce, seal] = own
  const sumKeys = { share, nonce, seal }
  return {
    wipe: wipeAll,
    get logKey() {
      return isWiped ? undefined : logKey
    },
    get auditKey() {
      return isWiped ? undefined : auditKey
    },
    get auditIndexKey() {
      return isWiped ? undefined : auditIndexKey
    },
    get eventSeed() {
      return isWiped ? undefined : eventSeed
    },
    get sumKeys() {
      return isWiped ? undefined : sumKeys
    },
    get keepsSum() {
      return keyring.keepsSum
    },
    get installation() {
      return scopeOf(installationName)
    },
    tenant: scopeOf,
    adopt(next) {
      const gone = keyring.dataKeys.filter(
        ({ number }) => !next.dataKeys.some(entry => entry.number === number),
      )
      wipe(keyring)
      scopes.clear()
      keyring = next
      scopeOf(installationName)
      return () => gone.forEach(({ number }) => forget(keysOf, number))
    },
  }
}

/*
 * Keyed digests: the search terms of the blind store, and fingerprints.
 *
 * HMAC-SHA256 (RFC 2104), which PCI DSS 3.5.1.1 names for hashes of card numbers. The input is
 * injective: a label without NUL, NUL, then each field prefixed with its length.
 */

/** Meaning of a digest; two labels never give the same digest for the same text. */
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
  | 'token-code-key'
  | 'token-dedup'
  | 'token'
  | 'token-type'
  | 'token-container'
  | 'token-below-container'
  | 'token-id-prefix'
  | 'token-metadata'
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
  | 'webhook'
  | 'webhook-id'
  | 'webhook-place'
  | 'webhook-tenant'

function hasherOf(key: Uint8Array, label: string, fields: readonly string[]): Bun.CryptoHasher {
  let input = label + '\0'
  for (const field of fields) input += `${field.length}:${field}`
  return new Bun.CryptoHasher('sha256', key).update(input)
}

/** Returns 32 bytes, held by at most one live row. */
export const uniqueDigest = (
  scope: Pick<KeyScope, 'indexKey'>,
  label: DigestLabel,
  ...fields: readonly string[]
): Uint8Array => hasherOf(scope.indexKey, label, fields).digest()

/** A hasher requires room for the longest digest of any algorithm. */
const digestScratch = new Uint8Array(64)

/** Returns 16 bytes, by which many rows may be found. */
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

/** As base64url these are 132 bits: no two ids of a vault share a digest by chance. */
const logDigestChars = 22

/**
 * Returns the stand-in for a token's id in a log: the same for one id in every tenant, and useless
 * without the key. `undefined` once the vault is sealed.
 */
export const logDigest = ({ logKey }: Pick<Keys, 'logKey'>, id: string): string | undefined =>
  logKey && hasherOf(logKey, 'token', [id]).digest('base64url').slice(0, logDigestChars)

/**
 * Writes the digest by which entries of the audit log are found, 6 bytes: what it finds is opened
 * and tested, so that equal digests of two values cost time and no truth.
 * @throws ApiError `unavailable` once the vault is sealed
 */
export function writeAuditDigest(
  { auditIndexKey }: Pick<Keys, 'auditIndexKey'>,
  target: Uint8Array,
  at: number,
  kind: string,
  ...fields: readonly string[]
): void {
  if (auditIndexKey === undefined) throw new ApiError('unavailable', 'The vault is sealed.')
  hasherOf(auditIndexKey, kind, fields).digest(digestScratch)
  for (let i = 0; i < auditDigestBytes; i += 1) target[at + i] = byteAt(digestScratch, i)
}
