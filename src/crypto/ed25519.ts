/**
 * Ed25519 (RFC 8032) of the runtime, which signs and verifies at once and on every platform.
 *
 * The runtime takes keys in DER only. A key of this type has a fixed header there (RFC 8410).
 * @module
 */
import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { invariant } from '../lib/errors.ts'

export const publicKeyBytes = 32
const seedBytes = 32
export const signatureBytes = 64

const privateHeader = Buffer.from('302e020100300506032b657004220420', 'hex')
const publicHeader = Buffer.from('302a300506032b6570032100', 'hex')

interface Ed25519Key {
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  /** @returns 64 bytes */
  sign(message: Uint8Array): Uint8Array
}

/** @param seed the private key: 32 random bytes, copied; the caller wipes its own */
export function privateKeyOf(seed: Uint8Array): KeyObject {
  invariant(seed.length === seedBytes, 'a seed of Ed25519 has 32 bytes')
  const encoded = Buffer.concat([privateHeader, seed])
  const key = createPrivateKey({ key: encoded, format: 'der', type: 'pkcs8' })
  encoded.fill(0)
  return key
}

/** @param seed as of `privateKeyOf` */
export function signingKeyOf(seed: Uint8Array): Ed25519Key {
  const key = privateKeyOf(seed)
  const exported = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return {
    publicKey: Uint8Array.from(exported.subarray(publicHeader.length)),
    sign: message => sign(null, message, key),
  }
}

/** @returns a check of signatures; bytes that are no point of the curve have none that holds */
export function signatureCheckOf(
  publicKey: Uint8Array,
): (message: Uint8Array, signature: Uint8Array) => boolean {
  invariant(publicKey.length === publicKeyBytes, 'a public key of Ed25519 has 32 bytes')
  const encoded = Buffer.concat([publicHeader, publicKey])
  const key = createPublicKey({ key: encoded, format: 'der', type: 'spki' })
  return (message, signature) => verify(null, message, key, signature)
}
