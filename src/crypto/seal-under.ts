/**
 * One value under a key that is destroyed before the value is.
 *
 * Layout: nonce 24 · ciphertext · tag 16. It commits to no key and to no place: it is kept within a
 * value of a row, whose head does both (`seal.ts`).
 * @module
 */
import { makeScratch, makeSlabs } from '../bytes.ts'
import { sealScratchBytes, sealSlabBytes } from '../work-limits.ts'
import { nonceBytes, primitives, tagBytes } from './primitives.ts'

/** For native calls, as in `seal.ts`. */
const sealedRoom = makeSlabs(sealSlabBytes, Buffer.allocUnsafeSlow)
const plaintextScratch = makeScratch(sealScratchBytes)

/** @param nonce 24 fresh random bytes, as of a head */
export function sealUnder(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array): Uint8Array {
  const sealed = sealedRoom(nonceBytes + plaintext.length + tagBytes)
  sealed.set(nonce)
  const bytes = plaintextScratch(plaintext.length)
  bytes.set(plaintext)
  try {
    primitives.encrypt(key, nonce, bytes, undefined, sealed.subarray(nonceBytes))
  } finally {
    bytes.fill(0)
  }
  return sealed
}

/** @returns bytes of its own; `undefined` where it was sealed under another key */
export const unsealUnder = (key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined =>
  primitives.decrypt(key, sealed.subarray(0, nonceBytes), sealed.subarray(nonceBytes))
