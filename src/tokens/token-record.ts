/**
 * Token records: how they are sealed, found and opened.
 * @module
 */
import { utf8 } from '../lib/bytes.ts'
import { termDigest, type DigestLabel, type Keys, type KeyScope } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import { containerAncestors } from '../rules/access.ts'
import { dayOf, spanOf } from '../rules/instants.ts'
import { idPrefixes } from '../rules/token-ids.ts'
import { foldMetadata } from '../rules/clear-text.ts'
import { makeTextCache, keptFor } from '../lib/maps.ts'
import { sharedTermCharsMax, sharedTermsMax } from '../limits/limits.ts'
import { unsealRow, sealRow, type RowSealer } from '../records/rows.ts'
import type { Digest, NewRow, Row } from '../store/contract.ts'
import { tokenUnique } from './token-id.ts'
import { decodeRecord, encodeRecord, type TokenRecord } from './stored-form.ts'

export type { TokenRecord }

/*
 * The token record: what is sealed, by what it is found, and how it is read again.
 *
 * Value 0 of a row is the record, value 1 the data: deciding over a token, or showing it masked,
 * does not open its data. Texts of JSON (`maskText`, `metadataText`, the data) are kept as printed,
 * so that they leave exactly as they came in.
 */

/** What a token is found by beside its record; needed when it is sealed, never read back. */
export interface TokenContents {
  /** Without the code that ends by itself. */
  readonly dataText: string
  readonly metadata: ReadonlyMap<string, string>
  readonly searchValues: readonly string[]
  /** Whether its mask shows anything of the data; of no matter without search values. */
  readonly isShownMasked: boolean
}

export interface StoredToken {
  readonly row: Row
  readonly record: TokenRecord
  /**
   * Opens the data, with the code if that is there, and gives its JSON text as it was sealed.
   * @throws ApiError as `unsealToken`
   */
  readonly unsealData: () => string
}

const recordValue = 0
const dataValue = 1
/** The head and the record: what a verdict over a token needs. */
export const verdictParts = 2
/** decision: opening no more takes no longer than the noise of an answer's time. */
const shortRecordBytes = 1_024

const sealerOf = (keys: Keys, tenantId: string): RowSealer => ({
  scope: keys.tenant(tenantId),
  collection: 'token',
})

/** The digests of names that many tokens share, each made once. Of contents none is ever kept. */
function sharedTerm(scope: KeyScope, label: DigestLabel): (name: string | number) => Digest {
  const made = makeTextCache<Digest>(sharedTermsMax)
  return name => {
    const text = String(name)
    const known = made.get(text)
    if (known !== undefined) return known
    const term = termDigest(scope, label, text)
    if (text.length > sharedTermCharsMax) return term
    made.set(text, term)
    return term
  }
}

const searchTerm =
  (scope: KeyScope, label: DigestLabel) =>
  (value: string): Digest =>
    termDigest(scope, label, value.toLowerCase())

const makeTerms = (scope: KeyScope) => {
  const every = termDigest(scope, 'token')
  return {
    every: () => every,
    type: sharedTerm(scope, 'token-type'),
    /** In exactly that container. */
    container: sharedTerm(scope, 'token-container'),
    /** In some container below that one. */
    belowContainer: sharedTerm(scope, 'token-below-container'),
    /** Ids that somebody chose; the empty prefix is of all of them. */
    idPrefix: (prefix: string) => termDigest(scope, 'token-id-prefix', prefix),
    metadata: (name: string, value: string) =>
      termDigest(scope, 'token-metadata', foldMetadata(name), foldMetadata(value)),
    /** Of a token whose mask shows something of its data. */
    searchShown: searchTerm(scope, 'token-search-shown'),
    /** Of a token that shows nothing under the mask transform. */
    searchBlank: searchTerm(scope, 'token-search-blank'),
    fingerprint: (text: string) => termDigest(scope, 'token-fingerprint', text),
    /** Of a token that shows its fingerprint only where it shows its data. */
    hiddenFingerprint: (text: string) => termDigest(scope, 'token-fingerprint-hidden', text),
    createdBy: sharedTerm(scope, 'token-created-by'),
    createdDay: sharedTerm(scope, 'token-created-day'),
    createdSpan: sharedTerm(scope, 'token-created-span'),
    modifiedBy: sharedTerm(scope, 'token-modified-by'),
    modifiedDay: sharedTerm(scope, 'token-modified-day'),
    modifiedSpan: sharedTerm(scope, 'token-modified-span'),
  }
}

type TokenTerms = ReturnType<typeof makeTerms>

const termsFor = keptFor(makeTerms)

/** The digests that tokens are found by; the same function writes and reads them. */
export const tokenTerms = (keys: Keys, tenantId: string): TokenTerms =>
  termsFor(keys.tenant(tenantId))

/** Its own container, and each one above: a rule on any level is two look-ups. `/` is `every`. */
function placeTerms(terms: TokenTerms, { containers }: TokenRecord): Uint8Array[] {
  const above = new Set(containers.flatMap(inner => containerAncestors(inner).slice(1, -1)))
  return [
    ...containers.map(container => terms.container(container)),
    ...Array.from(above, container => terms.belowContainer(container)),
  ]
}

function changeTerms(terms: TokenTerms, record: TokenRecord): Uint8Array[] {
  const { createdBy, createdAtMs, modifiedBy, modifiedAtMs } = record
  const createdOn = dayOf(createdAtMs)
  const found = [
    terms.createdBy(createdBy),
    terms.createdDay(createdOn),
    terms.createdSpan(spanOf(createdOn)),
  ]
  if (modifiedBy !== undefined) found.push(terms.modifiedBy(modifiedBy))
  if (modifiedAtMs !== undefined) {
    const modifiedOn = dayOf(modifiedAtMs)
    found.push(terms.modifiedDay(modifiedOn), terms.modifiedSpan(spanOf(modifiedOn)))
  }
  return found
}

/** Pairs that are told apart by their case alone are one term. */
function metadataTerms(terms: TokenTerms, metadata: TokenContents['metadata']): Uint8Array[] {
  const pairs = new Map<string, readonly [name: string, value: string]>()
  for (const [name, value] of metadata) {
    pairs.set(`${foldMetadata(name)}\0${foldMetadata(value)}`, [name, value])
  }
  return Array.from(pairs.values(), ([name, value]) => terms.metadata(name, value))
}

function searchTerms(
  terms: TokenTerms,
  { searchValues, isShownMasked }: Pick<TokenContents, 'searchValues' | 'isShownMasked'>,
): Uint8Array[] {
  const values = new Set(searchValues.map(value => value.toLowerCase()))
  return Array.from(values, isShownMasked ? terms.searchShown : terms.searchBlank)
}

/** All that a token is found by, beside its uniques. */
export function termsOf(
  keys: Keys,
  tenantId: string,
  record: TokenRecord,
  contents: Omit<TokenContents, 'dataText'>,
): Uint8Array[] {
  const terms = tokenTerms(keys, tenantId)
  return [
    terms.every(),
    terms.type(record.type),
    ...placeTerms(terms, record),
    ...(record.idIsRandom === true ? [] : idPrefixes(record.id).map(terms.idPrefix)),
    ...(contents.metadata.size === 0 ? [] : metadataTerms(terms, contents.metadata)),
    ...(contents.searchValues.length === 0 ? [] : searchTerms(terms, contents)),
    record.hidesFingerprint !== undefined
      ? terms.hiddenFingerprint(record.fingerprint)
      : terms.fingerprint(record.fingerprint),
    ...changeTerms(terms, record),
  ]
}

/**
 * @param version 1 for a new token, the row's version + 1 for a changed one
 * @param moreUniques beside the one of the id
 */
export function sealToken(
  deps: Pick<Deps, 'keys' | 'randomBytes'>,
  tenantId: string,
  record: TokenRecord,
  contents: TokenContents,
  version: number,
  moreUniques: readonly Uint8Array[] = [],
): NewRow {
  const { keys, randomBytes } = deps
  const header = {
    uniques: [tokenUnique(keys, tenantId, record.id), ...moreUniques],
    terms: termsOf(keys, tenantId, record, contents),
    ...(record.expiresAt === undefined ? {} : { deadlineMs: record.expiresAt.epochMs }),
  }
  const values = [encodeRecord(record), utf8(contents.dataText)]
  return sealRow(sealerOf(keys, tenantId), randomBytes, header, version, values)
}

/** Whether its record takes long to open, or was not read: its metadata is long, or its mask. */
export function hasLongRecord({ parts }: Pick<Row, 'parts'>): boolean {
  const sealed = parts[recordValue + 1]
  return sealed === undefined || sealed.length > shortRecordBytes
}

/**
 * The header of the row may be believed then, its terms with it.
 * @returns what opens the record
 * @throws ApiError `storage_corrupt` when the row is not what was sealed; so does what is returned
 */
export function checkToken(keys: Keys, tenantId: string, row: Row): () => StoredToken {
  const opened = unsealRow(sealerOf(keys, tenantId), row)
  return () => {
    const record = opened.read(recordValue, decodeRecord)
    return { row, record, unsealData: () => opened.text(dataValue) }
  }
}

/** @throws ApiError `storage_corrupt` when the row is not what was sealed */
export const unsealToken = (keys: Keys, tenantId: string, row: Row): StoredToken =>
  checkToken(keys, tenantId, row)()
