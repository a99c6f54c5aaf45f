/**
 * Changing a closed store behind its back.
 * @module
 */
import { openEnvironment, type LmdbEnvironment } from '../../src/store/lmdb/environment.ts'
import type { Row } from '../../src/store/contract.ts'
import {
  chunkOf,
  encodePlaceSet,
  lowOf,
  subtract,
  unite,
  type PlaceSet,
} from '../../src/store/core/place-set.ts'
import { encodeRow } from '../../src/store/core/row-format.ts'
import {
  deadlinesOfStore,
  readChunk,
  termsOfStore,
  type Postings,
} from '../../src/store/lmdb/index/postings.ts'
import { readRow } from '../../src/store/lmdb/index/read-rows.ts'
import { encodeDeadline, encodeRowKey, encodeRowVersion } from '../../src/store/lmdb/layout.ts'
import {
  encodeState,
  readState,
  stateKey,
  type StoreState,
} from '../../src/store/lmdb/store-state.ts'

export async function tamper(
  path: string,
  change: (environment: LmdbEnvironment) => void,
): Promise<void> {
  const environment = openEnvironment(path)
  environment.root.transactionSync(() => change(environment))
  await environment.root.close()
}

export const changeState =
  (change: Partial<StoreState>) =>
  (environment: LmdbEnvironment): void =>
    void environment.meta.putSync(stateKey, encodeState({ ...readState(environment), ...change }))

/** Returns a row of a store as it lies there. */
export function rowIn(environment: LmdbEnvironment, ordinal: number): Row {
  const row = readRow(environment, ordinal)
  if (row === undefined) throw new Error(`expected a row ${ordinal}`)
  return structuredClone(row)
}

/** Puts a row into a chunk of a shared digest, or takes it out. */
function setPlace(
  postings: Postings,
  shared: Uint8Array,
  ordinal: number,
  change: (set: PlaceSet, own: PlaceSet) => PlaceSet,
): void {
  const chunk = chunkOf(ordinal)
  const own = Uint16Array.of(lowOf(ordinal))
  const value = encodePlaceSet(change(readChunk(postings, shared, chunk), own))
  const key = postings.encodeKey(shared, chunk)
  if (value === undefined) postings.table.removeSync(key)
  else postings.table.putSync(key, value)
}

/** Sets the index entries of a folded row. */
function setEntries(environment: LmdbEnvironment, row: Row, isIn: boolean): void {
  const { ordinal, version, deadlineMs } = row
  const change = isIn ? unite : subtract
  for (const unique of row.uniques) {
    if (isIn) environment.uniques.putSync(unique, encodeRowVersion({ ordinal, version }))
    else environment.uniques.removeSync(unique)
  }
  for (const term of row.terms) setPlace(termsOfStore(environment), term, ordinal, change)
  if (deadlineMs === undefined) return
  setPlace(deadlinesOfStore(environment), encodeDeadline(deadlineMs), ordinal, change)
}

/**
 * Puts a row in the place of another one, with all its index entries, as if it had never been
 * otherwise. The rows of the store are folded.
 * @param row  `undefined` to take away what is there
 */
export function setRow(environment: LmdbEnvironment, ordinal: number, row: Row | undefined): void {
  const standing = readRow(environment, ordinal)
  if (standing !== undefined) setEntries(environment, structuredClone(standing), false)
  environment.rows.removeSync(encodeRowKey(ordinal))
  if (row === undefined) return
  environment.rows.putSync(encodeRowKey(ordinal), encodeRow(row))
  setEntries(environment, { ...row, ordinal }, true)
}
