/**
 * The master key in shares: any `threshold` of them restore it, and fewer reveal nothing (Shamir).
 *
 * Too few shares, or shares of different keys, would silently give a wrong key: so each share
 * states its threshold, its split, and a digest of the resulting key.
 * @module
 */
import { createHash } from 'node:crypto'
import { combine, split } from 'shamir-secret-sharing'
import { byteAt, equalBytes, hexOf, ownBytes, readHex, utf8, writeHex } from '../lib/bytes.ts'
import { ApiError } from '../lib/errors.ts'
import { sharesMax, shareThresholdMin } from '../limits/operation-limits.ts'
import { deriveKey } from './keyring.ts'
import { keyBytes, primitives } from './primitives.ts'

const prefix = utf8('coffer-share-1-')
const anyVersion = /^coffer-share-\d+-/
const setBytes = 4
const checkBytes = 8
/** One value for each byte of the key, and the point at which the values are taken. */
const partBytes = keyBytes + 1
const sumBytes = 4

/*
 * As text: `coffer-share-1-` · threshold, two digits · `-` · number, two digits · `-` · set · `-` ·
 * check · `-` · part · `-` · the first four bytes of the SHA-256 of all before. Bytes are in
 * lower-case hex.
 */
const thresholdAt = prefix.length
const numberAt = thresholdAt + 3
const setAt = numberAt + 3
const checkAt = setAt + 2 * setBytes + 1
const partAt = checkAt + 2 * checkBytes + 1
const sumAt = partAt + 2 * partBytes + 1
const shareChars = sumAt + 2 * sumBytes

export interface Share {
  /** Number of shares of the set that restore the key. */
  readonly threshold: number
  /** Counted from 1, for people. */
  readonly number: number
  /** Common to all shares of one split. */
  readonly set: Uint8Array
  readonly check: Uint8Array
  /** Locked if possible; its user wipes it. */
  readonly part: Uint8Array
}

/** The package accepts plain byte arrays only, no subclass. */
const plainBytes = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

const checkOf = (masterKey: Uint8Array, set: Uint8Array): Uint8Array =>
  deriveKey(masterKey, 'share-check', hexOf(set)).subarray(0, checkBytes)

const sumOf = (text: Uint8Array): Uint8Array =>
  createHash('sha256').update(text.subarray(0, sumAt)).digest().subarray(0, sumBytes)

const twoDigits = (value: number): Uint8Array => utf8(String(value).padStart(2, '0'))

function printShare({ threshold, number, set, check, part }: Share): Uint8Array {
  const text = ownBytes(shareChars).fill('-')
  text.set(prefix)
  text.set(twoDigits(threshold), thresholdAt)
  text.set(twoDigits(number), numberAt)
  writeHex(text, setAt, set)
  writeHex(text, checkAt, check)
  writeHex(text, partAt, part)
  writeHex(text, sumAt, sumOf(text))
  return text
}

/**
 * @returns the shares as text; their user wipes them
 * @throws ApiError `invalid_request`
 */
export async function splitKey(
  masterKey: Uint8Array,
  count: number,
  threshold: number,
  randomBytes: (count: number) => Uint8Array,
): Promise<readonly Uint8Array[]> {
  const isPossible =
    [count, threshold].every(Number.isInteger) &&
    threshold >= shareThresholdMin &&
    threshold <= count &&
    count <= sharesMax
  if (!isPossible) {
    const bounds = `expected ${shareThresholdMin} to ${sharesMax} shares`
    throw new ApiError('invalid_request', `${bounds}, and a threshold from 2 to their number`)
  }
  const set = Uint8Array.from(randomBytes(setBytes))
  const check = checkOf(masterKey, set)
  const parts = await split(plainBytes(masterKey), count, threshold)
  return parts.map((part, index) => {
    const text = printShare({ threshold, number: index + 1, set, check, part })
    part.fill(0)
    return text
  })
}

const wrongShare = (message: string): ApiError => new ApiError('invalid_request', message)

/** Removes spaces and line ends, and lower-cases. */
function plainOf(text: Uint8Array): Uint8Array {
  const plain = ownBytes(text.length)
  let length = 0
  for (const code of text) {
    if (code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d) continue
    plain[length] = code >= 0x41 && code <= 0x5a ? code | 0x20 : code
    length += 1
  }
  return plain.subarray(0, length)
}

const mistyped = (): ApiError =>
  wrongShare('the share is mistyped or cut short: its checksum does not fit')

/** @throws ApiError `invalid_request` when it is not hex */
function bytesAt(plain: Uint8Array, at: number, count: number): Buffer {
  const bytes = ownBytes(count)
  if (!readHex(plain.subarray(at, at + 2 * count), bytes)) throw mistyped()
  return bytes
}

const digitsAt = (plain: Uint8Array, at: number): number =>
  (byteAt(plain, at) - 0x30) * 10 + byteAt(plain, at + 1) - 0x30

function parsePlain(plain: Uint8Array): Share {
  const begins = Buffer.from(plain.subarray(0, prefix.length)).toString('latin1')
  if (!anyVersion.test(begins)) throw wrongShare('this is not a share of coffer keys split')
  if (!equalBytes(plain.subarray(0, prefix.length), prefix)) {
    throw wrongShare('the share was made by a newer coffer: use that version')
  }
  const isWhole =
    plain.length === shareChars && equalBytes(bytesAt(plain, sumAt, sumBytes), sumOf(plain))
  if (!isWhole) throw mistyped()
  const [threshold, number] = [digitsAt(plain, thresholdAt), digitsAt(plain, numberAt)]
  const isBounded = threshold >= shareThresholdMin && threshold <= sharesMax
  if (!isBounded || !(number >= 1 && number <= sharesMax)) throw mistyped()
  const [set, check] = [bytesAt(plain, setAt, setBytes), bytesAt(plain, checkAt, checkBytes)]
  const part = bytesAt(plain, partAt, partBytes)
  return { threshold, number, set, check, part: primitives.keep(part) }
}

/**
 * @param text as typed: spaces and case are ignored
 * @throws ApiError `invalid_request` that repeats nothing of it
 */
export function parseShare(text: Uint8Array): Share {
  const plain = plainOf(text)
  try {
    return parsePlain(plain)
  } finally {
    plain.fill(0)
  }
}

/**
 * @param shares enough shares of one set, no two of them equal
 * @returns the key; `undefined` if it is not the one that was split
 */
export async function joinShares(shares: readonly Share[]): Promise<Uint8Array | undefined> {
  // Shares of different sets may lie at one point of their curves, and then give nothing.
  const points = new Set(shares.map(({ part }) => byteAt(part, partBytes - 1)))
  if (points.size < shares.length) return undefined
  const masterKey = await combine(shares.map(({ part }) => plainBytes(part)))
  const isRight = shares.every(({ set, check }) => equalBytes(checkOf(masterKey, set), check))
  const kept = primitives.keep(masterKey)
  if (isRight) return kept
  kept.fill(0)
  return undefined
}
