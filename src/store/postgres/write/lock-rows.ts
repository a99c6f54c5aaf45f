/**
 * The state of the database that a group of writes depends on: read and locked by the first
 * statements of its transaction, so that it cannot change before the commit.
 *
 * Rows that change are locked first, then those only required, each by ordinal. The latter are
 * share-locked: the credential of many writes is one row. Uniques are not locked; if another writer
 * takes a free one meanwhile, the insert fails and the group starts over. Nor are values beside the
 * log: a later statement of the transaction confirms them (`log-statements.ts`).
 * @module
 */
import type { Digest } from '../../contract.ts'
import type { StoredState } from '../../core/decide-change.ts'
import type { PreparedChange } from '../../core/prepare-change.ts'
import { uniqueBytes } from '../../../limits/work-limits.ts'
import { equalBytes } from '../../../lib/bytes.ts'
import { assertStored } from '../../../lib/errors.ts'
import { decodeRow } from '../../core/row-format.ts'
import { keyOf, keyRow, storedRow, type KeyedRow } from '../../core/row.ts'
import { firstUniqueText, nthOf, packDigests } from '../packed-parameters.ts'
import { arrayOf, type Cells, type DatabaseSession } from '../pool.ts'
import type { Tables } from '../schema.ts'
import { readDerived, type SeenDerived } from './log-statements.ts'

/** Ordinals from here on are placeholders for those that the database assigns, in order. */
export const placeholderFrom = 2 ** 50

/** The rows and uniques that a group depends on. */
interface LockRequest {
  /** Rows that may change. */
  readonly touched: readonly number[]
  /** Rows that must exist, and do not change. */
  readonly required: readonly number[]
  readonly uniques: readonly Digest[]
  /** Keys of values beside the log that must not change. */
  readonly derived: readonly Uint8Array[]
}

function lockRequestOf(sets: readonly (readonly PreparedChange[])[]): LockRequest {
  const touched = new Set<number>()
  const required = new Set<number>()
  const uniques = new Map<string, Digest>()
  const derived = new Map<string, Uint8Array>()
  for (const change of sets.flat()) {
    if (change.kind === 'require') required.add(change.ordinal)
    else if (change.kind === 'requireDerived') {
      const { requireDerived: key } = change.required
      derived.set(keyOf(key), key)
    } else if ('ordinal' in change) touched.add(change.ordinal)
    if (!('row' in change) || change.kind === 'reseal') continue
    const { row, uniqueKeys } = change.row
    row.uniques.forEach((unique, i) => uniques.set(uniqueKeys[i] ?? '', unique))
  }
  return {
    touched: [...touched],
    required: [...required].filter(ordinal => !touched.has(ordinal)),
    uniques: [...uniques.values()],
    derived: [...derived.values()],
  }
}

/** The last commit of a writer. */
interface Receipt {
  readonly number: number
  readonly ordinals: readonly number[]
}

/** The stored state that a group depends on, as read under the locks of its transaction. */
export interface LockedRows {
  /** `undefined` if this writer has none yet. */
  readonly receipt: Receipt | undefined
  /** The writer's part of the sum over all rows; `undefined` if there is none. */
  readonly part: Uint8Array | undefined
  readonly stored: StoredState
  /** Touched rows whose terms are not in chunks yet. */
  readonly recent: ReadonlySet<number>
  /** Touched rows as stored. */
  readonly rows: ReadonlyMap<number, KeyedRow>
  /** Required values beside the log as read, which nothing locks yet (`log-statements.ts`). */
  readonly derived: readonly SeenDerived[]
}

/** Only the version and the first unique of a required row are needed. */
export const requiredRow = (
  ordinal: number,
  { version, unique }: { readonly version: number; readonly unique: Digest | undefined },
): KeyedRow =>
  keyRow(storedRow(ordinal, { uniques: unique ? [unique] : [], terms: [], parts: [], version }))

/** @throws ApiError `storage_corrupt`: an empty list must not mean "nothing has landed" */
export function numbersOf(value: unknown): readonly number[] {
  const isList = Array.isArray(value) || ArrayBuffer.isView(value)
  assertStored(isList, 'the ordinals of a receipt')
  return Array.from(value as unknown as ArrayLike<unknown>, Number)
}

const receiptOf = ([cells]: readonly Cells[]): Receipt | undefined =>
  cells && { number: Number(cells[0]), ordinals: numbersOf(cells[1]) }

/** Behind the lock of the receipt, so that a group in progress has ended. */
export const partText = ({ sums }: Tables): string =>
  `SELECT sealed FROM ${sums} WHERE writer = $1::bytea FOR UPDATE`

export const partIn = ([cells]: readonly Cells[]): Uint8Array | undefined =>
  cells?.[0] instanceof Uint8Array ? cells[0] : undefined

function lockTexts({ receipts, rows, recent, uniques }: Tables) {
  const unique = nthOf('$1', 'i', uniqueBytes)
  const those = 'WHERE ordinal = ANY($1::bigint[]) ORDER BY ordinal'
  return {
    receipt: `SELECT number, ordinals FROM ${receipts} WHERE writer = $1 FOR UPDATE`,
    touched: `SELECT ordinal, value FROM ${rows} ${those} FOR UPDATE`,
    required: `SELECT ordinal, version, ${firstUniqueText} FROM ${rows} ${those} FOR SHARE`,
    recent: `SELECT ordinal FROM ${recent} ${those} FOR UPDATE`,
    uniques: `SELECT u.digest, u.ordinal FROM generate_series(1, $2::int) i
JOIN ${uniques} u ON u.digest = ${unique}`,
  }
}

const readRows = (cells: readonly Cells[]): Map<number, KeyedRow> =>
  new Map(
    cells.map(([ordinal, value]) => {
      assertStored(value instanceof Uint8Array, 'a row with bytes')
      return [Number(ordinal), keyRow(decodeRow(value, Number(ordinal)))]
    }),
  )

/**
 * Begins a transaction, and locks what a group needs.
 * @throws DatabaseError; ApiError `storage_corrupt`
 */
export async function lockRows(
  { send }: DatabaseSession,
  tables: Tables,
  writer: Uint8Array,
  sets: readonly (readonly PreparedChange[])[],
): Promise<LockedRows> {
  const texts = lockTexts(tables)
  const { touched, required, uniques, derived } = lockRequestOf(sets)
  const some = (ordinals: readonly number[], text: string) =>
    ordinals.length === 0 ? [] : send(text, [arrayOf(ordinals)])
  const packed = packDigests(uniques, uniqueBytes)
  const [, receipt, part, locked, shared, fresh, held, seen] = await Promise.all([
    send('BEGIN ISOLATION LEVEL READ COMMITTED'),
    send(texts.receipt, [writer]),
    send(partText(tables), [writer]),
    some(touched, texts.touched),
    some(required, texts.required),
    some(touched, texts.recent),
    uniques.length === 0 ? [] : send(texts.uniques, [packed, uniques.length]),
    derived.length === 0 ? [] : readDerived(send, tables, derived),
  ])
  const rows = readRows(locked)
  const shares = new Map(
    shared.map(([ordinal, version, unique]) => [
      Number(ordinal),
      { version: Number(version), unique: unique instanceof Uint8Array ? unique : undefined },
    ]),
  )
  const holders = new Map(
    held.map(([digest, ordinal]) => [
      digest instanceof Uint8Array ? keyOf(digest) : '',
      Number(ordinal),
    ]),
  )
  const requiredAt = (ordinal: number): KeyedRow | undefined => {
    const share = shares.get(ordinal)
    return share && requiredRow(ordinal, share)
  }
  return {
    receipt: receiptOf(receipt),
    part: partIn(part),
    rows,
    recent: new Set(fresh.map(([ordinal]) => Number(ordinal))),
    derived: seen,
    stored: {
      rowAt: ordinal => rows.get(ordinal) ?? requiredAt(ordinal),
      holderOf: (_, key) => holders.get(key),
      derivedAt: key => seen.find(each => equalBytes(each.key, key))?.value,
    },
  }
}
