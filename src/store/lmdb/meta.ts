/**
 * The table of facts about the store itself: three keys of ASCII text, each with a u48.
 *
 * `format` is the layout of all tables, `next_ordinal` the ordinal of the next inserted row,
 * `generation` the number under which caches stand. `next_ordinal` is always above every row.
 * @module
 */
import { utf8 } from '../../bytes.ts'
import { assertStored } from '../corrupt.ts'
import type { Environment } from './environment.ts'
import { decodeRowKey } from './rows/row-key.ts'
import { readU48, u48Bytes, writeU48 } from '../whole-numbers.ts'

export interface Meta {
  readonly nextOrdinal: number
  readonly generation: number
}

/** Moves with every change of a key, a value or the engine's own file format. */
const storeFormat = 1

const formatKey = utf8('format')
const nextOrdinalKey = utf8('next_ordinal')
const generationKey = utf8('generation')

function encodeFact(fact: number): Uint8Array {
  const value = new Uint8Array(u48Bytes)
  writeU48(value, 0, fact)
  return value
}

function readFact({ meta }: Environment, key: Uint8Array): number | undefined {
  const value = meta.getBinary(key)
  if (value === undefined) return undefined
  assertStored(value.length === u48Bytes, 'facts of 6 bytes')
  return readU48(value, 0)
}

/** @throws ApiError `storage_corrupt` */
export function readGeneration(environment: Environment): number {
  const generation = readFact(environment, generationKey)
  assertStored(generation !== undefined, 'a generation')
  return generation
}

/** Above the ordinal of every row. @throws ApiError `storage_corrupt` */
export function readNextOrdinal(environment: Environment): number {
  const nextOrdinal = readFact(environment, nextOrdinalKey)
  assertStored(nextOrdinal !== undefined, 'a next ordinal')
  return nextOrdinal
}

/** @throws ApiError `storage_corrupt` when a fact is missing or an ordinal would be used twice */
export function readMeta(environment: Environment): Meta {
  const nextOrdinal = readNextOrdinal(environment)
  for (const key of environment.rows.getKeys({ reverse: true, limit: 1 })) {
    assertStored(decodeRowKey(key) < nextOrdinal, 'a next ordinal above every row')
  }
  return { nextOrdinal, generation: readGeneration(environment) }
}

/** The entries to put for these facts. */
export const metaEntries = ({ nextOrdinal, generation }: Meta): [Uint8Array, Uint8Array][] => [
  [nextOrdinalKey, encodeFact(nextOrdinal)],
  [generationKey, encodeFact(generation)],
]

/** Puts what is there, so that a commit has a page to write. */
export function rewriteMeta({ meta }: Environment): void {
  meta.putSync(formatKey, encodeFact(storeFormat))
}

/**
 * Checks the format of a store, and writes the facts of a new one.
 * @throws ApiError `storage_corrupt` for an unknown format, and as `readMeta`
 */
export function openMeta(environment: Environment, firstOrdinal: number): void {
  const { root, rows, meta } = environment
  root.transactionSync(() => {
    if ([meta, rows].some(table => table.getKeysCount({ limit: 1 }) > 0)) return
    meta.putSync(formatKey, encodeFact(storeFormat))
    const facts = metaEntries({ nextOrdinal: firstOrdinal, generation: 0 })
    for (const [key, value] of facts) meta.putSync(key, value)
  })
  assertStored(readFact(environment, formatKey) === storeFormat, 'a format of this version')
  readMeta(environment)
}
