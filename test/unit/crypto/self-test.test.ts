import { expect, test } from 'bun:test'
import { portable, primitives } from '../../../src/crypto/primitives.ts'
import { findBrokenPart, shipped, type Tested } from '../../../src/crypto/self-test.ts'

test('the parts that are shipped give their known answers', () => {
  expect(findBrokenPart()).toBeUndefined()
})

test('both implementations of the primitives give the same known answers', () => {
  expect(primitives.name).toBe('native')
  for (const use of [portable, primitives]) {
    expect(findBrokenPart({ ...shipped, ...use })).toBeUndefined()
  }
})

const changed = (bytes: Uint8Array): Uint8Array => {
  const copy = Uint8Array.from(bytes)
  copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 0x80
  return copy
}

const fail = (): never => {
  throw new Error('broken')
}

const { encrypt, decrypt, keyedHash, deriveKey, uniqueDigest } = shipped

/** Returns the AEAD's plaintext without a check of the tag, whatever the tag is. */
const openUnchecked: Tested['decrypt'] = (key, nonce, sealed, aad) => {
  const opened = decrypt(key, nonce, sealed, aad)
  return opened ?? sealed.subarray(0, -16)
}

/** Opens a value whose first bit at `at`, counted from either end, was turned. */
const openTurned =
  (at: number): Tested['decrypt'] =>
  (key, nonce, sealed, aad) => {
    const turned = Uint8Array.from(sealed)
    const index = at < 0 ? sealed.length + at : at
    turned[index] = (turned[index] ?? 0) ^ 1
    return decrypt(key, nonce, sealed, aad) ?? decrypt(key, nonce, turned, aad)
  }

/** Opens a value under no associated data but its last part. */
const openShorter = (): Tested['decrypt'] => {
  let whole: Uint8Array = new Uint8Array(0)
  return (key, nonce, sealed, aad = whole) => {
    if (aad.length > whole.length) whole = aad
    return decrypt(key, nonce, sealed, whole)
  }
}

const broken: readonly (readonly [string, Partial<Tested>, string])[] = [
  ['encrypts otherwise', { encrypt: (...all) => changed(encrypt(...all)) }, 'XChaCha20-Poly1305'],
  [
    'decrypts otherwise',
    { decrypt: (...all) => changed(decrypt(...all) ?? fail()) },
    'XChaCha20-Poly1305',
  ],
  ['opens nothing', { decrypt: () => undefined }, 'XChaCha20-Poly1305'],
  ['opens under a wrong tag', { decrypt: openUnchecked }, 'XChaCha20-Poly1305'],
  ['opens with another first bit', { decrypt: openTurned(0) }, 'XChaCha20-Poly1305'],
  ['opens with another tag', { decrypt: openTurned(-16) }, 'XChaCha20-Poly1305'],
  ['opens with another end of the tag', { decrypt: openTurned(-1) }, 'XChaCha20-Poly1305'],
  ['opens under less associated data', { decrypt: openShorter() }, 'XChaCha20-Poly1305'],
  ['throws', { encrypt: fail }, 'XChaCha20-Poly1305'],
  [
    'encrypts otherwise with associated data',
    {
      encrypt: (key, nonce, text, aad) =>
        aad === undefined ? encrypt(key, nonce, text) : changed(encrypt(key, nonce, text, aad)),
    },
    'XChaCha20-Poly1305',
  ],
  [
    'encrypts otherwise without associated data',
    { encrypt: (key, nonce, text, aad) => encrypt(key, nonce, text, aad ?? nonce) },
    'XChaCha20-Poly1305',
  ],
  ['hashes otherwise', { keyedHash: (...all) => changed(keyedHash(...all)) }, 'keyed BLAKE2b'],
  [
    'hashes without its key',
    { keyedHash: (key, ...all) => keyedHash(key.slice().fill(0), ...all) },
    'keyed BLAKE2b',
  ],
  ['derives otherwise', { deriveKey: (...all) => changed(deriveKey(...all)) }, 'HKDF-SHA256'],
  [
    'derives one key for all',
    { deriveKey: (key, _purpose, scope) => deriveKey(key, 'index', scope) },
    'HKDF-SHA256',
  ],
  ['digests otherwise', { uniqueDigest: (...all) => changed(uniqueDigest(...all)) }, 'HMAC-SHA256'],
]

// proves S38
test.each(broken)('a part that %s is found', (_, parts, name) => {
  expect(findBrokenPart({ ...shipped, ...parts })).toBe(name)
})
