/**
 * The walk over the whole store that compares rows and indexes in both directions.
 *
 * It finds what no single read can: rows that no index leads to, and entries that lead to nothing.
 * From rows to indexes each entry is looked up; no two rows share one, so where an index has as
 * many entries as were found that way, none of them is an orphan, and only else they are looked up.
 * It blocks while it runs, holds one state of the store, and changes nothing.
 * Source: hardening D8.
 * @module
 */
import { findingsMax } from '../../../limits.ts'
import { keyOf, equalDigests } from '../../checks.ts'
import type { Row } from '../../contract.ts'
import { attempt } from '../../../errors.ts'
import { chunkOf, decodeChunkKey, lowOf, ordinalOf, readChunk } from '../index/postings.ts'
import {
  decodePlaceSet,
  isCanonical,
  countOf,
  emptySet,
  hasPlace,
  placesOf,
  type PlaceSet,
} from '../index/place-set.ts'
import {
  decodeDeadline,
  encodeDeadline,
  decodeRow,
  decodeRowKey,
  decodeUniqueEntry,
  readRow,
  readUnique,
} from '../rows.ts'
import { type Environment, type Table, readMeta } from '../environment.ts'

/** Sets of common terms; rarer ones are read each time. */
const chunksKeptMax = 1_024

type FindingKind =
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

function* checkMeta(environment: Environment): Generator<Finding> {
  if (attempt(() => readMeta(environment)) === undefined) yield { kind: 'meta_damaged' }
}

/** Entries of each index that the rows were found by. */
interface Found {
  uniques: number
  terms: number
  deadlines: number
}

/** Whether an ordinal is under a prefix. */
type IsPosted = (prefix: Uint8Array, ordinal: number) => boolean

/** Rows come in order and share most terms, so that chunks of the latest ones are kept. */
function lookUpPostings(table: Table): IsPosted {
  let chunk = -1
  let kept = new Map<string, PlaceSet>()
  return (prefix, ordinal) => {
    if (chunkOf(ordinal) !== chunk || kept.size >= chunksKeptMax) {
      chunk = chunkOf(ordinal)
      kept = new Map()
    }
    const key = keyOf(prefix)
    let set = kept.get(key)
    if (set === undefined) {
      set = attempt(() => readChunk(table, prefix, chunk)) ?? emptySet
      if (set.length > 1) kept.set(key, set)
    }
    return hasPlace(set, lowOf(ordinal))
  }
}

function* checkRow(
  environment: Environment,
  row: Row,
  hasTerm: IsPosted,
  found: Found,
): Generator<Finding> {
  const { ordinal, version, deadlineMs } = row
  for (const unique of row.uniques) {
    const entry = attempt(() => readUnique(environment, unique))
    if (entry?.ordinal === ordinal && entry.version === version) found.uniques += 1
    else yield { kind: 'unique_missing', ordinal }
  }
  for (const term of row.terms) {
    if (hasTerm(term, ordinal)) found.terms += 1
    else yield { kind: 'term_missing', ordinal }
  }
  if (deadlineMs === undefined) return
  const chunk = () => readChunk(environment.deadlines, encodeDeadline(deadlineMs), chunkOf(ordinal))
  if (hasPlace(attempt(chunk) ?? emptySet, lowOf(ordinal))) found.deadlines += 1
  else yield { kind: 'deadline_missing', ordinal }
}

function* checkRows(environment: Environment, found: Found): Generator<Finding> {
  const hasTerm = lookUpPostings(environment.terms)
  for (const { key, value } of environment.rows.getRange()) {
    const ordinal = attempt(() => decodeRowKey(key))
    const row = ordinal === undefined ? undefined : attempt(() => decodeRow(value, ordinal))
    if (row !== undefined) yield* checkRow(environment, row, hasTerm, found)
    else yield ordinal === undefined ? { kind: 'row_damaged' } : { kind: 'row_damaged', ordinal }
  }
}

function* findOrphanUniques(environment: Environment): Generator<Finding> {
  for (const { key, value } of environment.uniques.getRange()) {
    const entry = attempt(() => decodeUniqueEntry(value))
    if (entry === undefined) continue
    const { ordinal, version } = entry
    const row = attempt(() => readRow(environment, ordinal))
    const isHeld = row?.version === version && row.uniques.some(held => equalDigests(held, key))
    if (!isHeld) yield { kind: 'unique_orphan', ordinal }
  }
}

function* checkUniques(environment: Environment, found: number): Generator<Finding> {
  let entries = 0
  for (const { value } of environment.uniques.getRange()) {
    if (attempt(() => decodeUniqueEntry(value)) === undefined) yield { kind: 'unique_damaged' }
    else entries += 1
  }
  if (entries !== found) yield* findOrphanUniques(environment)
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

function* findOrphanPostings(
  environment: Environment,
  table: Table,
  kinds: PostingKinds,
): Generator<Finding> {
  for (const { key, value } of table.getRange()) {
    const place = attempt(() => decodeChunkKey(key))
    const set = attempt(() => decodePlaceSet(value))
    if (place === undefined || set === undefined || !isCanonical(set)) continue
    for (const low of placesOf(set)) {
      const ordinal = ordinalOf(place.chunk, low)
      const row = attempt(() => readRow(environment, ordinal))
      if (row === undefined || !kinds.isOf(row, place.prefix)) yield { kind: kinds.orphan, ordinal }
    }
  }
}

function* checkPostings(
  environment: Environment,
  table: Table,
  kinds: PostingKinds,
  found: number,
): Generator<Finding> {
  let entries = 0
  for (const { key, value } of table.getRange()) {
    const place = attempt(() => decodeChunkKey(key))
    const set = attempt(() => decodePlaceSet(value))
    if (place === undefined) yield { kind: kinds.damaged }
    else if (set === undefined || !isCanonical(set)) {
      yield { kind: kinds.damaged, ordinal: ordinalOf(place.chunk, 0) }
    } else entries += countOf(set)
  }
  if (entries !== found) yield* findOrphanPostings(environment, table, kinds)
}

function* walkStore(environment: Environment): Generator<Finding> {
  const found: Found = { uniques: 0, terms: 0, deadlines: 0 }
  yield* checkMeta(environment)
  yield* checkRows(environment, found)
  yield* checkUniques(environment, found.uniques)
  yield* checkPostings(environment, environment.terms, termKinds, found.terms)
  yield* checkPostings(environment, environment.deadlines, deadlineKinds, found.deadlines)
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
