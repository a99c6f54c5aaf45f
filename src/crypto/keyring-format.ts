/**
 * The keyring: its contents and its bytes.
 * @module
 */
import { bufferOf } from '../lib/bytes.ts'
import { ApiError, otherFormat } from '../lib/errors.ts'
import { keyBytes, primitives } from './primitives.ts'

/*
 * The keyring: all keys that data at rest depends on, wrapped as one value by the master key.
 *
 * Data keys are numbered. New values are sealed under the current one; readable ones open older
 * values, until those are resealed and the key is retired, that is, deleted. The index and
 * fingerprint keys last as long as the installation, since digests on disk and fingerprints that
 * clients hold depend on them. Source: docs/decisions.md, "Keys".
 */

interface DataKey {
  readonly number: number
  readonly state: 'current' | 'readable'
  /** Unix milliseconds. */
  readonly madeMs: number
  readonly key: Uint8Array
}

export interface Keyring {
  readonly dataKeys: readonly DataKey[]
  readonly indexKey: Uint8Array
  readonly fingerprintKey: Uint8Array
  /**
   * Earlier keyrings, sealed as they were stored: searched for in the files until none is left,
   * since they hold deleted keys.
   */
  readonly replaced: readonly Uint8Array[]
  /**
   * Stores in which the vault keeps the sum over its rows. The keyring says so, because it is
   * sealed: a sum that is missing was taken away.
   */
  readonly keepsSum: SumPlaces
}

/** None, that of a folder alone, or each one. */
export type SumPlaces = 'nowhere' | 'folder' | 'everywhere'

/**
 * The first byte of a keyring. The formats of vaults that keep no sum, or none over a database, are
 * still read, and written for them; coffers that know them alone would change rows without it.
 */
const keyringFormat = 5
const formats: Readonly<Record<SumPlaces, number>> = {
  nowhere: 3,
  folder: 4,
  everywhere: keyringFormat,
}
const placesOf = (format: number): SumPlaces | undefined =>
  (['nowhere', 'folder', 'everywhere'] as const).find(places => formats[places] === format)
const idsHaveEras = 1
const states: readonly DataKey['state'][] = ['current', 'readable']

export function createKeyring(randomBytes: (count: number) => Uint8Array, madeMs: number): Keyring {
  const fresh = () => primitives.keep(randomBytes(keyBytes))
  return {
    dataKeys: [{ number: 1, state: 'current', madeMs, key: fresh() }],
    indexKey: fresh(),
    fingerprintKey: fresh(),
    replaced: [],
    keepsSum: 'everywhere',
  }
}

const entryBytes = 4 + 1 + 6 + keyBytes
const headBytes = 1 + 1 + 2 * keyBytes

/**
 * Layout: format u8, of where the sum is kept · index key 32 · fingerprint key 32 · count u8, then
 * for each data key number u32be · state u8 · made at u48be, milliseconds · key 32; then 1 (ids
 * have eras, see `tokens/token-id.ts`) · count u8, then each replaced keyring behind its length
 * u16be.
 */
export function encodeKeyring(keyring: Keyring): Uint8Array {
  const { dataKeys, replaced, keepsSum } = keyring
  const replacedBytes = replaced.reduce((sum, sealed) => sum + 2 + sealed.length, 0)
  const bytes = Buffer.alloc(headBytes + dataKeys.length * entryBytes + 2 + replacedBytes)
  bytes[0] = formats[keepsSum]
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
  bytes[at] = idsHaveEras
  bytes[at + 1] = replaced.length
  at += 2
  for (const sealed of replaced) {
    bytes.writeUInt16BE(sealed.length, at)
    bytes.set(sealed, at + 2)
    at += 2 + sealed.length
  }
  return bytes
}

/** Number of first bytes of an encoded keyring that hold keys. */
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

function decodeEntry(bytes: Buffer, at: number): DataKey {
  const state = states[bytes.readUInt8(at + 4)]
  if (state === undefined) {
    throw new ApiError('storage_corrupt', 'the keyring has a key in an unknown state')
  }
  const key = primitives.keep(bytes.subarray(at + entryBytes - keyBytes, at + entryBytes))
  return { number: bytes.readUInt32BE(at), state, madeMs: bytes.readUIntBE(at + 5, 6), key }
}

function decodeKnown(bytes: Buffer): Keyring {
  const format = bytes.readUInt8(0)
  const keepsSum = placesOf(format)
  if (keepsSum === undefined) {
    throw new ApiError('unavailable', otherFormat('the keyring', format, keyringFormat))
  }
  const count = bytes.readUInt8(headBytes - 1)
  const restAt = headBytes + count * entryBytes
  if (bytes.readUInt8(restAt) !== idsHaveEras) throw wrongLayout()
  const replaced = decodeReplaced(bytes, restAt + 1)
  const dataKeys = Array.from({ length: count }, (_, index) =>
    decodeEntry(bytes, headBytes + index * entryBytes),
  )
  if (dataKeys.filter(entry => entry.state === 'current').length !== 1) {
    throw new ApiError('storage_corrupt', 'the keyring does not have exactly one current key')
  }
  const keep = (at: number) => primitives.keep(bytes.subarray(at, at + keyBytes))
  return { replaced, dataKeys, indexKey: keep(1), fingerprintKey: keep(1 + keyBytes), keepsSum }
}

/**
 * @param encoded its keys are moved out, and wiped there
 * @throws ApiError `unavailable` for a keyring of another format; `storage_corrupt` when the
 *   layout, a state or the one current key is wrong
 */
export function decodeKeyring(encoded: Uint8Array): Keyring {
  try {
    return decodeKnown(bufferOf(encoded))
  } catch (error) {
    if (error instanceof RangeError) throw wrongLayout()
    throw error
  }
}
