/**
 * Renders a token for the caller: the one place where data leaves the vault.
 *
 * Source: spec, "Token object" and "Transforms"; contract section 1 (no null members).
 * @module
 */
import { type Grants, type Transform, seesAllData } from '../../rules/access.ts'
import { printInstantUtc } from '../../rules/instants.ts'
import { startRun } from '../../language/expression/run.ts'
import type { StepMeter } from '../../lib/work.ts'
import { parseJson, parseStoredJson } from '../../lib/json/parse-json.ts'
import { printJson, type Json } from '../../lib/json/json.ts'
import { applyMask } from '../../rules/mask.ts'
import { ownText, makeTextCache } from '../../lib/maps.ts'
import { cachedMaskCharsMax, maskCacheEntriesMax } from '../../limits/work-limits.ts'
import type { StoredToken, TokenRecord } from '../token-record.ts'

const masks = makeTextCache<Json>(maskCacheEntriesMax)

/** Parses a mask once: few masks are used again and again, like the expressions in them. */
function maskOf(text: string): Json {
  let mask = masks.get(text)
  if (mask === undefined) {
    if (text.length > cachedMaskCharsMax) return parseJson(text)
    mask = parseJson(ownText(text))
    masks.set(text, mask)
  }
  return mask
}

/**
 * Evaluates a mask on some data. A mask that yields null shows nothing: no null member is in a
 * response (contract section 1).
 * @returns its JSON text; `null` for nothing
 * @throws ApiError `invalid_request` only if the meter has no steps left
 */
export function maskData(
  maskText: string,
  data: Json,
  meter: StepMeter | undefined,
): string | null {
  const run = startRun({ at: 'mask', data, meter })
  const masked = applyMask(maskOf(maskText), data, run)?.masked ?? null
  return masked === null ? null : printJson(masked)
}

/** Mask of a record, with its result if that is kept. */
interface Masking {
  readonly maskText?: string | undefined
  readonly maskedText?: string | null | undefined
}

/**
 * Returns the text of `data` under a transform; `undefined` means redacted. Revealing never parses,
 * and masking opens no data if the result of the mask is kept.
 * @throws ApiError as `maskData`
 */
export function shownData(
  transform: Transform,
  { maskText, maskedText }: Masking,
  dataText: () => string,
  meter: StepMeter | undefined,
  dataOf = (): Json => parseStoredJson(dataText()),
): string | undefined {
  if (transform === 'redact') return undefined
  if (transform === 'reveal') return dataText()
  if (maskText === undefined) return undefined
  return (maskedText === undefined ? maskData(maskText, dataOf(), meter) : maskedText) ?? undefined
}

/** True if a read under a mask parses all data and evaluates it, which may take 15 ms. */
export const isMaskEvaluated = ({ maskText, maskedText }: Masking): boolean =>
  maskText !== undefined && maskedText === undefined

const quote = (text: string): string => JSON.stringify(text)

/** Parts of an answer that are added or left out apart from the transform of `data`. */
export interface Extras {
  /** Present if deduplication was requested. */
  readonly deduplicated?: boolean
  /** Leaves out all that tells of the content (contract section 9). */
  readonly hidesContents?: boolean
  /** JSON text that says which rule of the caller decides. */
  readonly access?: string
  /** Also a fingerprint that is hidden from a caller who does not see all data. */
  readonly showsHiddenFingerprint?: boolean
}

function printExtras(
  { code }: TokenRecord,
  { deduplicated, hidesContents, access }: Extras,
): string {
  const endsAtMs = hidesContents === true ? undefined : code?.endsAtMs
  if (deduplicated === undefined && endsAtMs === undefined && access === undefined) return ''
  const members = [
    ...(deduplicated === undefined ? [] : [`"deduplicated":${deduplicated}`]),
    ...(endsAtMs === undefined ? [] : [`"cvc_expires_at":"${printInstantUtc(endsAtMs)}"`]),
    ...(access === undefined ? [] : [`"access":${access}`]),
  ]
  return `,"_extras":{${members.join(',')}}`
}

/** Returns true while callers who do not see all data may not see the fingerprint. */
export const isFingerprintHidden = (
  { fingerprintHiddenUntilMs: until }: Pick<TokenRecord, 'fingerprintHiddenUntilMs'>,
  nowMs: number,
): boolean => until !== undefined && until > nowMs

/**
 * A caller who may create tokens could compare a fingerprint with those of guesses. So redact never
 * shows it, and a token made beyond the guess budget hides it for a while from callers who do not
 * see all data (contract section 8; `guesses.ts`).
 */
const showsFingerprint = (
  { fingerprintHiddenUntilMs }: TokenRecord,
  transform: Transform,
  { showsHiddenFingerprint }: Extras = {},
): boolean =>
  transform !== 'redact' &&
  (fingerprintHiddenUntilMs === undefined || showsHiddenFingerprint === true)

function printToken(
  record: TokenRecord,
  tenantId: string,
  transform: Transform,
  data: string | undefined,
  extras: Extras,
): string {
  const hides = extras.hidesContents === true
  let text = `{"id":${quote(record.id)},"tenant_id":"${tenantId}","type":"${record.type}"`
  if (data !== undefined && !hides) text += `,"data":${data}`
  if (record.maskText !== undefined && !hides) text += `,"mask":${record.maskText}`
  if (showsFingerprint(record, transform, extras)) text += `,"fingerprint":"${record.fingerprint}"`
  text += `,"containers":${JSON.stringify(record.containers)}`
  if (record.metadataText !== undefined && !hides) text += `,"metadata":${record.metadataText}`
  text += `,"created_by":"${record.createdBy}"`
  text += `,"created_at":"${printInstantUtc(record.createdAtMs)}"`
  if (record.modifiedBy !== undefined) text += `,"modified_by":"${record.modifiedBy}"`
  if (record.modifiedAtMs !== undefined) {
    text += `,"modified_at":"${printInstantUtc(record.modifiedAtMs)}"`
  }
  if (!hides) {
    text += `,"search_indexes":${JSON.stringify(record.searchIndexes)}`
    text += `,"fingerprint_expression":${quote(record.fingerprintExpression)}`
  }
  if (record.expiresAt !== undefined) text += `,"expires_at":"${record.expiresAt.text}"`
  return `${text}${printExtras(record, extras)}}`
}

/**
 * Extras of a stored token, for a caller who reads or finds it. decision: a caller who sees only
 * some data sees no hidden fingerprint of it, since it could save up its guesses there.
 */
export const standingExtras = (grants: Grants, record: TokenRecord, now: () => number): Extras => ({
  showsHiddenFingerprint:
    record.fingerprintHiddenUntilMs !== undefined &&
    (!isFingerprintHidden(record, now()) || seesAllData(grants)),
})

/** Data of a token that was just made or changed: as a value, as its text, and masked. */
export interface WrittenData {
  readonly data: Json
  readonly dataText: string
  /** As the record would have it, at any length. */
  readonly maskedText: string | null | undefined
}

/** Returns the JSON text of such a token. */
export const viewWritten = (
  record: TokenRecord,
  tenantId: string,
  transform: Transform,
  { data, dataText, maskedText }: WrittenData,
  extras: Extras,
  meter: StepMeter,
): string => {
  const shown = shownData(
    transform,
    { maskText: record.maskText, maskedText },
    () => dataText,
    meter,
    () => data,
  )
  return printToken(record, tenantId, transform, shown, extras)
}

/** Returns the JSON text of a stored token. Opens its data only if it is shown. */
export const viewStored = (
  tenantId: string,
  { record, unsealData }: StoredToken,
  transform: Transform,
  extras: Extras = {},
  meter?: StepMeter,
): string => {
  const shown = shownData(transform, record, unsealData, meter)
  return printToken(record, tenantId, transform, shown, extras)
}

/**
 * Returns all that a caller learns of an equal token that it may not read (contract section 8).
 * @param transform of the caller's own permission
 */
export const viewUnreadable = (
  record: TokenRecord,
  transform: Transform,
  extras: Extras,
): string => {
  const { id, type, fingerprint } = record
  const shown = showsFingerprint(record, transform, extras)
    ? { id, type, fingerprint }
    : { id, type }
  return JSON.stringify({ ...shown, _extras: { deduplicated: true } })
}
