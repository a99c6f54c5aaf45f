/**
 * Bytes: texts, hex, scratch memory, digits, and whole numbers in big endian.
 * @module
 */
import { keptViewBytesMax } from '../limits/work-limits.ts'

/*
 * Small helpers on bytes that several layers need.
 */

const encoder = new TextEncoder()

export const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => bufferOf(a).equals(b)

/** Returns the UTF-8 bytes of a text without lone surrogates (the JSON parser refuses those). */
export const utf8 = (text: string): Uint8Array => encoder.encode(text)

/** Decodes bytes that we wrote ourselves as UTF-8 and that have been authenticated since. */
export const utf8Text = (bytes: Uint8Array): string => bufferOf(bytes).toString('utf8')

/** Returns the byte at an index; 0 beyond the end. */
export const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0

/** Lower-case hex, for digests as keys of a Map. */
export const hexOf = (bytes: Uint8Array): string => bytes.toHex()

/** Returns the bytes of a text from `hexOf`. */
export const bytesOfHex = (hex: string): Uint8Array => Buffer.from(hex, 'hex')

/* Secrets as bytes that can be wiped. Their hex stays bytes too, since a string cannot be wiped. */

/**
 * Allocates with a buffer of its own: for a small array that lacks one, the runtime copies the
 * bytes when the buffer is first requested, and leaves the old copy in memory.
 */
export const ownBytes = (length: number): Buffer => Buffer.from(new ArrayBuffer(length))

const hexDigits = Buffer.from('0123456789abcdef')

/** Writes lower-case digits, two for each byte, from `at` on. */
export function writeHex(target: Uint8Array, at: number, bytes: Uint8Array): void {
  for (const [index, byte] of bytes.entries()) {
    target[at + 2 * index] = byteAt(hexDigits, byte >>> 4)
    target[at + 2 * index + 1] = byteAt(hexDigits, byte & 15)
  }
}

/** @param into half as long as the digits @returns true if all of them are lower-case hex */
export function readHex(digits: Uint8Array, into: Uint8Array): boolean {
  for (const [at, digit] of digits.entries()) {
    const value = hexDigits.indexOf(digit)
    if (value < 0) return false
    into[at >>> 1] = (byteAt(into, at >>> 1) << 4) | value
  }
  return digits.length === 2 * into.length
}

/**
 * Returns memory of a wanted length, valid until the next call.
 * @param bytesMax larger requests are allocated separately
 */
export function makeScratch(bytesMax: number): (size: number) => Buffer {
  const room = Buffer.alloc(bytesMax)
  const views = new Map<number, Buffer>()
  return size => {
    if (size > bytesMax) return Buffer.allocUnsafeSlow(size)
    const known = views.get(size)
    if (known !== undefined) return known
    const view = room.subarray(0, size)
    if (size <= keptViewBytesMax) views.set(size, view)
    return view
  }
}

/** Larger pieces have their own memory: a slab would hold few of them, and waste up to half. */
const piecesOfSlabMin = 8

/**
 * Returns memory of a wanted length; many pieces share one allocation, since bytes that are cut
 * into views or handed to native code each cost the collector several times their length. An
 * allocation lives as long as any of its pieces: copy bytes that are kept for long.
 * @param slabBytes size of one allocation; pieces over an eighth of that have one of their own
 */
export function makeSlabs(
  slabBytes: number,
  allocate: (size: number) => Buffer,
): (size: number) => Buffer {
  let slab: Buffer = Buffer.alloc(0)
  let used = 0
  return size => {
    if (size * piecesOfSlabMin > slabBytes) return allocate(size)
    if (used + size > slab.length) {
      slab = allocate(slabBytes)
      used = 0
    }
    used += size
    return slab.subarray(used - size, used)
  }
}

/*
 * Runs of ASCII digits. Digits of other scripts are never digits here. Source: contract section 5.
 */

export const zeroCode = 0x30
const nineCode = 0x39

export const isDigitCode = (code: number): boolean => code >= zeroCode && code <= nineCode

/** Returns the digits of a text, in order. */
export const digitsIn = (text: string): string => text.replaceAll(/[^0-9]/g, '')

export const countDigits = (text: string): number => {
  let count = 0
  for (let index = 0; index < text.length; index += 1) {
    if (isDigitCode(text.charCodeAt(index))) count += 1
  }
  return count
}

/** @returns true if the text is `min` to `max` ASCII digits and nothing else */
export const isDigits = (text: string, min: number, max: number): boolean => {
  if (text.length < min || text.length > max) return false
  for (let at = 0; at < text.length; at += 1) {
    if (!isDigitCode(text.charCodeAt(at))) return false
  }
  return true
}

/* Random bytes as text. */

const base58Alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Pattern of 16 bytes, as a regular expression. */
export const base58Pattern = `[${base58Alphabet}]{22}`

const base58Pairs = Array.from(base58Alphabet, high =>
  Array.from(base58Alphabet, low => high + low),
).flat()
const pairValue = 58 ** 2
/** Takes four pairs at a time: 58^8 is exact in a double, and big integers are slow. */
const pairsAtOnce = 4
const groupValue = BigInt(pairValue ** pairsAtOnce)

/**
 * Base58 in the alphabet of Bitcoin, padded on the left to a fixed length, so that equal byte
 * counts give equal lengths: 22 characters for 16 bytes, 44 for 32.
 */
export function base58(bytes: Uint8Array): string {
  const length = Math.ceil((bytes.length * 8) / Math.log2(58))
  let rest = BigInt('0x' + (hexOf(bytes) || '0'))
  let text = ''
  while (text.length < length) {
    let group = Number(rest % groupValue)
    rest /= groupValue
    for (let pair = 0; pair < pairsAtOnce; pair += 1) {
      text = base58Pairs[group % pairValue] + text
      group = Math.floor(group / pairValue)
    }
  }
  return text.slice(text.length - length)
}

/** Returns the 16 bytes of a UUID text. */
export const uuidBytesOf = (uuid: string): Uint8Array =>
  Uint8Array.fromHex(
    uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24),
  )

/** Returns the UUID text of the 32 digits that begin at `at`. */
export const uuidText = (hex: string, at = 0): string =>
  `${hex.slice(at, at + 8)}-${hex.slice(at + 8, at + 12)}-${hex.slice(at + 12, at + 16)}-` +
  `${hex.slice(at + 16, at + 20)}-${hex.slice(at + 20, at + 32)}`

/** RFC 9562 section 5.4: a version 4 UUID from 16 random bytes. */
export function uuidOf(random: Uint8Array): string {
  const bytes = Buffer.from(random)
  bytes[6] = (byteAt(bytes, 6) & 0x0f) | 0x40
  bytes[8] = (byteAt(bytes, 8) & 0x3f) | 0x80
  return uuidText(hexOf(bytes))
}

/*
 * Whole numbers of 16, 32 and 48 bits, big endian, so that the order of bytes is the order of
 * numbers.
 */

export const u48Bytes = 6

/** @param value  a whole number from 0 to 2^48 - 1; `at + 6` bytes must be there */
export function writeU48(target: Uint8Array, at: number, value: number): void {
  const high = Math.floor(value / 2 ** 32)
  target[at] = high >>> 8
  target[at + 1] = high
  writeU32(target, at + 2, value >>> 0)
}

export const readU48 = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)) * 2 ** 32 + readU32(bytes, at + 2)

/** @param value  a whole number from 0 to 65,535 */
export function writeU16(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 8
  target[at + 1] = value
}

export const readU16 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)

/** @param value  a whole number from 0 to 2^32 - 1 */
export function writeU32(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 24
  target[at + 1] = value >>> 16
  target[at + 2] = value >>> 8
  target[at + 3] = value
}

export const readU32 = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] ?? 0) << 24) |
    ((bytes[at + 1] ?? 0) << 16) |
    ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)) >>>
  0
