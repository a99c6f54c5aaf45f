/**
 * The keyring: what it holds, and its bytes.
 * @module
 */
import { bufferOf } from '../bytes.ts'
import { ApiError } from '../errors.ts'
import { keyBytes, primitives } from './primitives.ts'

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
