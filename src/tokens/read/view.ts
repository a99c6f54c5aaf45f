/**
 * How a token looks to the caller: the one place where data leaves the vault.
 *
 * Source: spec, "Token object" and "Transforms"; contract section 1 (no null members).
 * @module
 */
import { type Grants, type Transform, seesAllData } from '../../rules/access.ts'
import { printInstantUtc } from '../../rules/instants.ts'
import { startRun } from '../../language/expression/run.ts'
import type { StepMeter } from '../../lib/waiting.ts'
import { parseJson, parseStoredJson } from '../../lib/json/parse-json.ts'
import { printJson, type Json } from '../../lib/json/json.ts'
import { applyMask } from '../../rules/mask.ts'
import { ownText, makeTextCache } from '../../lib/maps.ts'
import { cachedMaskCharsMax, maskCacheEntriesMax } from '../../limits/work-limits.ts'
import type { StoredToken, TokenRecord } from '../token-record.ts'

const masks = makeTextCache<Json>(maskCacheEntriesMax)

/** Few masks are used again and again; like the expressions in them, they are read once. */
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
 * What a mask shows of some data. One that yields null shows nothing: no null member is in a
 * response (contract section 1).
 * @returns its JSON text; `null` for nothing
 * @throws ApiError `invalid_request` only where the meter has no steps left
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

/** Of a record. */
interface Masking {
  readonly maskText?: string | undefined
  readonly maskedText?: string | null | undefined
}

/**
 * The text of `data` under a transform; `undefined` is redacted. Revealing never parses, and
 * masking opens no data where it is kept what the mask shows.
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

const quote = (text: string): string => JSON.stringify(text)

/** What an answer adds or leaves out beside the transform of `data`. */
export interface Extras {
  /** Present where deduplication was asked for. */
  readonly deduplicated?: boolean
  /** Leaves out all that tells of the content (contract section 9). */
  readonly hidesContents?: boolean
  /** Also a fingerprint that is hidden from a caller who does not see all data. */
  readonly showsHiddenFingerprint?: boolean
}

function extrasOf({ code }: TokenRecord, { deduplicated, hidesContents }: Extras): string {
  const endsAtMs = hidesContents === true ? undefined : code?.endsAtMs
  if (deduplicated === undefined && endsAtMs === undefined) return ''
  const members = [
    ...(deduplicated === undefined ? [] : [`"deduplicated":${deduplicated}`]),
    ...(endsAtMs === undefined ? [] : [`"cvc_expires_at":"${printInstantUtc(endsAtMs)}"`]),
  ]
  return `,"_extras":{${members.join(',')}}`
}

/** From a caller who does not see all data. */
export const isFingerprintHidden = (
  { hidesFingerprint: until }: Pick<TokenRecord, 'hidesFingerprint'>,
  nowMs: number,
): boolean => until !== undefined && until > nowMs

/**
 * A caller who may create tokens could compare it with those of guesses: so redact never shows it,
 * and what was made beyond the budget of guesses shows it to few for a while (contract section 8;
 * `guesses.ts`).
 */
const showsFingerprint = (
  { hidesFingerprint }: TokenRecord,
  transform: Transform,
  { showsHiddenFingerprint }: Extras = {},
): boolean =>
  transform !== 'redact' && (hidesFingerprint === undefined || showsHiddenFingerprint === true)

function printToken(
  record: TokenRecord,
  tenantId: string,
  transform: Transform,
  data: string | undefined,
  frame: Extras,
): string {
  const hides = frame.hidesContents === true
  let text = `{"id":${quote(record.id)},"tenant_id":"${tenantId}","type":"${record.type}"`
  if (data !== undefined && !hides) text += `,"data":${data}`
  if (record.maskText !== undefined && !hides) text += `,"mask":${record.maskText}`
  if (showsFingerprint(record, transform, frame)) text += `,"fingerprint":"${record.fingerprint}"`
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
  return `${text}${extrasOf(record, frame)}}`
}

/**
 * Of a token as it stands, for a caller who reads or finds it. decision: who sees some data sees no
 * hidden fingerprint of it, since it could keep its guesses there.
 */
export const standingFrame = (grants: Grants, record: TokenRecord, now: () => number): Extras => ({
  showsHiddenFingerprint:
    record.hidesFingerprint !== undefined &&
    (!isFingerprintHidden(record, now()) || seesAllData(grants)),
})

/** The data of a token that was just made or changed: as a value, as its text, and masked. */
export interface WrittenData {
  readonly data: Json
  readonly dataText: string
  /** As in the record, however long it is. */
  readonly maskedText: string | null | undefined
}

/** JSON text of such a token. */
export const viewWritten = (
  record: TokenRecord,
  tenantId: string,
  transform: Transform,
  { data, dataText, maskedText }: WrittenData,
  frame: Extras,
  meter: StepMeter,
): string => {
  const shown = shownData(
    transform,
    { maskText: record.maskText, maskedText },
    () => dataText,
    meter,
    () => data,
  )
  return printToken(record, tenantId, transform, shown, frame)
}

/** JSON text of a stored token. Its data is opened only when the transform shows some of it. */
export const viewStored = (
  tenantId: string,
  { record, unsealData }: StoredToken,
  transform: Transform,
  frame: Extras = {},
  meter?: StepMeter,
): string => {
  const shown = shownData(transform, record, unsealData, meter)
  return printToken(record, tenantId, transform, shown, frame)
}

/**
 * All that a caller learns of an equal token which it may not read (contract section 8).
 * @param transform of the caller's own permission
 */
export const viewUnreadable = (
  record: TokenRecord,
  transform: Transform,
  frame: Extras,
): string => {
  const { id, type, fingerprint } = record
  const shown = showsFingerprint(record, transform, frame)
    ? { id, type, fingerprint }
    : { id, type }
  return JSON.stringify({ ...shown, _extras: { deduplicated: true } })
}
