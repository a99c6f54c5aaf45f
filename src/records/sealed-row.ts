/**
 * Sealed rows: the one door between records and the blind store.
 *
 * Every part of a row is sealed with associated data that names its scope, its collection, its
 * part, its version and the whole clear header: a sealed value moved to another row, tenant or
 * part, or under changed uniques, terms or deadline, or an older version of itself, does not open.
 * @module
 */
import { utf8 } from '../bytes.ts'
import { nonceBytes } from '../crypto/primitives.ts'
import type { KeyScope } from '../crypto/scope.ts'
import { open, seal } from '../crypto/seal.ts'
import { invariant } from '../errors.ts'
import type { NewRow, RowHeader } from '../store/contract.ts'

export type Collection = 'keyring' | 'tenant' | 'application' | 'session' | 'token' | 'idempotency'

/** What sealing needs beside the key scope: `randomBytes` gives each value its nonce. */
export interface RowSealer {
  readonly scope: KeyScope
  readonly collection: Collection
}

const fixedBytes = 1 + 4 + 9 + 2 + 2

/**
 * Canonical and injective: part u8 · version u32 · deadline (present u8 · f64) · counts ·
 * uniques · terms · lengths and texts of scope and collection.
 */
function associatedData(sealer: RowSealer, header: RowHeader, version: number): Buffer {
  const names = utf8(`${sealer.scope.name.length}:${sealer.scope.name}${sealer.collection}`)
  const digestBytes = [...header.uniques, ...header.terms].reduce((sum, d) => sum + d.length, 0)
  const aad = Buffer.alloc(fixedBytes + digestBytes + names.length)
  aad.writeUInt32BE(version, 1)
  if (header.deadlineMs !== undefined) {
    aad[5] = 1
    aad.writeDoubleBE(header.deadlineMs, 6)
  }
  aad.writeUInt16BE(header.uniques.length, 14)
  aad.writeUInt16BE(header.terms.length, 16)
  let at = fixedBytes
  for (const digests of [header.uniques, header.terms]) {
    for (const digest of digests) {
      aad.set(digest, at)
      at += digest.length
    }
  }
  aad.set(names, at)
  return aad
}

/** @param version 1 for an insert, the replaced row's version + 1 for a replace */
export function sealRow(
  sealer: RowSealer,
  randomBytes: (count: number) => Uint8Array,
  header: RowHeader,
  version: number,
  parts: readonly Uint8Array[],
): NewRow {
  const aad = associatedData(sealer, header, version)
  const number = sealer.scope.currentKeyNumber
  const sealKey = { number, key: sealer.scope.recordKey(number) }
  const sealed = parts.map((part, index) => {
    aad[0] = index
    return seal(sealKey, aad, randomBytes(nonceBytes), part)
  })
  return { ...header, version, parts: sealed }
}

/** @throws ApiError `storage_corrupt` when the part is not exactly what was sealed for this row */
export function openPart(sealer: RowSealer, row: NewRow, part: number): Uint8Array {
  const sealed = row.parts[part]
  invariant(sealed !== undefined, 'a row has the part that is read')
  const aad = associatedData(sealer, row, row.version)
  aad[0] = part
  return open(sealer.scope.recordKey, aad, sealed)
}
