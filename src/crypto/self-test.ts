/**
 * Known answers that every process checks before it touches a vault: a wrong build, a broken native
 * library or a broken machine must fail before it seals data that cannot be opened again.
 *
 * Source: hardening C16. The answers: draft-irtf-cfrg-xchacha-03 appendix A.3.1, and for the others
 * an implementation in another language.
 * @module
 */
import { utf8 } from '../lib/bytes.ts'
import { deriveKey, uniqueDigest } from './keyring.ts'
import { keyBytes, nonceBytes, primitives, tagBytes, type Primitives } from './primitives.ts'

/** Functions under sealing, keys and digests. */
export interface Tested extends Pick<Primitives, 'encrypt' | 'decrypt' | 'keyedHash'> {
  readonly deriveKey: typeof deriveKey
  readonly uniqueDigest: typeof uniqueDigest
}

/** The parts that a running vault uses. */
export const shipped: Tested = { ...primitives, deriveKey, uniqueDigest }

const countedFrom = (first: number, count: number): Uint8Array =>
  Uint8Array.from({ length: count }, (_, index) => first + index)

const key = countedFrom(0x80, keyBytes)
const nonce = countedFrom(0x40, nonceBytes)
const aad = Buffer.from('50515253c0c1c2c3c4c5c6c7', 'hex')
const plaintext = utf8(
  'Ladies and Gentlemen of the class of ' +
    "'99: If I could offer you only one tip for the future, sunscreen would be it.",
)
const sealed = Buffer.from(
  'bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda' +
    '7e39ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383' +
    '565d3fff921f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49',
  'hex',
)

/** The tag without associated data, as values are sealed here; the ciphertext is the same. */
const bareTag = 'f7e62efbf45089db18f9c8a3f0e41e5f'

const isHex = (bytes: Uint8Array | undefined, hex: string): boolean =>
  bytes !== undefined && Buffer.from(bytes).toString('hex') === hex

/** One bit of the tag, the ciphertext or the associated data differs. */
const opensWhenChanged = ({ decrypt }: Tested): boolean =>
  [0, sealed.length - 16, sealed.length - 1].some(at => {
    const changed = sealed.map((byte, index) => (index === at ? byte ^ 1 : byte))
    return decrypt(key, nonce, changed, aad) !== undefined
  }) || decrypt(key, nonce, sealed, aad.subarray(1)) !== undefined

const checks: readonly (readonly [name: string, holds: (use: Tested) => boolean])[] = [
  [
    'XChaCha20-Poly1305',
    use =>
      sealed.equals(use.encrypt(key, nonce, plaintext, aad)) &&
      isHex(use.decrypt(key, nonce, sealed, aad), Buffer.from(plaintext).toString('hex')) &&
      isHex(use.encrypt(key, nonce, plaintext).subarray(-tagBytes), bareTag) &&
      !opensWhenChanged(use),
  ],
  [
    'keyed BLAKE2b',
    use =>
      isHex(
        use.keyedHash(key, plaintext, Buffer.alloc(48)),
        '9f5fb84e5b7ac4aebc4288bd624b84395e522b40fb1bd153f38b3785d200e24b' +
          '4b37f8f59820ebd5fbad73eb13b9027d',
      ),
  ],
  [
    'HKDF-SHA256',
    use =>
      isHex(
        use.deriveKey(key, 'record', 'self-test'),
        'e6e251e6588911ea3b206289a8011a9ef316d937c6c69910e98d6d596f52e6c5',
      ),
  ],
  [
    'HMAC-SHA256',
    use =>
      isHex(
        use.uniqueDigest({ indexKey: key }, 'token-id', 'self-test'),
        'f30ac4a72943a10ddfca17081e753f3bb840f8623d4a981b3af8283bbd11a9b0',
      ),
  ],
]

/** A part that throws is as wrong as one that returns another answer. */
function passes(holds: (use: Tested) => boolean, use: Tested): boolean {
  try {
    return holds(use)
  } catch {
    return false
  }
}

/** @returns the name of the first part whose known answer is wrong */
export const findBrokenPart = (use: Tested = shipped): string | undefined =>
  checks.find(([, holds]) => !passes(holds, use))?.[0]
