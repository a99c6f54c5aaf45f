/**
 * The keyring: all keys that data at rest depends on, wrapped as one value by the master key.
 *
 * Data keys are numbered. New values are sealed under the current one; readable ones open older
 * values. The index and fingerprint keys stay for the life of the installation, since digests on
 * disk and fingerprints that clients hold depend on them. Source: docs/decisions.md, "Keys".
 * @module
 */
import { ApiError } from '../errors.ts'
import { keyBytes, primitives } from './primitives.ts'

export type DataKeyState = 'current' | 'readable' | 'retired'

export interface DataKey {
  readonly number: number
  readonly state: DataKeyState
  readonly key: Uint8Array
}

export interface Keyring {
  readonly dataKeys: readonly DataKey[]
  readonly indexKey: Uint8Array
  readonly fingerprintKey: Uint8Array
}

const encodingVersion = 1
const states: readonly DataKeyState[] = ['current', 'readable', 'retired']
const entryBytes = 4 + 1 + keyBytes
const headBytes = 1 + 1 + 2 * keyBytes

export function createKeyring(randomBytes: (count: number) => Uint8Array): Keyring {
  const fresh = () => primitives.keep(randomBytes(keyBytes))
  return {
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
  bytes[0] = encodingVersion
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
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
  // No count that fits the length is a fraction, or below zero.
  const count = (bytes.length - headBytes) / entryBytes
  if (bytes[0] !== encodingVersion || bytes[headBytes - 1] !== count) {
    throw new ApiError('storage_corrupt', 'the keyring does not have the expected layout')
  }
  const dataKeys = Array.from({ length: count }, (_, index) => decodeEntry(bytes, index))
  if (dataKeys.filter(entry => entry.state === 'current').length !== 1) {
    throw new ApiError('storage_corrupt', 'the keyring does not have exactly one current key')
  }
  const keep = (at: number) => primitives.keep(bytes.subarray(at, at + keyBytes))
  return { dataKeys, indexKey: keep(1), fingerprintKey: keep(1 + keyBytes) }
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
