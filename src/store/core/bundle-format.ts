/**
 * Bundles of the log as bytes, for every engine.
 *
 * Layout: format u8 (1) · count of entries u16 · hashes of the entries, 32 bytes each · the sealed
 * entries. A bundle's key is the sequence of its first entry.
 * @module
 */
import { readU16, writeU16 } from '../../lib/bytes.ts'
import { assertStored } from '../../lib/errors.ts'
import { leafBytes } from '../../limits/work-limits.ts'
import type { LogBundle, StoredBundle } from '../contract.ts'
import { readBundleBytesMax } from './limits.ts'

/** Version of this layout. */
const bundleFormat = 1
const countAt = 1
/** Offset of the hashes. */
export const leavesAt = 3

export function encodeBundle({ leaves, sealed }: LogBundle): Uint8Array {
  const sealedAt = leavesAt + leaves.length * leafBytes
  const bytes = new Uint8Array(sealedAt + sealed.length)
  bytes[0] = bundleFormat
  writeU16(bytes, countAt, leaves.length)
  leaves.forEach((leaf, i) => bytes.set(leaf, leavesAt + i * leafBytes))
  bytes.set(sealed, sealedAt)
  return bytes
}

/** @throws ApiError `storage_corrupt` */
export function decodeBundle(first: number, bytes: Uint8Array): StoredBundle {
  assertStored(bytes[0] === bundleFormat && bytes.length > leavesAt, 'a bundle of the log')
  const end = leavesAt + readU16(bytes, countAt) * leafBytes
  assertStored(end > leavesAt && end <= bytes.length, 'a bundle with its hashes')
  const leaves: Uint8Array[] = []
  for (let at = leavesAt; at < end; at += leafBytes) leaves.push(bytes.slice(at, at + leafBytes))
  return { first, leaves, sealed: bytes.slice(end) }
}

/**
 * Returns the first of some bundles: at most `limit`, and as many as are read at once.
 * @param from without those that end before this sequence
 */
export function takeBundles(
  bundles: Iterable<StoredBundle>,
  limit: number,
  from = 0,
): readonly StoredBundle[] {
  const taken: StoredBundle[] = []
  let bytes = 0
  for (const bundle of bundles) {
    const { first, leaves, sealed } = bundle
    if (first + leaves.length <= from) continue
    bytes += sealed.length + leaves.length * leafBytes
    if (taken.length === limit || (taken.length > 0 && bytes > readBundleBytesMax)) break
    taken.push(bundle)
  }
  return taken
}
