/**
 * Rows and digests for tests of a store: small numbers stand for digests.
 * @module
 */
import { expect } from 'bun:test'
import { ApiError, type ErrorKind } from '../../src/lib/errors.ts'
import { storedRow } from '../../src/store/core/row.ts'
import type {
  Change,
  Digest,
  LogBundle,
  UnsealedEntry,
  NewRow,
  Query,
  Row,
  Store,
  PageWindow,
} from '../../src/store/contract.ts'

/**
 * The number in the last four bytes, so that neighbours differ late; the first one scatters them,
 * as a fold goes by it.
 */
function digestOf(number: number, bytes: number): Digest {
  const digest = new Uint8Array(bytes).fill(0xab)
  digest[0] = number * 83
  new DataView(digest.buffer).setUint32(bytes - 4, number)
  return digest
}

export const uniqueOf = (number: number): Digest => digestOf(number, 32)
export const termOf = (number: number): Digest => digestOf(number, 16)
export const numberOf = (digest: Digest): number =>
  new DataView(digest.buffer, digest.byteOffset).getUint32(digest.length - 4)

export interface RowSketch {
  readonly uniques: readonly number[]
  readonly terms?: readonly number[]
  readonly deadlineMs?: number
  readonly version?: number
  readonly parts?: readonly Uint8Array[]
}

export const rowOf = ({ uniques, terms = [], deadlineMs, version, parts }: RowSketch): NewRow => ({
  uniques: uniques.map(uniqueOf),
  terms: terms.map(termOf),
  version: version ?? 1,
  parts: parts ?? [Uint8Array.of(uniques[0] ?? 0, 7), new Uint8Array(0)],
  ...(deadlineMs === undefined ? {} : { deadlineMs }),
})

export const insertOf = (sketch: RowSketch): Change => ({ insert: rowOf(sketch) })

/** A bundle of the log whose entries and sealed bytes begin with a number. */
export const bundleOf = (number: number, entries = 1, sealedBytes = 3): LogBundle => ({
  leaves: Array.from({ length: entries }, (_, i) => new Uint8Array(32).fill(number + i)),
  sealed: new Uint8Array(sealedBytes).fill(number),
})

export const logOf = (number: number, entries = 1): Change => ({ log: bundleOf(number, entries) })

/** Makes entries of the log that are sealed together as bundles of their numbers. */
export function makeNumberedEntries() {
  const numbers = new Map<UnsealedEntry, number>()
  const seal = (entries: readonly UnsealedEntry[]): LogBundle => {
    const own = entries.map(entry => numbers.get(entry) ?? 0)
    return { leaves: own.map(each => new Uint8Array(32).fill(each)), sealed: Uint8Array.from(own) }
  }
  return (number: number, bytes = 100): Change => {
    const entry: UnsealedEntry = { bytes, seal }
    numbers.set(entry, number)
    return { entry }
  }
}

/** Replaces a row that stands at the version before the sketch's. */
export const replaceOf = (ordinal: number, sketch: RowSketch & { version: number }): Change => ({
  replace: rowOf(sketch),
  ordinal,
  ifVersion: sketch.version - 1,
})

/** Writes what must succeed. */
export async function written(store: Store, ...changes: Change[]): Promise<readonly number[]> {
  const outcome = await store.write(changes)
  if (!outcome.ok) throw new Error(`refused at ${outcome.at}: ${outcome.reason}`)
  return outcome.ordinals
}

/** Writes one row that must be new. @returns its ordinal */
export async function inserted(store: Store, sketch: RowSketch): Promise<number> {
  const [ordinal] = await written(store, insertOf(sketch))
  if (ordinal === undefined) throw new Error('an insert gives an ordinal')
  return ordinal
}

export const stored = (ordinal: number, sketch: RowSketch): Row => storedRow(ordinal, rowOf(sketch))

export interface Found {
  readonly ordinals: readonly number[]
  readonly total: number
}

export async function ordinalsOf(
  store: Store,
  query: Query,
  window: Partial<PageWindow> = {},
): Promise<Found> {
  const page = await store.page(query, { offset: 0, limit: 100, nowMs: 0, ...window })
  return { ordinals: page.rows.map(({ ordinal }) => ordinal), total: page.total }
}

/** Expects a rejection of that kind whose message shows no stored bytes. */
export async function expectFault(attempt: Promise<unknown>, kind: ErrorKind): Promise<ApiError> {
  const fault: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(fault instanceof ApiError)) throw new Error('expected a fault', { cause: fault })
  expect(fault.kind).toBe(kind)
  expect(fault.message).not.toMatch(/[0-9a-f]{8}|\d{5}/)
  return fault
}
