/**
 * Sealed rows: the only door between records and the blind store.
 *
 * All values of a row are sealed under one head, which names scope, collection and the whole clear
 * header. So no value opens in another row, tenant or position, nor under other uniques, terms or
 * deadline; nor does an older version of it, and none can be left out. Part 0 of a row is the head;
 * its values follow.
 * @module
 */
import { nonceBytes } from '../crypto/primitives.ts'
import type { KeyScope } from '../crypto/keyring.ts'
import { unsealAll, sealAll, type Opener } from '../crypto/seal.ts'
import { utf8, utf8Text } from '../lib/bytes.ts'
import { ApiError } from '../lib/errors.ts'
import type { Glimpse, RowHeader, NewRow, Row } from '../store/contract.ts'
import { clearHeaderBytes, storedRow, writeClearHeader } from '../store/core/row.ts'

export type Collection =
  | 'keyring'
  | 'tenant'
  | 'application'
  | 'session'
  | 'webhook'
  | 'token'
  | 'code_key'
  | 'idempotency'

/** Scope and collection of the rows. */
export interface RowSealer {
  readonly scope: KeyScope
  readonly collection: Collection
}

const labels = new WeakMap<KeyScope, Map<Collection, Uint8Array>>()

/** Encodes scope and collection so that their end is unambiguous, whatever their texts. */
function labelOf({ scope, collection }: RowSealer): Uint8Array {
  let ofScope = labels.get(scope)
  if (ofScope === undefined) {
    ofScope = new Map()
    labels.set(scope, ofScope)
  }
  let label = ofScope.get(collection)
  if (label === undefined) {
    label = utf8(`${scope.name.length}:${scope.name}${collection}\0`)
    ofScope.set(collection, label)
  }
  return label
}

/** @param version 1 for an insert, the replaced row's version + 1 for a replace */
export function sealRow(
  sealer: RowSealer,
  randomBytes: (count: number) => Uint8Array,
  header: RowHeader,
  version: number,
  values: readonly Uint8Array[],
): NewRow {
  const row = { ...header, version }
  const clear = Buffer.allocUnsafe(clearHeaderBytes(row))
  writeClearHeader(clear, 0, row)
  const number = sealer.scope.currentKeyNumber
  const sealKey = { number, key: sealer.scope.recordKey(number) }
  const parts = sealAll(sealKey, [labelOf(sealer), clear], randomBytes(nonceBytes), values)
  return { ...row, parts }
}

/** A row whose head has been verified; each value is opened when it is needed. */
interface OpenRow {
  /**
   * @returns bytes that the caller owns
   * @throws ApiError `storage_corrupt` if the value is not the one sealed for this row
   */
  readonly value: (index: number) => Uint8Array
  /** Returns what `make` makes of the bytes of a value, which are then wiped. */
  readonly read: <T>(index: number, make: (bytes: Uint8Array) => T) => T
  /** Like `read`, for a UTF-8 value. */
  readonly text: (index: number) => string
}

const missing = () => new ApiError('storage_corrupt', 'a row lacks a value')

/** @throws ApiError `storage_corrupt` if the row is not exactly as sealed, or was moved */
export function unsealRow(
  sealer: RowSealer,
  { clear, parts, partCount = parts.length }: Pick<Glimpse, 'clear' | 'parts' | 'partCount'>,
): OpenRow {
  const [head] = parts
  if (head === undefined) throw missing()
  const opener: Opener = unsealAll(sealer.scope.recordKey, [labelOf(sealer), clear], head)
  if (opener.count !== partCount - 1) throw missing()
  const sealedAt = (index: number): Uint8Array => {
    const sealed = parts[index + 1]
    if (sealed === undefined) throw missing()
    return sealed
  }
  return {
    value: index => opener.open(index, sealedAt(index)),
    read: (index, make) => opener.read(index, sealedAt(index), make),
    text: index => opener.read(index, sealedAt(index), utf8Text),
  }
}

/**
 * Opens all values of a row, in order.
 * @throws ApiError `storage_corrupt` if the row is not exactly as sealed, or was moved
 */
export function unsealEveryValue(
  sealer: RowSealer,
  row: Pick<Row, 'clear' | 'parts'>,
): Uint8Array[] {
  const opened = unsealRow(sealer, row)
  return row.parts.slice(1).map((_, index) => opened.value(index))
}

/**
 * A row as if read from the store: stands in for one that does not exist. It is kept for good, so
 * its parts are copied: otherwise each would keep a slab of other values alive.
 */
export const inNoStore = (row: NewRow): Row =>
  storedRow(0, { ...row, parts: row.parts.map(part => new Uint8Array(part)) })
