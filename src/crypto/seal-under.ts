/**
 * One value under a key that is destroyed before the value is.
 *
 * Layout: nonce 24 · ciphertext · tag 16. It commits to no key and no place: it is stored within a
 * row's value, whose head commits to both (`seal.ts`).
 * @module
 */
import { nonceBytes, primitives, tagBytes, type Primitives } from './primitives.ts'
import { encryptInto, sealedRoom } from './seal.ts'

/** @param nonce 24 fresh random bytes, as in a head */
export function sealUnder(
  key: Uint8Array,
  nonce: Uint8Array,
  plaintext: Uint8Array,
  use: Primitives = primitives,
): Uint8Array {
  const sealed = sealedRoom(nonceBytes + plaintext.length + tagBytes)
  sealed.set(nonce)
  encryptInto(use, key, nonce, plaintext, sealed.subarray(nonceBytes))
  return sealed
}

/** @returns new bytes; `undefined` if it was sealed under another key */
export const unsealUnder = (key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined =>
  primitives.decrypt(key, sealed.subarray(0, nonceBytes), sealed.subarray(nonceBytes))
