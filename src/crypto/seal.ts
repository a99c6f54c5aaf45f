/**
 * Sealed values: how bytes are encrypted at rest.
 *
 * Layout: format u8 · algorithm u8 · key number u32be · nonce 24 · commitment 16 · ciphertext ·
 * tag 16. One keyed hash over header, nonce and associated data gives the message key and the
 * commitment; the commitment is compared before anything is decrypted, so that a value opens under
 * one key and in one place only. A key is chosen by its number, never by trying.
 * Source: design.md, "Keys"; hardening.md C1, C2, C5, C6.
 * @module
 */
import { timingSafeEqual } from 'node:crypto'
import { ApiError } from '../errors.ts'
import { keyBytes, nonceBytes, primitives, tagBytes, type Primitives } from './primitives.ts'

const format = 1
const xchacha20Poly1305 = 1
const headerBytes = 6
const commitmentBytes = 16
const nonceAt = headerBytes
const commitmentAt = nonceAt + nonceBytes
const bodyAt = commitmentAt + commitmentBytes

/** What sealing adds to the length of a plaintext. */
export const sealOverheadBytes = bodyAt + tagBytes

export interface SealKey {
  readonly number: number
  readonly key: Uint8Array
}

/** Message key and commitment of one value: 48 bytes of BLAKE2b over header, nonce and AAD. */
function deriveMessageKey(
  use: Primitives,
  key: Uint8Array,
  headerAndNonce: Uint8Array,
  aad: Uint8Array,
): Uint8Array {
  const input = Buffer.allocUnsafe(headerAndNonce.length + aad.length)
  input.set(headerAndNonce)
  input.set(aad, headerAndNonce.length)
  return use.keyedHash(key, input, keyBytes + commitmentBytes)
}

/**
 * @param aad canonical description of the place where the value stands
 * @param nonce 24 fresh random bytes; 192 bits make random ones safe for any volume (hardening C1)
 */
export function seal(
  sealKey: SealKey,
  aad: Uint8Array,
  nonce: Uint8Array,
  plaintext: Uint8Array,
  use: Primitives = primitives,
): Uint8Array {
  if (nonce.length !== nonceBytes) throw new RangeError(`nonce must be ${nonceBytes} bytes`)
  const sealed = Buffer.allocUnsafe(plaintext.length + sealOverheadBytes)
  sealed[0] = format
  sealed[1] = xchacha20Poly1305
  sealed.writeUInt32BE(sealKey.number, 2)
  sealed.set(nonce, nonceAt)
  const derived = deriveMessageKey(use, sealKey.key, sealed.subarray(0, commitmentAt), aad)
  sealed.set(derived.subarray(keyBytes), commitmentAt)
  sealed.set(use.encrypt(derived.subarray(0, keyBytes), nonce, aad, plaintext), bodyAt)
  derived.fill(0)
  return sealed
}

/**
 * @param keyOf the key of a number; throws when there is none
 * @returns the plaintext, owned by the caller
 * @throws ApiError `storage_corrupt` when header, key, commitment or tag is wrong; never says which
 */
export function open(
  keyOf: (number: number) => Uint8Array,
  aad: Uint8Array,
  sealed: Uint8Array,
  use: Primitives = primitives,
): Uint8Array {
  const plaintext = tryOpen(keyOf, aad, sealed, use)
  if (plaintext === undefined) throw new ApiError('storage_corrupt', 'a sealed value did not open')
  return plaintext
}

/** Read byte by byte: asking pooled bytes for their buffer would cost more than the rest. */
const readKeyNumber = (sealed: Uint8Array): number =>
  sealed.subarray(2, headerBytes).reduce((number, byte) => number * 256 + byte, 0)

function tryOpen(
  keyOf: (number: number) => Uint8Array,
  aad: Uint8Array,
  sealed: Uint8Array,
  use: Primitives,
): Uint8Array | undefined {
  if (sealed.length < sealOverheadBytes) return undefined
  if (sealed[0] !== format || sealed[1] !== xchacha20Poly1305) return undefined
  const number = readKeyNumber(sealed)
  const derived = deriveMessageKey(use, keyOf(number), sealed.subarray(0, commitmentAt), aad)
  const commitment = sealed.subarray(commitmentAt, bodyAt)
  if (!timingSafeEqual(derived.subarray(keyBytes), commitment)) return undefined
  const nonce = sealed.subarray(nonceAt, commitmentAt)
  const plaintext = use.decrypt(derived.subarray(0, keyBytes), nonce, aad, sealed.subarray(bodyAt))
  derived.fill(0)
  return plaintext
}
