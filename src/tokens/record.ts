/**
 * Token records: their stored form, and how they are sealed, found and opened.
 * @module
 */
import { printJson } from '../json/json.ts'
import { tokenTypeOf, type TokenType } from '../rules/token-types.ts'
import { ApiError } from '../errors.ts'
import { utf8 } from '../bytes.ts'
import { termDigest, type DigestLabel, type Keys, type KeyScope } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import { containerAncestors } from '../rules/access.ts'
import { dayOf, spanOf } from '../rules/instants.ts'
import { idPrefixes } from '../rules/token-ids.ts'
import { foldMetadata } from '../rules/clear-text.ts'
import { makeTextCache, keptFor } from '../maps.ts'
import { sharedTermCharsMax, sharedTermsMax } from '../limits.ts'
import { unsealRow, sealRow, type RowSealer } from '../records/rows.ts'
import type { Digest, NewRow, Row } from '../store/contract.ts'
import { tokenUnique } from './id.ts'

/*
 * The stored form of a token record: short names, and nothing that its type says already.
 *
 * What equals the default of the type is left out, so the defaults of a type are a part of this
 * form: one that changes needs a new form, or tokens of old would change with it. The record of a
 * plain card is `{"i":…,"t":"card","f":…,"b":…,"a":…}`.
 */

/** What is known of a token beside its data. Texts of JSON are kept as they were printed. */
export interface TokenRecord {
  readonly id: string
  /** Nobody chose it: a random UUID, whose beginning means nothing. */
  readonly idIsRandom?: true
  readonly type: string
  readonly containers: readonly string[]
  readonly fingerprint: string
  readonly fingerprintExpression: string
  readonly searchIndexes: readonly string[]
  readonly maskText?: string
  /** What its mask shows of the data; `null` is nothing. Absent: to be evaluated at each read. */
  readonly maskedText?: string | null
  readonly metadataText?: string
  readonly createdBy: string
  readonly createdAtMs: number
  readonly modifiedBy?: string
  readonly modifiedAtMs?: number
  /** `text` keeps the caller's offset. */
  readonly expiresAt?: { readonly text: string; readonly epochMs: number }
  /** Deduplication was asked for; see `dedup.ts`. */
  readonly deduplicates?: true
  /** Shown to whoever sees the data, and to nobody else; see `guesses.ts`. */
  readonly hidesFingerprint?: true
}

/** Members in the order in which they are printed. An absent one is the default, or nothing. */
interface Stored {
  readonly i: string
  readonly r?: true | undefined
  readonly t: string
  readonly c?: readonly string[] | undefined
  readonly f: string
  readonly e?: string | undefined
  readonly s?: readonly string[] | undefined
  /** `null` is no mask, where the type has one. */
  readonly m?: string | null | undefined
  /** Gets another name when a filter comes to show something else: this one counts no more then. */
  readonly k?: string | null | undefined
  readonly d?: string | undefined
  readonly b: string
  readonly a: number
  readonly B?: string | undefined
  readonly A?: number | undefined
  readonly x?: TokenRecord['expiresAt'] | undefined
  readonly u?: true | undefined
  readonly h?: true | undefined
}

interface Defaults {
  readonly containers: readonly string[]
  readonly fingerprintExpression: string
  readonly searchIndexes: readonly string[]
  readonly maskText: string | undefined
}

const defaultsByType = new Map<string, Defaults>()

const defaultsOfType = (type: TokenType): Defaults => ({
  containers: [type.defaultContainer],
  fingerprintExpression: type.defaultFingerprintExpression,
  searchIndexes: type.defaultSearchIndexes,
  maskText: type.defaultMask === undefined ? undefined : printJson(type.defaultMask),
})

/** @throws ApiError `storage_corrupt` for a type that no token can have */
function defaultsOf(name: string): Defaults {
  let defaults = defaultsByType.get(name)
  if (defaults === undefined) {
    const type = tokenTypeOf(name)
    if (type === undefined) throw new ApiError('storage_corrupt', 'a token has an unknown type')
    defaults = defaultsOfType(type)
    defaultsByType.set(name, defaults)
  }
  return defaults
}

/** The mask that a type gives its tokens, as printed; `undefined` where it gives none. */
export const defaultMaskTextOf = ({ name }: TokenType): string | undefined =>
  defaultsOf(name).maskText

/** Whether it has the mask, or none, that its type gives. */
export const hasDefaultMask = ({
  type,
  maskText,
}: Pick<TokenRecord, 'type' | 'maskText'>): boolean => maskText === defaultsOf(type).maskText

const equalTexts = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((text, index) => text === others[index])

const unless = <T>(isDefault: boolean, value: T): T | undefined => (isDefault ? undefined : value)

/** The JSON text that is sealed. */
export function printStored(record: TokenRecord): string {
  const defaults = defaultsOf(record.type)
  const { containers, fingerprintExpression, searchIndexes, maskText } = record
  const stored: Stored = {
    i: record.id,
    r: record.idIsRandom,
    t: record.type,
    c: unless(equalTexts(containers, defaults.containers), containers),
    f: record.fingerprint,
    e: unless(fingerprintExpression === defaults.fingerprintExpression, fingerprintExpression),
    s: unless(equalTexts(searchIndexes, defaults.searchIndexes), searchIndexes),
    m: unless(maskText === defaults.maskText, maskText ?? null),
    k: record.maskedText,
    d: record.metadataText,
    b: record.createdBy,
    a: record.createdAtMs,
    B: record.modifiedBy,
    A: record.modifiedAtMs,
    x: record.expiresAt,
    u: record.deduplicates,
    h: record.hidesFingerprint,
  }
  return JSON.stringify(stored)
}

/** @throws ApiError `storage_corrupt` */
export function parseStored(text: string): TokenRecord {
  const stored = JSON.parse(text) as Stored
  const defaults = defaultsOf(stored.t)
  const maskText = stored.m === undefined ? defaults.maskText : (stored.m ?? undefined)
  // Assigned one by one: spreads of optional members cost more than parsing the text.
  const record: { -readonly [K in keyof TokenRecord]: TokenRecord[K] } = {
    id: stored.i,
    type: stored.t,
    containers: stored.c ?? defaults.containers,
    fingerprint: stored.f,
    fingerprintExpression: stored.e ?? defaults.fingerprintExpression,
    searchIndexes: stored.s ?? defaults.searchIndexes,
    createdBy: stored.b,
    createdAtMs: stored.a,
  }
  if (stored.r !== undefined) record.idIsRandom = stored.r
  if (maskText !== undefined) record.maskText = maskText
  if (stored.k !== undefined) record.maskedText = stored.k
  if (stored.d !== undefined) record.metadataText = stored.d
  if (stored.B !== undefined) record.modifiedBy = stored.B
  if (stored.A !== undefined) record.modifiedAtMs = stored.A
  if (stored.x !== undefined) record.expiresAt = stored.x
  if (stored.u !== undefined) record.deduplicates = stored.u
  if (stored.h !== undefined) record.hidesFingerprint = stored.h
  return record
}

/*
 * The token record: what is sealed, by what it is found, and how it is read again.
 *
 * Value 0 of a row is the record, value 1 the data: deciding over a token, or showing it masked,
 * does not open its data. Texts of JSON (`maskText`, `metadataText`, the data) are kept as printed,
 * so that they leave exactly as they came in.
 */

/** What a token is found by beside its record; needed when it is sealed, never read back. */
export interface TokenContents {
  readonly dataText: string
  readonly metadata: ReadonlyMap<string, string>
  readonly searchValues: readonly string[]
  /** Whether its mask shows anything of the data; of no matter without search values. */
  readonly isShownMasked: boolean
}

export interface StoredToken {
  readonly row: Row
  readonly record: TokenRecord
  /** Opens the data, and gives its JSON text as it was sealed. @throws ApiError as `unsealToken` */
  readonly unsealData: () => string
}

const recordValue = 0
const dataValue = 1

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
    /** Of either: older versions wrote it, and looked at no mask. */
    searchEither: searchTerm(scope, 'token-search'),
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

function contentTerms(terms: TokenTerms, contents: Omit<TokenContents, 'dataText'>): Uint8Array[] {
  const searchValues = new Set(contents.searchValues.map(value => value.toLowerCase()))
  const pairs = new Map(
    [...contents.metadata].map(([name, value]) => {
      const folded = `${foldMetadata(name)}\0${foldMetadata(value)}`
      return [folded, [name, value]] as const
    }),
  )
  return [
    ...[...pairs.values()].map(([name, value]) => terms.metadata(name, value)),
    ...[...searchValues].map(contents.isShownMasked ? terms.searchShown : terms.searchBlank),
  ]
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
    ...contentTerms(terms, contents),
    record.hidesFingerprint === true
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
  const values = [utf8(printStored(record)), utf8(contents.dataText)]
  return sealRow(sealerOf(keys, tenantId), randomBytes, header, version, values)
}

/** @throws ApiError `storage_corrupt` when the row is not what was sealed */
export function unsealToken(keys: Keys, tenantId: string, row: Row): StoredToken {
  const opened = unsealRow(sealerOf(keys, tenantId), row)
  const record = parseStored(opened.text(recordValue))
  return { row, record, unsealData: () => opened.text(dataValue) }
}
