/**
 * What every write must bring, whatever the engine: told before it is queued, so that a bad call
 * refuses itself and harms no other. Source: contract.ts, `Change`.
 *
 * @module
 */
import { hexOf } from '../bytes.ts'
import { invariant } from '../errors.ts'
import {
  deadlineMsMax,
  ordinalMax,
  rowBytesMax,
  rowPartsMax,
  rowTermsMax,
  rowUniquesMax,
  rowVersionMax,
  termBytes,
  uniqueBytes,
  writeChangesMax,
} from '../limits.ts'
import type { Change, Digest, NewRow } from './contract.ts'

/** A row with its digests as texts, in the same order: keys for Maps and Sets. */
export interface KeyedRow {
  readonly row: NewRow
  readonly uniqueKeys: readonly string[]
  readonly termKeys: readonly string[]
}

const isWithin = (value: number, min: number, max: number): boolean =>
  Number.isSafeInteger(value) && value >= min && value <= max

/** The text of a digest; equal digests, and no others, give equal texts. */
export const keyOf = (digest: Digest): string => hexOf(digest)

export const keyRow = (row: NewRow): KeyedRow => ({
  row,
  uniqueKeys: row.uniques.map(keyOf),
  termKeys: row.terms.map(keyOf),
})

function checkDigests(digests: readonly Digest[], keys: readonly string[], bytes: number): void {
  invariant(
    digests.every(digest => digest.length === bytes),
    'uniques have 32 bytes and terms 16',
  )
  invariant(new Set(keys).size === keys.length, 'a row names no digest twice')
}

/** @throws ApiError `internal` when a row breaks a bound or names a digest twice */
export function checkRow({ row, uniqueKeys, termKeys }: KeyedRow): void {
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
  checkDigests(uniques, uniqueKeys, uniqueBytes)
  checkDigests(terms, termKeys, termBytes)
}

const checkOrdinal = (ordinal: number): void =>
  invariant(isWithin(ordinal, 0, ordinalMax), 'an ordinal is a whole number below 2^48')

/** Everything about a change but its row. @throws ApiError `internal` */
export function checkChange(change: Change): void {
  if ('insert' in change) {
    invariant(change.insert.version === 1, 'an inserted row has version 1')
  } else if ('replace' in change) {
    checkOrdinal(change.ordinal)
    invariant(change.replace.version === change.ifVersion + 1, 'a replaced row is one version on')
  } else if ('remove' in change) {
    checkOrdinal(change.remove)
  } else if ('require' in change) {
    checkOrdinal(change.require)
  }
}

/** @throws ApiError `internal` when one write brings more than a transaction may hold */
export const checkCount = (changes: readonly Change[]): void =>
  invariant(changes.length <= writeChangesMax, 'the changes of a write are within their bound')
