/**
 * The walk over the whole store that compares rows and indexes in both directions.
 *
 * It finds what no single read can: rows that no index leads to, and entries that lead to nothing.
 * It blocks while it runs, holds one state of the store, and changes nothing.
 * Source: hardening.md section 6, D8.
 * @module
 */
import { ApiError } from '../../errors.ts'
import { findingsMax } from '../../limits.ts'
import { equalDigests } from '../check-query.ts'
import type { Row } from '../contract.ts'
import { chunkOf, decodeChunkKey, lowOf, ordinalOf } from './chunk-key.ts'
import { decodeContainer, isCanonical } from './container-codec.ts'
import { emptySet, hasPlace, placesOf, type Container } from './container.ts'
import { decodeDeadline, encodeDeadline } from './deadline-key.ts'
import type { Environment, Table } from './environment.ts'
import { readMeta } from './meta.ts'
import { readChunk } from './postings.ts'
import { decodeRow } from './row-codec.ts'
import { decodeRowKey } from './row-key.ts'
import { readRow, readUnique } from './stored-rows.ts'
import { decodeUniqueEntry } from './unique-entry.ts'

export type FindingKind =
  /** Format, next ordinal or generation are missing, or an ordinal would be given twice. */
  | 'meta_damaged'
  /** Bytes that nothing of ours writes. */
  | 'row_damaged'
  | 'unique_damaged'
  | 'term_damaged'
  | 'deadline_damaged'
  /** A row says so, and the index does not. */
  | 'unique_missing'
  | 'term_missing'
  | 'deadline_missing'
  /** The index says so, and the row does not, or is not there. */
  | 'unique_orphan'
  | 'term_orphan'
  | 'deadline_orphan'

/** Plain data without any stored value. `ordinal` is of the row, or of the first row of a chunk. */
export interface Finding {
  readonly kind: FindingKind
  readonly ordinal?: number
}

/** `undefined` stands for bytes that do not decode. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'storage_corrupt') return undefined
    throw error
  }
}

function* checkMeta(environment: Environment): Generator<Finding> {
  if (attempt(() => readMeta(environment)) === undefined) yield { kind: 'meta_damaged' }
}

const isPosted = (table: Table, prefix: Uint8Array, ordinal: number): boolean => {
  const set: Container = attempt(() => readChunk(table, prefix, chunkOf(ordinal))) ?? emptySet
  return hasPlace(set, lowOf(ordinal))
}

function* checkRow(environment: Environment, row: Row): Generator<Finding> {
  const { ordinal, version, deadlineMs } = row
  for (const unique of row.uniques) {
    const entry = attempt(() => readUnique(environment, unique))
    if (entry?.ordinal !== ordinal || entry.version !== version) {
      yield { kind: 'unique_missing', ordinal }
    }
  }
  for (const term of row.terms) {
    if (!isPosted(environment.terms, term, ordinal)) yield { kind: 'term_missing', ordinal }
  }
  const isLost =
    deadlineMs !== undefined &&
    !isPosted(environment.deadlines, encodeDeadline(deadlineMs), ordinal)
  if (isLost) yield { kind: 'deadline_missing', ordinal }
}

function* checkRows(environment: Environment): Generator<Finding> {
  for (const { key, value } of environment.rows.getRange()) {
    const ordinal = attempt(() => decodeRowKey(key))
    const row = ordinal === undefined ? undefined : attempt(() => decodeRow(value, ordinal))
    if (row !== undefined) yield* checkRow(environment, row)
    else yield ordinal === undefined ? { kind: 'row_damaged' } : { kind: 'row_damaged', ordinal }
  }
}

function* checkUniques(environment: Environment): Generator<Finding> {
  for (const { key, value } of environment.uniques.getRange()) {
    const entry = attempt(() => decodeUniqueEntry(value))
    if (entry === undefined) {
      yield { kind: 'unique_damaged' }
      continue
    }
    const { ordinal, version } = entry
    const row = attempt(() => readRow(environment, ordinal))
    const isHeld = row?.version === version && row.uniques.some(held => equalDigests(held, key))
    if (!isHeld) yield { kind: 'unique_orphan', ordinal }
  }
}

interface PostingKinds {
  readonly damaged: FindingKind
  readonly orphan: FindingKind
  readonly isOf: (row: Row, prefix: Uint8Array) => boolean
}

const termKinds: PostingKinds = {
  damaged: 'term_damaged',
  orphan: 'term_orphan',
  isOf: (row, term) => row.terms.some(held => equalDigests(held, term)),
}

const deadlineKinds: PostingKinds = {
  damaged: 'deadline_damaged',
  orphan: 'deadline_orphan',
  isOf: (row, prefix) => row.deadlineMs === attempt(() => decodeDeadline(prefix)),
}

function* checkPostings(
  environment: Environment,
  table: Table,
  kinds: PostingKinds,
): Generator<Finding> {
  for (const { key, value } of table.getRange()) {
    const place = attempt(() => decodeChunkKey(key))
    const set = attempt(() => decodeContainer(value))
    if (place === undefined || set === undefined || !isCanonical(set)) {
      yield place === undefined
        ? { kind: kinds.damaged }
        : { kind: kinds.damaged, ordinal: ordinalOf(place.chunk, 0) }
      continue
    }
    for (const low of placesOf(set)) {
      const ordinal = ordinalOf(place.chunk, low)
      const row = attempt(() => readRow(environment, ordinal))
      if (row === undefined || !kinds.isOf(row, place.prefix)) yield { kind: kinds.orphan, ordinal }
    }
  }
}

function* walkStore(environment: Environment): Generator<Finding> {
  yield* checkMeta(environment)
  yield* checkRows(environment)
  yield* checkUniques(environment)
  yield* checkPostings(environment, environment.terms, termKinds)
  yield* checkPostings(environment, environment.deadlines, deadlineKinds)
}

/** @returns what is wrong, at most `findingsMax` of it; an empty list for a whole store */
export function checkIntegrity(environment: Environment): readonly Finding[] {
  const findings: Finding[] = []
  for (const finding of walkStore(environment)) {
    findings.push(finding)
    if (findings.length === findingsMax) break
  }
  return findings
}
