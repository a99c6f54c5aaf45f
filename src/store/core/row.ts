/**
 * Rows, for every engine: the clear header as bytes, and the checks of every write.
 * @module
 */
import {
  bundleEntriesMax,
  deadlineMsMax,
  leafBytes,
  termBytes,
  uniqueBytes,
} from '../../limits/work-limits.ts'
import {
  bundleBytesMax,
  derivedKeyBytesMax,
  ordinalMax,
  rowBytesMax,
  rowPartsMax,
  rowTermsMax,
  rowUniquesMax,
  rowVersionMax,
  writeChangesMax,
} from './limits.ts'
import { assertStored, invariant } from '../../lib/errors.ts'
import { hexOf, readU16, readU32, readU48, writeU16, writeU32, writeU48 } from '../../lib/bytes.ts'
import type { Change, Digest, LogBundle, NewRow, Row } from '../contract.ts'

/*
 * The clear header of a row: version, deadline, uniques and terms, in exactly one form.
 *
 * The sealed values are bound to these bytes, and an engine may store them unchanged. Layout, big
 * endian: has deadline u8 (0, 1) · version u32 · deadline u48 (0 if there is none) · counts of
 * uniques and terms u16 each · uniques, 32 bytes each · terms, 16 bytes each. A row at version 3
 * without deadline, with one unique and two terms, begins `00 00000003 000000000000 0001 0002`.
 */

type Header = Pick<NewRow, 'uniques' | 'terms' | 'deadlineMs' | 'version'>

const versionAt = 1
const deadlineAt = 5
const uniqueCountAt = 11
const termCountAt = 13
/** Offset of the uniques in a header. */
export const uniquesAt = 15

const sizeFor = (uniques: number, terms: number): number =>
  uniquesAt + uniques * uniqueBytes + terms * termBytes

/** Offset of the terms in a header. */
export const termsAt = ({ uniques }: Pick<Header, 'uniques'>): number => sizeFor(uniques.length, 0)

export const clearHeaderBytes = ({ uniques, terms }: Header): number =>
  sizeFor(uniques.length, terms.length)

/** @param target has room for `clearHeaderBytes` from `at` on */
export function writeClearHeader(target: Uint8Array, at: number, row: Header): void {
  target[at] = row.deadlineMs === undefined ? 0 : 1
  writeU32(target, at + versionAt, row.version)
  writeU48(target, at + deadlineAt, row.deadlineMs ?? 0)
  writeU16(target, at + uniqueCountAt, row.uniques.length)
  writeU16(target, at + termCountAt, row.terms.length)
  let next = at + uniquesAt
  for (const digests of [row.uniques, row.terms]) {
    for (const digest of digests) {
      target.set(digest, next)
      next += digest.length
    }
  }
}

function readDigests(bytes: Uint8Array, from: number, count: number, size: number): Digest[] {
  const digests: Digest[] = []
  for (let at = from; digests.length < count; at += size)
    digests.push(bytes.subarray(at, at + size))
  return digests
}

/** `undefined` means no deadline. */
function readDeadline(bytes: Uint8Array, at: number): number | undefined {
  const hasDeadline = bytes[at]
  const deadlineMs = readU48(bytes, at + deadlineAt)
  assertStored(
    hasDeadline === 1 || (hasDeadline === 0 && deadlineMs === 0),
    'a row that says whether it has a deadline',
  )
  return hasDeadline === 1 ? deadlineMs : undefined
}

/** The parts of a header that are read at once; its digests are decoded only on demand. */
export interface ClearHeader {
  /** The header's bytes: a view of the input. */
  readonly clear: Uint8Array
  readonly version: number
  readonly deadlineMs: number | undefined
}

/**
 * @param at start of the header; slicing it first would cost more than reading it
 * @throws ApiError `storage_corrupt` when these are not the bytes of a header
 */
export function readClearHeader(bytes: Uint8Array, at: number): ClearHeader {
  assertStored(bytes.length >= at + uniquesAt, 'a row with a header')
  const uniqueCount = readU16(bytes, at + uniqueCountAt)
  const termCount = readU16(bytes, at + termCountAt)
  const version = readU32(bytes, at + versionAt)
  assertStored(
    version > 0 && uniqueCount > 0 && uniqueCount <= rowUniquesMax && termCount <= rowTermsMax,
    'a row within its bounds',
  )
  const end = at + sizeFor(uniqueCount, termCount)
  assertStored(end <= bytes.length, 'a row as long as its digests')
  return { clear: bytes.subarray(at, end), version, deadlineMs: readDeadline(bytes, at) }
}

export const uniquesOf = (clear: Uint8Array): Digest[] =>
  readDigests(clear, uniquesAt, readU16(clear, uniqueCountAt), uniqueBytes)

export const termsOf = (clear: Uint8Array): Digest[] => {
  return readDigests(clear, termsAtOf(clear), readU16(clear, termCountAt), termBytes)
}

/** Receives a digest's key for a Map, as `hexOf` gives it, and its first byte. */
type VisitDigest = (key: string, first: number) => void

function eachBetween(
  clear: Uint8Array,
  from: number,
  to: number,
  size: number,
  visit: VisitDigest,
): void {
  if (from === to) return
  // One text for all: slicing it costs less than a view and a text for each.
  const hex = hexOf(clear.subarray(from, to))
  for (let at = from; at < to; at += size) {
    visit(hex.slice((at - from) * 2, (at - from + size) * 2), clear[at] ?? 0)
  }
}

const termsAtOf = (clear: Uint8Array): number => sizeFor(readU16(clear, uniqueCountAt), 0)

export const eachTerm = (clear: Uint8Array, visit: VisitDigest): void =>
  eachBetween(clear, termsAtOf(clear), clear.length, termBytes, visit)

/** Offsets of the uniques, the terms and the end of a header that begins at `at`. */
export function digestsAt(bytes: Uint8Array, at: number) {
  const uniques = readU16(bytes, at + uniqueCountAt)
  const terms = readU16(bytes, at + termCountAt)
  return {
    uniques: at + uniquesAt,
    terms: at + sizeFor(uniques, 0),
    end: at + sizeFor(uniques, terms),
  }
}

/** @param at start of the header */
export const versionOf = (bytes: Uint8Array, at = 0): number => readU32(bytes, at + versionAt)

function holdsBetween(bytes: Uint8Array, from: number, to: number, digest: Digest): boolean {
  for (let at = from; at < to; at += digest.length) {
    if (isAt(bytes, at, digest)) return true
  }
  return false
}

/** True if a header has this unique; allocates nothing. */
export const holdsUnique = ({ clear }: Pick<ClearHeader, 'clear'>, unique: Digest): boolean =>
  holdsBetween(clear, uniquesAt, termsAtOf(clear), unique)

/** True if a header has this term; allocates nothing. */
export const holdsTerm = ({ clear }: Pick<ClearHeader, 'clear'>, term: Digest): boolean =>
  holdsBetween(clear, termsAtOf(clear), clear.length, term)

/** Every row has at least one unique. */
export const firstUniqueOf = ({ clear }: Pick<ClearHeader, 'clear'>): Digest =>
  clear.subarray(uniquesAt, uniquesAt + uniqueBytes)

function isAt(bytes: Uint8Array, at: number, digest: Digest): boolean {
  for (let i = 0; i < digest.length; i += 1) {
    if (bytes[at + i] !== digest[i]) return false
  }
  return true
}

/** A row as a store returns it. */
export function storedRow(ordinal: number, row: NewRow): Row {
  const clear = new Uint8Array(clearHeaderBytes(row))
  writeClearHeader(clear, 0, row)
  return { ...row, ordinal, clear }
}

/*
 * Checks of every write, for every engine, made before it is queued, so that a bad call fails alone
 * and harms no other. Source: contract.ts, `Change`.
 */

/** A row with its uniques as text keys for Maps and Sets, in the same order. */
export interface KeyedRow {
  readonly row: NewRow
  readonly uniqueKeys: readonly string[]
}

const isWithin = (value: number, min: number, max: number): boolean =>
  Number.isSafeInteger(value) && value >= min && value <= max

/** The text of a digest; equal digests, and no others, give equal texts. */
export const keyOf = (digest: Digest): string => hexOf(digest)

export const keyRow = (row: NewRow): KeyedRow => ({ row, uniqueKeys: row.uniques.map(keyOf) })

/** The texts of a row's terms, in the same order; few rows need them. */
export const termKeysOf = ({ row: { terms } }: KeyedRow): readonly string[] => terms.map(keyOf)

const areDistinct = (keys: readonly unknown[]): boolean => new Set(keys).size === keys.length

function checkDigests(digests: readonly Digest[], bytes: number): void {
  invariant(
    digests.every(digest => digest.length === bytes),
    'uniques have 32 bytes and terms 16',
  )
  // Digests with different first bytes differ: the full comparison is rarely needed.
  const haveDistinctHeads = areDistinct(digests.map(digest => readU32(digest, 0)))
  invariant(haveDistinctHeads || areDistinct(digests.map(keyOf)), 'a row names no digest twice')
}

/** @throws ApiError `internal` when a row breaks a bound or names a digest twice */
export function checkRow(row: NewRow): void {
  const { uniques, terms, parts, version, deadlineMs } = row
  invariant(isWithin(uniques.length, 1, rowUniquesMax), 'a row has uniques, within their bound')
  invariant(terms.length <= rowTermsMax, 'the terms of a row are within their bound')
  invariant(parts.length <= rowPartsMax, 'the parts of a row are within their bound')
  invariant(isWithin(version, 1, rowVersionMax), 'a row version is a positive u32')
  invariant(
    deadlineMs === undefined || isWithin(deadlineMs, 0, deadlineMsMax),
    'a deadline is in whole milliseconds since 1970, below 2^48',
  )
  const bytes = parts.reduce((sum, part) => sum + part.length, 0)
  invariant(bytes <= rowBytesMax, 'the bytes of a row are within their bound')
  checkDigests(uniques, uniqueBytes)
  checkDigests(terms, termBytes)
}

const checkOrdinal = (ordinal: number): void =>
  invariant(isWithin(ordinal, 0, ordinalMax), 'an ordinal is a whole number below 2^48')

/** @throws ApiError `internal` */
export function checkBundle({ leaves, sealed }: LogBundle): void {
  invariant(isWithin(leaves.length, 1, bundleEntriesMax), 'the entries of a bundle are bounded')
  invariant(
    leaves.every(leaf => leaf.length === leafBytes),
    'the hash of an entry has 32 bytes',
  )
  invariant(sealed.length <= bundleBytesMax, 'the bytes of a bundle are within their bound')
}

const checkDerivedKey = (key: Uint8Array): void =>
  invariant(isWithin(key.length, 1, derivedKeyBytesMax), 'a key beside the log is bounded')

function checkDerived({ derived, value }: Extract<Change, { derived: Uint8Array }>): void {
  checkDerivedKey(derived)
  invariant((value?.length ?? 0) <= rowBytesMax, 'a value beside the log is bounded')
}

/** Checks everything about a change except its row. @throws ApiError `internal` */
export function checkChange(change: Change): void {
  if ('insert' in change) {
    invariant(change.insert.version === 1, 'an inserted row has version 1')
  } else if ('replace' in change) {
    checkOrdinal(change.ordinal)
    invariant(change.replace.version === change.ifVersion + 1, 'a replaced row is one version on')
  } else if ('reseal' in change) {
    checkOrdinal(change.ordinal)
  } else if ('remove' in change) {
    checkOrdinal(change.remove)
  } else if ('require' in change) {
    checkOrdinal(change.require)
  } else if ('log' in change) {
    checkBundle(change.log)
  } else if ('derived' in change) {
    checkDerived(change)
  } else if ('requireDerived' in change) {
    checkDerivedKey(change.requireDerived)
  } else if ('pruneLog' in change) {
    checkOrdinal(change.pruneLog)
  }
}

/** @throws ApiError `internal` when one write brings more than a transaction may hold */
export const checkCount = (changes: readonly Change[]): void =>
  invariant(changes.length <= writeChangesMax, 'the changes of a write are within their bound')
