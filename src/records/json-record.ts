/**
 * Records kept as one sealed JSON text, in the installation's key scope, as they are looked up
 * before a tenant is known. Each feature decides by which uniques its rows are found.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { utf8 } from '../lib/bytes.ts'
import type { RowHeader, NewRow, Row } from '../store/contract.ts'
import { sealRow, unsealRow, type Collection, type RowSealer } from './seal-row.ts'

interface SealDeps {
  readonly keys: Keys
  readonly randomBytes: (count: number) => Uint8Array
}

interface JsonRecord<T> {
  /** @param version 1 for a new record, one more with each change */
  readonly seal: (sealing: SealDeps, record: T, header: RowHeader, version: number) => NewRow
  /** @throws ApiError `storage_corrupt` if the row is not as it was sealed */
  readonly open: (keys: Keys, row: Row) => T
}

export function jsonRecord<T>(collection: Collection): JsonRecord<T> {
  const sealerOf = ({ installation: scope }: Keys): RowSealer => ({ scope, collection })
  return {
    seal: ({ keys, randomBytes }, record, header, version) =>
      sealRow(sealerOf(keys), randomBytes, header, version, [utf8(JSON.stringify(record))]),
    open: (keys, row) => JSON.parse(unsealRow(sealerOf(keys), row).text(0)) as T,
  }
}
