/**
 * The two primitives of the vault's cryptography, with two implementations that compute the same
 * bytes: libsodium (native, the hot path) and noble (portable: the fallback on platforms without a
 * native build, and the oracle in tests).
 * @module
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { argon2id } from '@noble/hashes/argon2.js'
import { blake2b } from '@noble/hashes/blake2.js'
import { makeSlabs, ownBytes } from '../lib/bytes.ts'
import { keySlabBytes } from '../limits/work-limits.ts'

export const keyBytes = 32
export const nonceBytes = 24
export const tagBytes = 16
export const passphraseSaltBytes = 16

/** Cost of one guess at a passphrase. */
interface StretchCost {
  readonly passes: number
  /** A multiple of 1,024, at least 8,192. */
  readonly memoryBytes: number
}

export interface Primitives {
  readonly name: 'native' | 'portable'
  /** BLAKE2b with a 32-byte key (RFC 7693). @param into 16 to 64 bytes; filled and returned */
  keyedHash(key: Uint8Array, input: Uint8Array, into: Uint8Array): Uint8Array
  /**
   * XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha section 2): ciphertext, then the 16-byte tag.
   * @param into as long as both, filled and returned; by default, new bytes
   */
  encrypt(
    key: Uint8Array,
    nonce: Uint8Array,
    plaintext: Uint8Array,
    aad?: Uint8Array,
    into?: Uint8Array,
  ): Uint8Array
  /**
   * Returns `undefined` when the tag is wrong; no plaintext exists before the tag is checked.
   * @param into as long as the plaintext, filled and returned; by default, new bytes
   */
  decrypt(
    key: Uint8Array,
    nonce: Uint8Array,
    sealed: Uint8Array,
    aad?: Uint8Array,
    into?: Uint8Array,
  ): Uint8Array | undefined
  /** A key from a passphrase: Argon2id, version 1.3, one lane (RFC 9106). @param salt 16 bytes */
  stretch(passphrase: Uint8Array, salt: Uint8Array, cost: StretchCost): Uint8Array
  /**
   * Moves key bytes into memory that is locked and kept out of core dumps if possible, and wipes
   * the given bytes.
   */
  keep(key: Uint8Array): Uint8Array
  /** True if all kept keys are in locked memory, so that none is ever swapped out. */
  isLocked(): boolean
}

/** The functions of sodium-native 5 that are called here; it ships no types. */
interface Sodium {
  /** Locks the memory it returns, and is silent if that is not allowed. */
  sodium_malloc(size: number): Buffer
  /** Throws if that is not allowed. */
  sodium_mlock(memory: Buffer): void
  readonly crypto_pwhash_ALG_ARGON2ID13: number
  crypto_pwhash(
    output: Uint8Array,
    passphrase: Uint8Array,
    salt: Uint8Array,
    passes: number,
    memoryBytes: number,
    algorithm: number,
  ): void
  crypto_generichash(output: Uint8Array, input: Uint8Array, key: Uint8Array): void
  crypto_aead_xchacha20poly1305_ietf_encrypt(
    ciphertext: Uint8Array,
    message: Uint8Array,
    aad: Uint8Array | undefined,
    secretNonce: null,
    nonce: Uint8Array,
    key: Uint8Array,
  ): number
  crypto_aead_xchacha20poly1305_ietf_decrypt(
    message: Uint8Array,
    secretNonce: null,
    ciphertext: Uint8Array,
    aad: Uint8Array | undefined,
    nonce: Uint8Array,
    key: Uint8Array,
  ): number
}

export const portable: Primitives = {
  name: 'portable',
  keyedHash(key, input, into) {
    into.set(blake2b(input, { key, dkLen: into.length }))
    return into
  },
  encrypt: (key, nonce, plaintext, aad, into) =>
    xchacha20poly1305(key, nonce, aad).encrypt(plaintext, into),
  decrypt(key, nonce, sealed, aad, into) {
    try {
      return xchacha20poly1305(key, nonce, aad).decrypt(sealed, into)
    } catch {
      // noble throws alike for a wrong tag, a short input and a wrong nonce length: none opens.
      return undefined
    }
  },
  stretch: (passphrase, salt, { passes, memoryBytes }) =>
    argon2id(passphrase, salt, { t: passes, m: memoryBytes / 1_024, p: 1, dkLen: keyBytes }),
  keep(key) {
    const kept = Uint8Array.from(key)
    key.fill(0)
    return kept
  },
  isLocked: () => false,
}

/** Many keys share one guarded allocation: each costs memory maps, which are limited. */
function makeKeyStore(sodium: Sodium): Pick<Primitives, 'keep' | 'isLocked'> {
  let isLocked = true
  const roomFor = makeSlabs(keySlabBytes, size => {
    const slab = sodium.sodium_malloc(size)
    try {
      sodium.sodium_mlock(slab)
    } catch {
      isLocked = false
    }
    return slab
  })
  return {
    keep(key) {
      const kept = roomFor(key.length)
      kept.set(key)
      key.fill(0)
      return kept
    },
    isLocked: () => isLocked,
  }
}

const nativeFrom = (sodium: Sodium): Primitives => ({
  name: 'native',
  keyedHash(key, input, into) {
    sodium.crypto_generichash(into, input, key)
    return into
  },
  encrypt(key, nonce, plaintext, aad, into) {
    const sealed = into ?? Buffer.allocUnsafeSlow(plaintext.length + tagBytes)
    sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(sealed, plaintext, aad, null, nonce, key)
    return sealed
  },
  decrypt(key, nonce, sealed, aad, into) {
    if (sealed.length < tagBytes || nonce.length !== nonceBytes) return undefined
    const plaintext = into ?? Buffer.allocUnsafeSlow(sealed.length - tagBytes)
    try {
      sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(plaintext, null, sealed, aad, nonce, key)
      return plaintext
    } catch {
      // The binding throws when the tag is wrong.
      return undefined
    }
  },
  stretch(passphrase, salt, { passes, memoryBytes }) {
    const key = ownBytes(keyBytes)
    const algorithm = sodium.crypto_pwhash_ALG_ARGON2ID13
    sodium.crypto_pwhash(key, passphrase, salt, passes, memoryBytes, algorithm)
    return key
  },
  ...makeKeyStore(sodium),
})

/** Returns the portable ones if `load` throws: sodium-native has no build for the platform. */
export function loadPrimitives(load: () => unknown): Primitives {
  try {
    return nativeFrom(load() as Sodium)
  } catch {
    return portable
  }
}

// A literal require, so that the bundler embeds the addon, and other platforms do without it.
export const primitives: Primitives = loadPrimitives(() => require('sodium-native'))
