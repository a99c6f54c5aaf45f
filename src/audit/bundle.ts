/**
 * Bundles of the audit log: entries sealed together, each with a salted hash in the clear.
 *
 * The hash of an entry is SHA-256(0x00 ‖ salt ‖ line), a leaf of RFC 6962: with the salt, its line
 * is proved by a checkpoint; without it, the hash confirms no guess. What is sealed is bound to the
 * hashes. A plaintext has, for each entry: salt, 16 bytes · length u32 · the entry's bytes.
 *
 * decision: sealed under a key of its own that no rotation changes, as digests are: entries hold
 * ids and no data, and sealing years of them anew would take longer than the rotation.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { nonceBytes } from '../crypto/primitives.ts'
import { open, seal } from '../crypto/seal.ts'
import { readU32, utf8, writeU32 } from '../lib/bytes.ts'
import { ApiError, assertStored } from '../lib/errors.ts'
import type { LogBundle, StoredBundle } from '../store/contract.ts'
import { printEntry, type AuditEntry } from './entry.ts'
import { decodeEntry, encodeEntry } from './entry-format.ts'

export const saltBytes = 16
const lengthBytes = 4
const label = utf8('audit\0')
/** The key has no number: there is one. */
const keyNumber = 0

/** Hash of an entry. Source: RFC 6962 section 2.1, of a leaf. */
const leafOf = (salt: Uint8Array, line: string): Uint8Array =>
  new Bun.CryptoHasher('sha256').update(Uint8Array.of(0)).update(salt).update(line).digest()

const contextOf = (leaves: readonly Uint8Array[]): Uint8Array => Buffer.concat([label, ...leaves])

function keyOf({ auditKey }: Pick<Keys, 'auditKey'>): Uint8Array {
  if (auditKey === undefined) throw new ApiError('unavailable', 'The vault is sealed.')
  return auditKey
}

/** @param entries at least one, at most `bundleEntriesMax` */
export function sealBundle(
  keys: Pick<Keys, 'auditKey'>,
  randomBytes: (count: number) => Uint8Array,
  entries: readonly AuditEntry[],
): LogBundle {
  const random = randomBytes(nonceBytes + entries.length * saltBytes)
  const leaves: Uint8Array[] = []
  const pieces: Uint8Array[] = []
  entries.forEach((entry, i) => {
    const saltAt = nonceBytes + i * saltBytes
    const salt = random.subarray(saltAt, saltAt + saltBytes)
    const bytes = encodeEntry(entry)
    const length = new Uint8Array(lengthBytes)
    writeU32(length, 0, bytes.length)
    leaves.push(leafOf(salt, printEntry(entry)))
    pieces.push(salt, length, bytes)
  })
  const sealKey = { number: keyNumber, key: keyOf(keys) }
  const nonce = random.subarray(0, nonceBytes)
  return { leaves, sealed: seal(sealKey, contextOf(leaves), nonce, Buffer.concat(pieces)) }
}

/** An entry as the log holds it. */
export interface LoggedEntry {
  readonly sequence: number
  readonly salt: Uint8Array
  readonly entry: AuditEntry
  /** The exact text that its hash covers. */
  readonly line: string
}

/**
 * @throws ApiError `storage_corrupt` if it is not as it was sealed, or a hash is not that of its
 *   entry
 */
export function openBundle(
  keys: Pick<Keys, 'auditKey'>,
  { first, leaves, sealed }: StoredBundle,
): readonly LoggedEntry[] {
  const plain = open(() => keyOf(keys), contextOf(leaves), sealed)
  const entries: LoggedEntry[] = []
  let at = 0
  while (at < plain.length) {
    const start = at + saltBytes + lengthBytes
    assertStored(start <= plain.length, 'a bundle of whole entries')
    const salt = plain.slice(at, at + saltBytes)
    const end = start + readU32(plain, at + saltBytes)
    const entry = decodeEntry(plain.subarray(start, end))
    const line = printEntry(entry)
    const leaf = leaves[entries.length]
    assertStored(
      leaf !== undefined && leafOf(salt, line).every((byte, i) => byte === leaf[i]),
      'an entry of the log with its hash',
    )
    entries.push({ sequence: first + entries.length, salt, entry, line })
    at = end
  }
  assertStored(entries.length === leaves.length, 'an entry of the log for each hash')
  return entries
}
