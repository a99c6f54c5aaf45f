/**
 * Token records: seals, finds and opens them.
 * @module
 */
import { utf8 } from '../lib/bytes.ts'
import { termDigest, type DigestLabel, type Keys, type KeyScope } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import { containerAncestors } from '../rules/container-paths.ts'
import { dayOf, spanOf } from '../rules/instants.ts'
import { idPrefixes } from '../rules/token-ids.ts'
import { foldMetadata } from '../rules/clear-text.ts'
import { makeTextCache, keptFor } from '../lib/maps.ts'
import { sharedTermCharsMax, sharedTermsMax } from '../limits/limits.ts'
import { unsealRow, sealRow, type RowSealer } from '../records/seal-row.ts'
import type { Digest, NewRow, Row } from '../store/contract.ts'
import { tokenUnique } from './token-id.ts'
import { decodeRecord, encodeRecord, type TokenRecord } from './stored-form.ts'

export type { TokenRecord }

/*
 * Layout and terms of a token record.
 *
 * Value 0 of a row is the record, value 1 the data: deciding over a token, or showing it masked,
 * does not open its data. JSON texts (`maskText`, `metadataText`, the data) are kept as printed, so
 * that they leave exactly as they came in.
 */

/** Searchable contents of a token beside its record; used to seal it, never read back. */
export interface TokenContents {
  /** Without a code that ends by itself. */
  readonly dataText: string
  readonly metadata: ReadonlyMap<string, string>
  readonly searchValues: readonly string[]
  /** True if the mask shows any of the data; only matters with search values. */
  readonly isShownMasked: boolean
}

export interface StoredToken {
  readonly row: Row
  readonly record: TokenRecord
  /**
   * Opens the data, with its code while that lives, and returns its JSON text as sealed.
   * @throws ApiError as `unsealToken`
   */
  readonly unsealData: () => string
}

const recordValue = 0
const dataValue = 1
/** The head and the record: enough for a verdict over a token. */
export const verdictParts = 2
/** decision: opening this much takes no longer than the noise of an answer's time. */
const shortRecordBytes = 1_024

const sealerOf = (keys: Keys, tenantId: string): RowSealer => ({
  scope: keys.tenant(tenantId),
  collection: 'token',
})

/** Caches digests of names that many tokens share. Digests of contents are never cached. */
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
    /** Prefixes of chosen ids; every chosen id has the empty prefix. */
    idPrefix: (prefix: string) => termDigest(scope, 'token-id-prefix', prefix),
    metadata: (name: string, value: string) =>
      termDigest(scope, 'token-metadata', foldMetadata(name), foldMetadata(value)),
    /** For tokens whose mask shows some of their data. */
    searchShown: searchTerm(scope, 'token-search-shown'),
    /** For tokens whose mask shows nothing. */
    searchBlank: searchTerm(scope, 'token-search-blank'),
    fingerprint: (text: string) => termDigest(scope, 'token-fingerprint', text),
    /** For tokens that show their fingerprint only to callers who see all data. */
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

/** Returns the terms of a tenant; writes and searches use the same functions. */
export const tokenTerms = (keys: Keys, tenantId: string): TokenTerms =>
  termsFor(keys.tenant(tenantId))

/** Terms of its containers and all above: a rule on any level is two look-ups. `/` is `every`. */
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

/** Pairs that differ only in case are one term. */
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

/** Returns all terms by which a token is found, beside its uniques. */
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
    record.fingerprintHiddenUntilMs !== undefined
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

/** Returns true if the record was not read or takes long to open (long metadata or mask). */
export function hasLongRecord({ parts }: Pick<Row, 'parts'>): boolean {
  const sealed = parts[recordValue + 1]
  return sealed === undefined || sealed.length > shortRecordBytes
}

/**
 * Checks the header of the row, whose terms can be trusted from then on.
 * @returns opens the record
 * @throws ApiError `storage_corrupt` when the row was changed; so does the returned function
 */
export function checkToken(keys: Keys, tenantId: string, row: Row): () => StoredToken {
  const opened = unsealRow(sealerOf(keys, tenantId), row)
  return () => {
    const record = opened.read(recordValue, decodeRecord)
    return { row, record, unsealData: () => opened.text(dataValue) }
  }
}

/** @throws ApiError `storage_corrupt` when the row was changed */
export const unsealToken = (keys: Keys, tenantId: string, row: Row): StoredToken =>
  checkToken(keys, tenantId, row)()
