/**
 * Records that are kept as one sealed JSON text, in the installation's key scope: they are looked
 * up before a tenant is known. What a row is found by is its feature's to say.
 *
 * @module
 */
import { utf8 } from '../bytes.ts'
import type { Keys } from '../crypto/scope.ts'
import type { NewRow, Row, RowHeader } from '../store/contract.ts'
import { openRow, sealRow, type Collection, type RowSealer } from './sealed-row.ts'

interface Sealing {
  readonly keys: Keys
  readonly randomBytes: (count: number) => Uint8Array
}

export interface JsonRecord<T> {
  /** @param version 1 for a new record, one more with each change */
  readonly seal: (sealing: Sealing, record: T, header: RowHeader, version: number) => NewRow
  /** @throws ApiError `storage_corrupt` when the row is not what was sealed */
  readonly open: (keys: Keys, row: Row) => T
}

export function jsonRecord<T>(collection: Collection): JsonRecord<T> {
  const sealerOf = ({ installation: scope }: Keys): RowSealer => ({ scope, collection })
  return {
    seal: ({ keys, randomBytes }, record, header, version) =>
      sealRow(sealerOf(keys), randomBytes, header, version, [utf8(JSON.stringify(record))]),
    open: (keys, row) => JSON.parse(openRow(sealerOf(keys), row).text(0)) as T,
  }
}
