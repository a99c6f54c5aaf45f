/**
 * Bundles of the audit log: entries sealed together, each with a salted hash in the clear.
 *
 * The hash of an entry is SHA-256(0x00 ‖ salt ‖ line), a leaf of RFC 6962: with the salt, its line
 * is proved by a checkpoint; without it, the hash confirms no guess. The sealed bytes are bound to
 * the hashes. A plaintext has, for each entry: salt, 16 bytes · length u32 · the entry's bytes.
 *
 * decision: sealed under a key of its own that no rotation changes, as digests are: entries hold
 * ids and no data, and sealing years of them anew would take longer than the rotation.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { nonceBytes } from '../crypto/primitives.ts'
import { open, seal } from '../crypto/seal.ts'
import { makeScratch, readU32, utf8, writeU32 } from '../lib/bytes.ts'
import { ApiError, assertStored } from '../lib/errors.ts'
import { bundleScratchBytes, leafBytes, leafScratchBytes } from '../limits/work-limits.ts'
import type { LogBundle, StoredBundle } from '../store/contract.ts'
import { printEntry, type AuditEntry } from './entry.ts'
import { decodeEntry, entryRoom, makeEntryWriter } from './entry-format.ts'

const saltBytes = 16
/** Offset of an entry behind its salt and its length. */
const entryAt = saltBytes + 4
const label = utf8('audit\0')
/** There is one key, so its number tells nothing. */
const keyNumber = 0

const leafScratch = makeScratch(leafScratchBytes)
const plainScratch = makeScratch(bundleScratchBytes)

/** Hash of an entry. Source: RFC 6962 section 2.1, of a leaf. */
export function leafOf(salt: Uint8Array, line: string): Uint8Array {
  const input = leafScratch(1 + saltBytes + 3 * line.length)
  input[0] = 0
  input.set(salt, 1)
  const end = 1 + saltBytes + input.write(line, 1 + saltBytes)
  const leaf = new Uint8Array(leafBytes)
  Bun.SHA256.hash(input.subarray(0, end), leaf)
  return leaf
}

const contextOf = (leaves: readonly Uint8Array[]): Uint8Array => Buffer.concat([label, ...leaves])

function keyOf({ auditKey }: Pick<Keys, 'auditKey'>): Uint8Array {
  if (auditKey === undefined) throw new ApiError('unavailable', 'The vault is sealed.')
  return auditKey
}

/** Bytes that entries take, at most. */
function roomOf(entries: readonly AuditEntry[]): number {
  let room = 0
  for (const entry of entries) room += entryAt + entryRoom(entry)
  return room
}

/** @param entries at least one, at most `bundleEntriesMax` */
export function sealBundle(
  keys: Pick<Keys, 'auditKey'>,
  randomBytes: (count: number) => Uint8Array,
  entries: readonly AuditEntry[],
): LogBundle {
  const sealKey = { number: keyNumber, key: keyOf(keys) }
  const random = randomBytes(nonceBytes + entries.length * saltBytes)
  const plain = plainScratch(roomOf(entries))
  const write = makeEntryWriter(plain)
  let at = 0
  try {
    const leaves = entries.map((entry, i) => {
      const saltAt = nonceBytes + i * saltBytes
      const salt = random.subarray(saltAt, saltAt + saltBytes)
      plain.set(salt, at)
      const end = write(at + entryAt, entry)
      writeU32(plain, at + saltBytes, end - at - entryAt)
      at = end
      return leafOf(salt, printEntry(entry))
    })
    const nonce = random.subarray(0, nonceBytes)
    return { leaves, sealed: seal(sealKey, contextOf(leaves), nonce, plain.subarray(0, at)) }
  } finally {
    plain.fill(0, 0, at)
  }
}

/** An entry at its place in the log. */
export interface PlacedEntry {
  readonly sequence: number
  readonly entry: AuditEntry
}

/** An entry as the log holds it. */
export interface LoggedEntry extends PlacedEntry {
  readonly salt: Uint8Array
  /** The exact text that its hash covers. */
  readonly line: string
}

/** An entry as bytes. */
export interface PackedEntry {
  readonly sequence: number
  readonly salt: Uint8Array
  readonly bytes: Uint8Array
}

/**
 * Returns entries of a bundle as bytes, oldest first, without a look at their hashes.
 * @throws ApiError `storage_corrupt` if it is not as it was sealed
 */
export function unpackBundle(
  keys: Pick<Keys, 'auditKey'>,
  { first, leaves, sealed }: StoredBundle,
  isWanted: (sequence: number) => boolean,
): readonly PackedEntry[] {
  const plain = open(() => keyOf(keys), contextOf(leaves), sealed)
  const packed: PackedEntry[] = []
  let at = 0
  let sequence = first
  for (; at < plain.length; sequence += 1) {
    const start = at + entryAt
    assertStored(start <= plain.length, 'a bundle of whole entries')
    const end = start + readU32(plain, at + saltBytes)
    if (isWanted(sequence)) {
      const salt = plain.slice(at, at + saltBytes)
      packed.push({ sequence, salt, bytes: plain.subarray(start, end) })
    }
    at = end
  }
  const isWhole = at === plain.length && sequence === first + leaves.length
  assertStored(isWhole, 'an entry of the log for each hash')
  return packed
}

/**
 * Returns entries of a bundle, oldest first, without a look at their hashes: those are for readers
 * who cannot open the bundle.
 * @throws ApiError `storage_corrupt` if it is not as it was sealed
 */
export const readBundle = (
  keys: Pick<Keys, 'auditKey'>,
  bundle: StoredBundle,
  isWanted: (sequence: number) => boolean,
): readonly PlacedEntry[] =>
  unpackBundle(keys, bundle, isWanted).map(({ sequence, bytes }) => ({
    sequence,
    entry: decodeEntry(bytes),
  }))

/**
 * @throws ApiError `storage_corrupt` if it is not as it was sealed, or a hash is not that of its
 *   entry
 */
export function openBundle(
  keys: Pick<Keys, 'auditKey'>,
  bundle: StoredBundle,
): readonly LoggedEntry[] {
  return unpackBundle(keys, bundle, () => true).map(({ sequence, salt, bytes }, at) => {
    const entry = decodeEntry(bytes)
    const line = printEntry(entry)
    const leaf = bundle.leaves[at]
    assertStored(
      leaf !== undefined && leafOf(salt, line).every((byte, i) => byte === leaf[i]),
      'an entry of the log with its hash',
    )
    return { sequence, salt, entry, line }
  })
}
