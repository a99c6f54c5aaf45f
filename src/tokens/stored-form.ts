/**
 * Stored form of a token record: leaves out what the type implies, and the names of fields that
 * every record has.
 *
 * A value that equals the default of the type is left out, so the defaults are part of this form: a
 * default that changes needs a new form, or existing tokens would change with it.
 * @module
 */
import {
  bufferOf,
  uuidBytesOf,
  readU32,
  readU48,
  u48Bytes,
  uuidText,
  writeU32,
  writeU48,
} from '../lib/bytes.ts'
import { ApiError, assertStored, invariant } from '../lib/errors.ts'
import { printJson } from '../lib/json/json.ts'
import { isUuid } from '../rules/token-ids.ts'
import { tokenTypeOf, type TokenTypeDefinition } from '../rules/token-types.ts'

/** Properties of a token beside its data. JSON texts are kept as they were printed. */
export interface TokenRecord {
  readonly id: string
  /** The id is a random UUID that no caller chose, so no one searches by its prefix. */
  readonly idIsRandom?: true
  readonly type: string
  readonly containers: readonly string[]
  readonly fingerprint: string
  readonly fingerprintExpression: string
  readonly searchIndexes: readonly string[]
  readonly maskText?: string
  /** Result of the mask on the data; `null` is nothing. Absent: evaluated at each read. */
  readonly maskedText?: string | null
  readonly metadataText?: string
  readonly createdBy: string
  readonly createdAtMs: number
  readonly modifiedBy?: string
  readonly modifiedAtMs?: number
  /** `text` keeps the caller's offset. */
  readonly expiresAt?: { readonly text: string; readonly epochMs: number }
  /**
   * The code's position in the text of the data, in characters, when it ends, and its ciphertext
   * under the key for codes that end then.
   */
  readonly code?: {
    readonly at: number
    readonly endsAtMs: number
    readonly sealed: Uint8Array
  }
  /** Deduplication was requested; see `dedup.ts`. */
  readonly deduplicates?: true
  /**
   * Unix milliseconds until which only callers who see all data are shown the fingerprint. See
   * `guesses.ts`.
   */
  readonly fingerprintHiddenUntilMs?: number
}

interface Defaults {
  readonly containers: readonly string[]
  readonly fingerprintExpression: string
  readonly searchIndexes: readonly string[]
  readonly maskText: string | undefined
}

const defaultsByType = new Map<string, Defaults>()

const defaultsOfType = (type: TokenTypeDefinition): Defaults => ({
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

/** Returns the mask that a type gives its tokens, as printed; `undefined` if it gives none. */
export const defaultMaskTextOf = ({ name }: TokenTypeDefinition): string | undefined =>
  defaultsOf(name).maskText

/** Returns true if the mask, or its absence, is the default of the type. */
export const hasDefaultMask = ({
  type,
  maskText,
}: Pick<TokenRecord, 'type' | 'maskText'>): boolean => maskText === defaultsOf(type).maskText

const equalTexts = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((text, index) => text === others[index])

const unless = <T>(isDefault: boolean, value: T): T | undefined => (isDefault ? undefined : value)

/** Fields that few records have, as JSON; an absent one is the default, or nothing. */
interface Rest {
  readonly c?: readonly string[] | undefined
  readonly e?: string | undefined
  readonly s?: readonly string[] | undefined
  /** `null`: no mask, although the type has one. */
  readonly m?: string | null | undefined
  readonly d?: string | undefined
  readonly B?: string | undefined
  readonly A?: number | undefined
  readonly x?: TokenRecord['expiresAt'] | undefined
  readonly u?: true | undefined
  readonly h?: number | undefined
}

function restOf(record: TokenRecord): Rest {
  const defaults = defaultsOf(record.type)
  const { containers, fingerprintExpression, searchIndexes, maskText } = record
  return {
    c: unless(equalTexts(containers, defaults.containers), containers),
    e: unless(fingerprintExpression === defaults.fingerprintExpression, fingerprintExpression),
    s: unless(equalTexts(searchIndexes, defaults.searchIndexes), searchIndexes),
    m: unless(maskText === defaults.maskText, maskText ?? null),
    d: record.metadataText,
    B: record.modifiedBy,
    A: record.modifiedAtMs,
    x: record.expiresAt,
    u: record.deduplicates,
    h: record.fingerprintHiddenUntilMs,
  }
}

/** Fields that every record has, and the result of its mask. */
interface Head extends Pick<TokenRecord, 'id' | 'type' | 'fingerprint'> {
  readonly createdBy: string
  readonly createdAtMs: number
  readonly idIsRandom: true | undefined
  readonly maskedText: string | null | undefined
  readonly code?: TokenRecord['code'] | undefined
}

// Assigned one by one: spreads of optional members cost more than reading the bytes.
function recordOf(head: Head, rest: Rest): TokenRecord {
  const defaults = defaultsOf(head.type)
  const maskText = rest.m === undefined ? defaults.maskText : (rest.m ?? undefined)
  const record: { -readonly [K in keyof TokenRecord]: TokenRecord[K] } = {
    id: head.id,
    type: head.type,
    containers: rest.c ?? defaults.containers,
    fingerprint: head.fingerprint,
    fingerprintExpression: rest.e ?? defaults.fingerprintExpression,
    searchIndexes: rest.s ?? defaults.searchIndexes,
    createdBy: head.createdBy,
    createdAtMs: head.createdAtMs,
  }
  if (head.idIsRandom !== undefined) record.idIsRandom = head.idIsRandom
  if (maskText !== undefined) record.maskText = maskText
  if (head.maskedText !== undefined) record.maskedText = head.maskedText
  if (rest.d !== undefined) record.metadataText = rest.d
  if (rest.B !== undefined) record.modifiedBy = rest.B
  if (rest.A !== undefined) record.modifiedAtMs = rest.A
  if (rest.x !== undefined) record.expiresAt = rest.x
  if (head.code !== undefined) record.code = head.code
  if (rest.u !== undefined) record.deduplicates = rest.u
  if (rest.h !== undefined) record.fingerprintHiddenUntilMs = rest.h
  return record
}

/*
 * Byte layout, big endian: form u8 (2) · marks u8 · creation u48 · id and creator, 16 bytes each if
 * both are UUIDs, otherwise as texts · type, fingerprint and the result of the mask as texts · for
 * a code that ends, its place u32, its end u48, its ciphertext with a length u16 before it · the
 * rest as JSON, if there is any. A text is its length in bytes, u16, and its UTF-8; a chosen id has
 * up to 400 characters. A plain card takes 6 + 2 + 32 + 6 + 46 + 2 + some 75 bytes, and some 64 for
 * its code.
 */

const form = 2
const marksAt = 1
const createdAt = 2
const idsAt = createdAt + u48Bytes
const uuidBytes = 16
const lengthBytes = 2

/**
 * If a filter's output ever changes, the marks of mask results change too: results kept under the
 * old `isMasked` and `showsNothing` are then ignored. A code has two bits, which are set as one.
 */
const mark = {
  idIsRandom: 1,
  idsAreUuids: 2,
  isMasked: 4,
  showsNothing: 8,
  hasRest: 16,
  hasCode: 32 | 64,
} as const

const placeBytes = 4 + u48Bytes

const codeBytes = ({ sealed }: NonNullable<TokenRecord['code']>): number =>
  placeBytes + lengthBytes + sealed.length

const textBytes = (text: string): number => lengthBytes + Buffer.byteLength(text)

/** Writes fields one after another. */
function makeWriter(bytes: Buffer, from: number) {
  let at = from
  return {
    uuid(text: string): void {
      bytes.set(uuidBytesOf(text), at)
      at += uuidBytes
    },
    text(text: string): void {
      const length = bytes.write(text, at + lengthBytes)
      invariant(length < 2 ** (8 * lengthBytes), 'a text of a record is within its bound')
      bytes.writeUInt16BE(length, at)
      at += lengthBytes + length
    },
    code({ at: place, endsAtMs, sealed }: NonNullable<TokenRecord['code']>): void {
      writeU32(bytes, at, place)
      writeU48(bytes, at + placeBytes - u48Bytes, endsAtMs)
      at += placeBytes
      bytes.writeUInt16BE(sealed.length, at)
      bytes.set(sealed, at + lengthBytes)
      at += lengthBytes + sealed.length
    },
    rest(text: string): void {
      at += bytes.write(text, at)
    },
  }
}

/** Returns the plaintext that is sealed. */
export function encodeRecord(record: TokenRecord): Uint8Array {
  const { id, createdBy, type, fingerprint, maskedText, code } = record
  const rest = JSON.stringify(restOf(record))
  const areUuids = isUuid(id) && isUuid(createdBy)
  // Its own buffer: a view of the shared pool would cost more than all that is written.
  const bytes = Buffer.allocUnsafeSlow(
    idsAt +
      (areUuids ? 2 * uuidBytes : textBytes(id) + textBytes(createdBy)) +
      textBytes(type) +
      textBytes(fingerprint) +
      (typeof maskedText === 'string' ? textBytes(maskedText) : 0) +
      (code === undefined ? 0 : codeBytes(code)) +
      (rest === '{}' ? 0 : Buffer.byteLength(rest)),
  )
  bytes[0] = form
  bytes[marksAt] =
    (record.idIsRandom === true ? mark.idIsRandom : 0) |
    (areUuids ? mark.idsAreUuids : 0) |
    (typeof maskedText === 'string' ? mark.isMasked : 0) |
    (maskedText === null ? mark.showsNothing : 0) |
    (code === undefined ? 0 : mark.hasCode) |
    (rest === '{}' ? 0 : mark.hasRest)
  writeU48(bytes, createdAt, record.createdAtMs)
  const writer = makeWriter(bytes, idsAt)
  const writeId = areUuids ? writer.uuid : writer.text
  writeId(id)
  writeId(createdBy)
  writer.text(type)
  writer.text(fingerprint)
  if (typeof maskedText === 'string') writer.text(maskedText)
  if (code !== undefined) writer.code(code)
  if (rest !== '{}') writer.rest(rest)
  return bytes
}

/** Reads fields one after another. */
function makeReader(bytes: Buffer, from: number) {
  let at = from
  return {
    uuid(): string {
      at += uuidBytes
      return uuidText(bytes.toString('hex', at - uuidBytes, at))
    },
    text(): string {
      const end = at + lengthBytes + bytes.readUInt16BE(at)
      const text = bytes.toString('utf8', at + lengthBytes, end)
      at = end
      return text
    },
    code(): NonNullable<TokenRecord['code']> {
      at += placeBytes
      const place = { at: readU32(bytes, at - placeBytes), endsAtMs: readU48(bytes, at - u48Bytes) }
      const sealed = new Uint8Array(bytes.readUInt16BE(at))
      bytes.copy(sealed, 0, at + lengthBytes)
      at += lengthBytes + sealed.length
      return { ...place, sealed }
    },
    rest: (): Rest => JSON.parse(bytes.toString('utf8', at)) as Rest,
  }
}

/**
 * Reads the fields in the order of the layout.
 * @param sealed the unsealed bytes; none of them are kept
 * @throws ApiError `storage_corrupt`
 */
export function decodeRecord(sealed: Uint8Array): TokenRecord {
  assertStored(sealed[0] === form, 'a token of a known form')
  const bytes = bufferOf(sealed)
  const marks = bytes.readUInt8(marksAt)
  const has = (bit: number): boolean => (marks & bit) !== 0
  const { uuid, text, code: readCode, rest } = makeReader(bytes, idsAt)
  const readId = has(mark.idsAreUuids) ? uuid : text
  const id = readId()
  const createdBy = readId()
  const type = text()
  const fingerprint = text()
  const shown = has(mark.isMasked) ? text() : undefined
  const maskedText = has(mark.showsNothing) ? null : shown
  const code = has(mark.hasCode) ? readCode() : undefined
  const idIsRandom = has(mark.idIsRandom) ? (true as const) : undefined
  const createdAtMs = readU48(bytes, createdAt)
  const head = { id, idIsRandom, type, fingerprint, maskedText, createdBy, createdAtMs, code }
  return recordOf(head, has(mark.hasRest) ? rest() : {})
}
