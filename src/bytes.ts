/**
 * Small helpers on bytes that several layers need.
 *
 * @module
 */

const encoder = new TextEncoder()

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** UTF-8 bytes of a text without lone surrogates (the JSON parser refuses those). */
export const utf8 = (text: string): Uint8Array => encoder.encode(text)

/** Text of bytes that we wrote ourselves as UTF-8 and that were authenticated since. */
export const textOf = (bytes: Uint8Array): string => bufferOf(bytes).toString('utf8')

/** The byte at a place; 0 beyond the end. */
export const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0

/** Lower-case hex, for digests as keys of a Map. */
export const hexOf = (bytes: Uint8Array): string => bufferOf(bytes).toString('hex')

const base58Alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/**
 * Base58 in the alphabet of Bitcoin, padded on the left to a fixed length, so that equal byte
 * counts give equal lengths: 22 characters for 16 bytes, 44 for 32.
 */
export function base58(bytes: Uint8Array): string {
  const length = Math.ceil((bytes.length * 8) / Math.log2(58))
  let rest = BigInt('0x' + (hexOf(bytes) || '0'))
  let text = ''
  for (let i = 0; i < length; i += 1) {
    text = base58Alphabet.charAt(Number(rest % 58n)) + text
    rest /= 58n
  }
  return text
}

/** RFC 9562 section 5.4: a version 4 UUID from 16 random bytes. */
export function uuidOf(random: Uint8Array): string {
  const bytes = Uint8Array.from(random)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = hexOf(bytes)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-')
}
