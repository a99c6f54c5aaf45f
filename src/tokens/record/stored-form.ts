/**
 * The stored form of a token record: short names, and nothing that its type says already.
 *
 * What equals the default of the type is left out, so the defaults of a type are a part of this
 * form: one that changes needs a new form, or tokens of old would change with it. The record of a
 * plain card is `{"i":…,"t":"card","f":…,"b":…,"a":…}`.
 * @module
 */
import { printJson } from '../../json/print.ts'
import { tokenTypeOf, type TokenType } from '../../rules/token-types.ts'
import { ApiError } from '../../errors.ts'

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
  if (stored.d !== undefined) record.metadataText = stored.d
  if (stored.B !== undefined) record.modifiedBy = stored.B
  if (stored.A !== undefined) record.modifiedAtMs = stored.A
  if (stored.x !== undefined) record.expiresAt = stored.x
  if (stored.u !== undefined) record.deduplicates = stored.u
  if (stored.h !== undefined) record.hidesFingerprint = stored.h
  return record
}
