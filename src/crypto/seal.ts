/**
 * Sealed values: encryption of bytes at rest.
 *
 * Values that belong together share one head: format u8 · algorithm u8 · key number u32be · count
 * of values u8 · nonce 24 · commitment 32. One keyed hash over the start of the head and the
 * context yields the message key and the commitment, so both depend on every byte of them: values
 * open only under one key and in one place, and the commitment is compared before anything is
 * decrypted. A key is chosen by its number, never by trying. Each value is ciphertext · tag 16,
 * under a nonce that ends in its index: a message key is made for one head only, so no nonce
 * repeats under it. Source: docs/decisions.md, "Keys"; hardening C1, C2, C5, C6.
 * @module
 */
import { byteAt, makeScratch, makeSlabs } from '../lib/bytes.ts'
import { ApiError, invariant } from '../lib/errors.ts'
import { sealScratchBytes, sealSlabBytes } from '../limits/work-limits.ts'
import { keyBytes, nonceBytes, primitives, tagBytes, type Primitives } from './primitives.ts'

/** The first byte of a head. */
export const headFormat = 2
const xchacha20Poly1305 = 1
const countAt = 6
const nonceAt = 7
const commitmentAt = nonceAt + nonceBytes
const commitmentBytes = 32
const headBytes = commitmentAt + commitmentBytes
/** The count is one byte of the head, and each index one byte of its nonce. */
const valuesMax = 255

/** Bytes that sealing adds to a single plaintext. */
export const sealOverheadBytes = headBytes + tagBytes

export interface SealKey {
  readonly number: number
  readonly key: Uint8Array
}

/** Canonical bytes that name the place of a value, in pieces that are hashed in order. */
export type Context = readonly Uint8Array[]

/**
 * Bytes and views allocated for each native call would cost the garbage collector more than the
 * call itself, so short-lived bytes go to the same buffers again and again. They are wiped there
 * right after use, also after a failure, or they would stay for good.
 */
export const sealedRoom = makeSlabs(sealSlabBytes, Buffer.allocUnsafeSlow)
const inputScratch = makeScratch(sealScratchBytes)
const plaintextScratch = makeScratch(sealScratchBytes)
const derivedScratch = Buffer.alloc(keyBytes + commitmentBytes)
const messageKeyScratch = Buffer.alloc(keyBytes)
const nonceScratch = Buffer.alloc(nonceBytes)

/**
 * Derives message key and commitment: a BLAKE2b of their joint length over the start of the head
 * and the context. Valid until the next call.
 */
function deriveMessageKey(
  use: Primitives,
  key: Uint8Array,
  head: Uint8Array,
  context: Context,
): Uint8Array {
  let size = commitmentAt
  for (const piece of context) size += piece.length
  const input = inputScratch(size)
  for (let byte = 0; byte < commitmentAt; byte += 1) input[byte] = byteAt(head, byte)
  let at = commitmentAt
  for (const piece of context) {
    input.set(piece, at)
    at += piece.length
  }
  const derived = use.keyedHash(key, input, derivedScratch)
  // The context of a cursor is the caller's query.
  input.fill(0)
  return derived
}

/** Valid until the next call. */
function nonceOf(head: Uint8Array, index: number): Uint8Array {
  for (let at = 0; at < nonceBytes - 1; at += 1) nonceScratch[at] = byteAt(head, nonceAt + at)
  nonceScratch[nonceBytes - 1] = index
  return nonceScratch
}

/** Compares every byte, for constant time. */
function isCommitted(head: Uint8Array, derived: Uint8Array): boolean {
  let difference = 0
  for (let at = 0; at < commitmentBytes; at += 1) {
    difference |= byteAt(head, commitmentAt + at) ^ byteAt(derived, keyBytes + at)
  }
  return difference === 0
}

/** Copies byte by byte: a view of the first bytes would allocate more than the copy. */
function copyKey(target: Uint8Array, source: Uint8Array): void {
  for (let at = 0; at < keyBytes; at += 1) target[at] = byteAt(source, at)
}

function startHead(keyNumber: number, count: number, nonce: Uint8Array): Buffer {
  if (nonce.length !== nonceBytes) throw new RangeError(`nonce must be ${nonceBytes} bytes`)
  const head = Buffer.allocUnsafe(headBytes)
  head[0] = headFormat
  head[1] = xchacha20Poly1305
  head.writeUInt32BE(keyNumber, 2)
  head[countAt] = count
  head.set(nonce, nonceAt)
  return head
}

/**
 * Encrypts from the scratch buffer; a long plaintext is read in place.
 * @param into room for the ciphertext and its tag
 */
export function encryptInto(
  use: Primitives,
  key: Uint8Array,
  nonce: Uint8Array,
  plaintext: Uint8Array,
  into: Uint8Array,
): Uint8Array {
  if (plaintext.length > sealScratchBytes) {
    return use.encrypt(key, nonce, plaintext, undefined, into)
  }
  const bytes = plaintextScratch(plaintext.length)
  bytes.set(plaintext)
  try {
    return use.encrypt(key, nonce, bytes, undefined, into)
  } finally {
    bytes.fill(0)
  }
}

/**
 * Seals values that are opened one by one.
 * @param nonce 24 fresh random bytes; 192 bits make random ones safe for any volume (hardening C1)
 * @returns the head, then each value
 */
export function sealAll(
  sealKey: SealKey,
  context: Context,
  nonce: Uint8Array,
  plaintexts: readonly Uint8Array[],
  use: Primitives = primitives,
): Uint8Array[] {
  invariant(plaintexts.length <= valuesMax, 'the values of one head are within their bound')
  const head = startHead(sealKey.number, plaintexts.length, nonce)
  const derived = deriveMessageKey(use, sealKey.key, head, context)
  for (let at = 0; at < commitmentBytes; at += 1) {
    head[commitmentAt + at] = byteAt(derived, keyBytes + at)
  }
  copyKey(messageKeyScratch, derived)
  derived.fill(0)
  try {
    const sealed: Uint8Array[] = [head]
    plaintexts.forEach((plaintext, index) => {
      const into = sealedRoom(plaintext.length + tagBytes)
      sealed.push(encryptInto(use, messageKeyScratch, nonceOf(head, index), plaintext, into))
    })
    return sealed
  } finally {
    messageKeyScratch.fill(0)
  }
}

/** The values of one head, each opened on demand. */
export interface Opener {
  /** Number of sealed values. */
  readonly count: number
  /**
   * @returns bytes that the caller owns
   * @throws ApiError `storage_corrupt` when the value is not the one that was sealed there
   */
  readonly open: (index: number, sealed: Uint8Array) => Uint8Array
  /** Returns the result of `make` over these bytes, which are then wiped. */
  readonly read: <T>(index: number, sealed: Uint8Array, make: (bytes: Uint8Array) => T) => T
}

const corrupt = () => new ApiError('storage_corrupt', 'a sealed value did not open')

/** Read byte by byte: getting the buffer of pooled bytes would cost more than all else. */
export const keyNumberOf = (head: Uint8Array): number =>
  byteAt(head, 2) * 2 ** 24 + (byteAt(head, 3) << 16) + (byteAt(head, 4) << 8) + byteAt(head, 5)

/**
 * @param keyOf returns the key of a number; throws when there is none
 * @throws ApiError `storage_corrupt` when the head, key or context is wrong; never says which
 */
export function unsealAll(
  keyOf: (number: number) => Uint8Array,
  context: Context,
  head: Uint8Array,
  use: Primitives = primitives,
): Opener {
  const isKnown = head[0] === headFormat && head[1] === xchacha20Poly1305
  if (!isKnown || head.length !== headBytes) throw corrupt()
  const derived = deriveMessageKey(use, keyOf(keyNumberOf(head)), head, context)
  const messageKey = new Uint8Array(keyBytes)
  copyKey(messageKey, derived)
  const isRight = isCommitted(head, derived)
  derived.fill(0)
  if (!isRight) throw corrupt()
  const open = (index: number, sealed: Uint8Array, into?: Uint8Array): Uint8Array => {
    copyKey(messageKeyScratch, messageKey)
    const nonce = nonceOf(head, index)
    const plaintext = use.decrypt(messageKeyScratch, nonce, sealed, undefined, into)
    messageKeyScratch.fill(0)
    if (plaintext === undefined) throw corrupt()
    return plaintext
  }
  return {
    count: byteAt(head, countAt),
    open: (index, sealed) => open(index, sealed),
    read(index, sealed, make) {
      const size = Math.max(0, sealed.length - tagBytes)
      const plaintext = open(index, sealed, plaintextScratch(size))
      try {
        return make(plaintext)
      } finally {
        plaintext.fill(0)
      }
    },
  }
}

/** Seals a single value, returned as head and value in one. */
export const seal = (
  sealKey: SealKey,
  context: Uint8Array,
  nonce: Uint8Array,
  plaintext: Uint8Array,
  use?: Primitives,
): Uint8Array => Buffer.concat(sealAll(sealKey, [context], nonce, [plaintext], use))

/**
 * @returns the plaintext, owned by the caller
 * @throws ApiError `storage_corrupt` when header, key, context, commitment or tag is wrong
 */
export function open(
  keyOf: (number: number) => Uint8Array,
  context: Uint8Array,
  sealed: Uint8Array,
  use?: Primitives,
): Uint8Array {
  const opener = unsealAll(keyOf, [context], sealed.subarray(0, headBytes), use)
  if (opener.count !== 1) throw corrupt()
  return opener.open(0, sealed.subarray(headBytes))
}
