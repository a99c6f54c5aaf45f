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
 * values, until those are sealed anew and the key is retired: then it is no longer there. The
 * index and fingerprint keys stay for the life of the installation, since digests on disk and
 * fingerprints that clients hold depend on them. Source: docs/decisions.md, "Keys".
 */

interface DataKey {
  readonly number: number
  readonly state: 'current' | 'readable'
  /** Unix milliseconds; 0 where it was not noted yet, by an older version. */
  readonly madeMs: number
  readonly key: Uint8Array
}

export interface Keyring {
  /** Whether ids that nobody chose carry an era (`tokens/id.ts`): not before folder format 4. */
  readonly idsHaveEras: boolean
  readonly dataKeys: readonly DataKey[]
  readonly indexKey: Uint8Array
  readonly fingerprintKey: Uint8Array
  /**
   * Keyrings before this one, sealed as they were stored: to be looked for in the files until they
   * are found nowhere any more, since they hold keys that are gone.
   */
  readonly replaced: readonly Uint8Array[]
}

const versionWithoutEras = 1
const versionWithEras = 2
/** With what is noted of keys, and the keyrings before. */
const versionNow = 3
const states: readonly DataKey['state'][] = ['current', 'readable']

export function createKeyring(randomBytes: (count: number) => Uint8Array, madeMs: number): Keyring {
  const fresh = () => primitives.keep(randomBytes(keyBytes))
  return {
    idsHaveEras: true,
    dataKeys: [{ number: 1, state: 'current', madeMs, key: fresh() }],
    indexKey: fresh(),
    fingerprintKey: fresh(),
    replaced: [],
  }
}

const entryBytes = 4 + 1 + 6 + keyBytes
const olderEntryBytes = 4 + 1 + keyBytes
const headBytes = 1 + 1 + 2 * keyBytes

/**
 * Layout: version u8, 3 · index key 32 · fingerprint key 32 · count u8, then for each data key
 * number u32be · state u8 · made at u48be, milliseconds · key 32; then whether ids have eras u8 ·
 * count u8, then each replaced keyring behind its length u16be. Versions 1 and 2, ids with eras in
 * the latter, end with the data keys, of which none says when it was made.
 */
export function encodeKeyring(keyring: Keyring): Uint8Array {
  const { dataKeys, replaced } = keyring
  const replacedBytes = replaced.reduce((sum, sealed) => sum + 2 + sealed.length, 0)
  const bytes = Buffer.alloc(headBytes + dataKeys.length * entryBytes + 2 + replacedBytes)
  bytes[0] = versionNow
  bytes.set(keyring.indexKey, 1)
  bytes.set(keyring.fingerprintKey, 1 + keyBytes)
  bytes[headBytes - 1] = dataKeys.length
  let at = headBytes
  for (const { number, state, madeMs, key } of dataKeys) {
    bytes.writeUInt32BE(number, at)
    bytes[at + 4] = states.indexOf(state)
    bytes.writeUIntBE(madeMs, at + 5, 6)
    bytes.set(key, at + 11)
    at += entryBytes
  }
  bytes[at] = keyring.idsHaveEras ? 1 : 0
  bytes[at + 1] = replaced.length
  at += 2
  for (const sealed of replaced) {
    bytes.writeUInt16BE(sealed.length, at)
    bytes.set(sealed, at + 2)
    at += 2 + sealed.length
  }
  return bytes
}

/** How much of an encoded keyring, from its beginning, holds keys. */
export const secretBytesOf = ({ dataKeys }: Keyring): number =>
  headBytes + dataKeys.length * entryBytes

const wrongLayout = () =>
  new ApiError('storage_corrupt', 'the keyring does not have the expected layout')

/** @throws RangeError beyond the end of the bytes */
function decodeReplaced(bytes: Buffer, from: number): readonly Uint8Array[] {
  const replaced: Uint8Array[] = []
  let at = from + 1
  for (let left = bytes.readUInt8(from); left > 0; left -= 1) {
    const end = at + 2 + bytes.readUInt16BE(at)
    replaced.push(Uint8Array.from(bytes.subarray(at + 2, end)))
    at = end
  }
  if (at !== bytes.length) throw wrongLayout()
  return replaced
}

function decodeEntry(bytes: Buffer, at: number, size: number): DataKey {
  const state = states[bytes.readUInt8(at + 4)]
  if (state === undefined) {
    throw new ApiError('storage_corrupt', 'the keyring has a key in an unknown state')
  }
  const madeMs = size === entryBytes ? bytes.readUIntBE(at + 5, 6) : 0
  const key = primitives.keep(bytes.subarray(at + size - keyBytes, at + size))
  return { number: bytes.readUInt32BE(at), state, madeMs, key }
}

/** What stands behind the data keys. @throws RangeError beyond the end of the bytes */
function decodeRest(
  bytes: Buffer,
  version: number,
  at: number,
): Pick<Keyring, 'idsHaveEras' | 'replaced'> {
  if (version === versionNow) {
    return { idsHaveEras: bytes.readUInt8(at) === 1, replaced: decodeReplaced(bytes, at + 1) }
  }
  if (at !== bytes.length) throw wrongLayout()
  return { idsHaveEras: version === versionWithEras, replaced: [] }
}

function decodeKnown(bytes: Buffer): Keyring {
  const version = bytes.readUInt8(0)
  const isKnown = version >= versionWithoutEras && version <= versionNow
  if (!isKnown) throw wrongLayout()
  const size = version === versionNow ? entryBytes : olderEntryBytes
  const count = bytes.readUInt8(headBytes - 1)
  const rest = decodeRest(bytes, version, headBytes + count * size)
  const dataKeys = Array.from({ length: count }, (_, index) =>
    decodeEntry(bytes, headBytes + index * size, size),
  )
  if (dataKeys.filter(entry => entry.state === 'current').length !== 1) {
    throw new ApiError('storage_corrupt', 'the keyring does not have exactly one current key')
  }
  const keep = (at: number) => primitives.keep(bytes.subarray(at, at + keyBytes))
  return { ...rest, dataKeys, indexKey: keep(1), fingerprintKey: keep(1 + keyBytes) }
}

/**
 * @param encoded its keys are moved: they are wiped there
 * @throws ApiError `storage_corrupt` when the layout, a state or the one current key is wrong
 */
export function decodeKeyring(encoded: Uint8Array): Keyring {
  try {
    return decodeKnown(bufferOf(encoded))
  } catch (error) {
    if (error instanceof RangeError) throw wrongLayout()
    throw error
  }
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
  /**
   * What is sealed from now on is sealed under the current key of another keyring of the same
   * installation. Scopes are made anew: none is to be kept while others run, since what is sealed
   * in one that was kept lands nowhere.
   * @returns wipes the keys that it has no more; until then they open what was read before
   */
  adopt(keyring: Keyring): () => void
  /** Overwrites all of them, once nothing is sealed or opened any more. */
  wipe(): void
}

const installationName = 'installation'

/** Asked where a value names a key that this process does not know: another may have made it. */
type LookAgain = () => void

/** Subkeys of a scope: one of each, whatever keyrings come and go. */
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

/** A scope as a keyring has it. @param keys get the record keys that they lack */
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

/** The keys of a keyring itself; what was derived from them stays. */
function wipe({ dataKeys, indexKey, fingerprintKey }: Keyring): void {
  for (const { key } of dataKeys) key.fill(0)
  for (const key of [indexKey, fingerprintKey]) key.fill(0)
}

/**
 * The number of scopes is the number of tenants: ids reach this only from opened records.
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
  const forget = (number: number): void => {
    for (const { recordKeys } of keysOf.values()) {
      recordKeys.get(number)?.fill(0)
      recordKeys.delete(number)
    }
  }
  const wipeAll = (): void => {
    isWiped = true
    for (const { indexKey, fingerprintKey, cursorKey, recordKeys } of keysOf.values()) {
      for (const key of [indexKey, fingerprintKey, cursorKey]) key.fill(0)
      for (const key of recordKeys.values()) key.fill(0)
      // Else somebody who has kept the scope would seal under zeros.
      recordKeys.clear()
    }
    scopes.clear()
    wipe(keyring)
  }
  scopeOf(installationName)
  return {
    wipe: wipeAll,
    get idsHaveEras() {
      return keyring.idsHaveEras
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
      return () => gone.forEach(({ number }) => forget(number))
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
