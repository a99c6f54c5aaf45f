/**
 * The table of the log: bundles of entries by sequence, and the values that follow from them.
 *
 * The fact `log` in the table of facts is the sequence of the oldest kept entry and the number of
 * entries ever written, a u48 each; without it, nothing was ever logged.
 * @module
 */
import { readU48, u48Bytes, utf8, writeU48 } from '../../lib/bytes.ts'
import { assertStored, invariant } from '../../lib/errors.ts'
import type { DerivedValue, LogRange, Store, StoredBundle } from '../contract.ts'
import { decodeBundle, encodeBundle, takeBundles } from '../core/bundle-format.ts'
import type { SealedLog } from '../core/decide-change.ts'
import type { LogReads } from '../core/log-walk.ts'
import type { LmdbEnvironment, LmdbTable } from './environment.ts'
import type { Put } from './put.ts'
import { decodeRowKey, encodeRowKey } from './layout.ts'

const logKey = utf8('log')

/** @throws ApiError `storage_corrupt` */
export function readLogRange({ meta }: Pick<LmdbEnvironment, 'meta'>): LogRange {
  const bytes = meta.getBinary(logKey)
  if (bytes === undefined) return { from: 0, next: 0 }
  assertStored(bytes.length === 2 * u48Bytes, 'a range of the log')
  const range = { from: readU48(bytes, 0), next: readU48(bytes, u48Bytes) }
  assertStored(range.from <= range.next, 'a range of the log in order')
  return range
}

/** Puts the range of a log. */
export function rangePut({ meta }: LmdbEnvironment, { from, next }: LogRange): Put {
  const value = new Uint8Array(2 * u48Bytes)
  writeU48(value, 0, from)
  writeU48(value, u48Bytes, next)
  return { table: meta, key: logKey, value }
}

/** Returns both tables. Writers have them: they make what an older version has not. */
export function tablesOf({ log, derived }: LmdbEnvironment) {
  invariant(log !== undefined && derived !== undefined, 'a writer has the tables of the log')
  return { log, derived }
}

/** Returns the key of the newest bundle that begins at a sequence or before it, else the first. */
function keyHolding(log: LmdbTable, sequence: number): Uint8Array {
  const key = encodeRowKey(sequence)
  for (const before of log.getKeys({ start: key, reverse: true, limit: 1 })) return before
  return key
}

/** Removals of the bundles that begin before one. */
const removalsBefore = (table: LmdbTable, end: Uint8Array): readonly Put[] =>
  Array.from(table.getKeys({ end }), key => ({
    table,
    key: new Uint8Array(key),
    value: undefined,
  }))

/**
 * Puts of what a group writes to the log; run within its transaction, in which sequences are given.
 * @throws ApiError `storage_corrupt` if a sequence would be given twice
 */
export function logPuts(environment: LmdbEnvironment, draft: SealedLog): readonly Put[] {
  const { log: table, derived: values } = tablesOf(environment)
  const puts: Put[] = [...draft.derived.values()].map(({ derived: key, value }) => ({
    table: values,
    key,
    value,
  }))
  if (draft.bundles.length === 0 && draft.pruneBelow === 0) return puts
  let { from, next } = readLogRange(environment)
  for (const last of table.getKeys({ reverse: true, limit: 1 })) {
    assertStored(decodeRowKey(last) < next, 'a next sequence above every entry')
  }
  if (draft.pruneBelow > from) {
    // The last bundle ends with the log.
    const { pruneBelow } = draft
    const end = pruneBelow < next ? keyHolding(table, pruneBelow) : encodeRowKey(next)
    puts.push(...removalsBefore(table, end))
    from = Math.max(from, decodeRowKey(end))
  }
  for (const bundle of draft.bundles) {
    puts.push({ table, key: encodeRowKey(next), value: encodeBundle(bundle), isLast: true })
    next += bundle.leaves.length
  }
  return [...puts, rangePut(environment, { from, next })]
}

/** @throws ApiError `storage_corrupt` */
function* decoded(entries: ReturnType<LmdbTable['getRange']>): Generator<StoredBundle> {
  for (const { key, value } of entries) yield decodeBundle(decodeRowKey(key), value)
}

/** @throws ApiError `storage_corrupt` */
export const readEveryBundle = ({ log }: LmdbEnvironment): Iterable<StoredBundle> =>
  log === undefined ? [] : decoded(log.getRange())

/** @throws ApiError `storage_corrupt` */
function readBundles(
  environment: LmdbEnvironment,
  range: Parameters<Store['bundles']>[0],
  limit: number,
): readonly StoredBundle[] {
  const { log } = environment
  if (log === undefined) return []
  if ('from' in range) {
    // The bundle at or before the sequence may end before it.
    const entries = log.getRange({ start: keyHolding(log, range.from), limit: limit + 1 })
    return takeBundles(decoded(entries), limit, range.from)
  }
  if (range.before <= 0) return []
  const start = encodeRowKey(range.before - 1)
  return takeBundles(decoded(log.getRange({ start, reverse: true, limit })), limit)
}

/** Returns the value beside the log under a key; run within a transaction, as of it. */
export const readDerivedValue = (
  environment: LmdbEnvironment,
  key: Uint8Array,
): Uint8Array | undefined => {
  const value = tablesOf(environment).derived.getBinary(key)
  return value && new Uint8Array(value)
}

const readDerived = (
  { derived }: LmdbEnvironment,
  start: Uint8Array,
  end: Uint8Array,
  limit: number,
): readonly DerivedValue[] =>
  Array.from(derived?.getRange({ start, end, limit }) ?? [], ({ key, value }) => ({
    key: new Uint8Array(key),
    value: new Uint8Array(value),
  }))

/** Returns the reads of the log. @param read runs one in the newest state */
export const logReadsOf = (
  environment: LmdbEnvironment,
  read: <T>(work: () => T) => T,
): LogReads => ({
  logRange: () => read(() => readLogRange(environment)),
  bundles: async (range, limit) => read(() => readBundles(environment, range, limit)),
  derived: async (from, to, limit) => read(() => readDerived(environment, from, to, limit)),
})
