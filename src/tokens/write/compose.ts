/**
 * From what a request asks for to a complete token: validation, defaults, evaluated expressions.
 *
 * Create and update share it, so that an updated token is validated as a new one
 * (contract section 9). Pure but for the key scope of the fingerprint.
 * @module
 */
import { fingerprint, type KeyScope } from '../../crypto/keyring.ts'
import { normaliseContainer } from '../../rules/container-paths.ts'
import { compileTemplate, evaluateTemplate } from '../../language/expression/compile.ts'
import { assertAffordable, type Scope } from '../../language/expression/run.ts'
import type { Instant } from '../../rules/instants.ts'
import { type Json, printCanonicalJson, printJson } from '../../lib/json/json.ts'
import { assertMaskHidesNumber, checkMask } from '../../rules/mask.ts'
import { normaliseMetadata, assertNoCardNumber, metadataPlace } from '../../rules/clear-text.ts'
import { wholeDataExpression, type TokenTypeDefinition } from '../../rules/token-types.ts'
import { ApiError, invalid } from '../../lib/errors.ts'
import type { MaybeLater } from '../../lib/waiting.ts'
import type { PacedWork, StepMeter } from '../../lib/work.ts'
import {
  containersMax,
  maskCharsMax,
  searchIndexesMax,
  searchIndexResultCharsMax,
  tokenDataBytesMax,
} from '../../limits/limits.ts'
import { keptMaskedCharsMax } from '../../limits/work-limits.ts'
import type { Settings } from '../../settings/settings.ts'
import type { TokenContents, TokenRecord } from '../token-record.ts'
import { partCode, withCodeText, type Code } from '../code.ts'
import { defaultMaskTextOf, hasDefaultMask } from '../stored-form.ts'
import { isShownByMask } from '../read/shown-mask.ts'
import { maskData, type WrittenData } from '../read/view.ts'

/** A token as requested, before it is checked. Absent members mean none, or the type's default. */
export interface Draft {
  readonly type: TokenTypeDefinition
  /** When it is made or changed, in Unix milliseconds. */
  readonly nowMs: number
  readonly data: Json
  readonly mask: Json | undefined
  readonly metadata: Json | undefined
  readonly containers: readonly string[]
  readonly searchIndexes: readonly string[]
  readonly fingerprintExpression: string
  readonly expiresAt: Instant | undefined
  readonly deduplicates: boolean
  /** When its code ends, in Unix milliseconds; absent: it is kept as all other data. */
  readonly codeEndsAtMs?: number | undefined
  /** Present where the changer does not see all of the data: a refusal must not tell of it. */
  readonly hidden?: HiddenData | undefined
}

/** Rules for data that stays hidden from its writer; see `mask-rights.ts`. */
export interface HiddenData {
  /** For which its size counts; absent: for those that it has, since its writer sent all. */
  readonly bytes: number | undefined
  /** The number that masks must hide is still the hidden one. */
  readonly keepsNumber: boolean
  /** Its writer sees what the mask shows of it. */
  readonly isMasked: boolean
  /** The patch of its writer; null for none. */
  readonly sent: Json
}

/** Guards that an operator may turn off (contract sections 6 and 7). */
export type Guards = Pick<Settings, 'cardNumberGuard' | 'maskGuard'>

/** The members of a record that follow from a draft. */
export type ComposedRecord = Pick<
  TokenRecord,
  | 'type'
  | 'containers'
  | 'fingerprint'
  | 'fingerprintExpression'
  | 'searchIndexes'
  | 'maskText'
  | 'maskedText'
  | 'metadataText'
  | 'expiresAt'
  | 'deduplicates'
>

export interface Composed {
  readonly record: ComposedRecord
  readonly contents: TokenContents
  readonly written: WrittenData
  /** Text that the fingerprint is of. */
  readonly fingerprinted: string
  /** To be sealed under the key of its end. */
  readonly code?: Code | undefined
}

const asText = (value: Json): string | undefined => {
  if (value === null) return undefined
  return typeof value === 'string' ? value : printCanonicalJson(value)
}

function evaluateSearchIndex(expression: string, scope: Scope): string {
  const { at } = scope
  const template = compileTemplate(expression, at, 'search_index')
  const value = asText(evaluateTemplate(template, scope)) ?? ''
  if (value.length <= searchIndexResultCharsMax) return value
  throw invalid(at, `expected a result of at most ${searchIndexResultCharsMax} characters`)
}

/**
 * Values that a search finds the token by; empty results are left out, equal ones kept once. What
 * cannot be had of hidden data is left out too: a refusal would tell of it.
 */
async function evaluateSearchIndexes(
  { searchIndexes, hidden }: Draft,
  data: Json,
  { meter, pause }: PacedWork,
): Promise<string[]> {
  if (searchIndexes.length > searchIndexesMax) {
    throw invalid('search_indexes', `expected at most ${searchIndexesMax} expressions`)
  }
  const values = new Set<string>()
  for (const [index, expression] of searchIndexes.entries()) {
    try {
      const scope = { at: `search_indexes[${index}]`, data, meter }
      const value = evaluateSearchIndex(expression, scope)
      if (value !== '') values.add(value)
    } catch (thrown) {
      if (hidden === undefined || !(thrown instanceof ApiError)) throw thrown
      assertAffordable(meter)
    }
    const turn = pause()
    if (turn !== undefined) await turn
  }
  return [...values]
}

export const nothingToEqual = () =>
  invalid('fingerprint_expression', 'expected a value of the token to deduplicate by')

/** Hidden data is printed at any length: a refusal beyond some would tell how long it is. */
const isPrintedWhole = ({ hidden, fingerprintExpression }: Draft): boolean =>
  hidden !== undefined && fingerprintExpression === wholeDataExpression

/**
 * Input of the fingerprint. Tokens are equal by it, so a constant would equal them all. It
 * outlives a code that ends, which a thousand guesses would find in it.
 */
function evaluateFingerprint(draft: Draft, scope: Omit<Scope, 'at'>): string {
  const at = 'fingerprint_expression'
  const template = compileTemplate(draft.fingerprintExpression, at, 'fingerprint')
  const evaluate = () => evaluateTemplate(template, { ...scope, at })
  const text = asText(isPrintedWhole(draft) ? scope.data : evaluate()) ?? ''
  if (draft.deduplicates && (text === '' || template.isConstant)) throw nothingToEqual()
  return text
}

/** In normal form. @throws ApiError `invalid_request` */
export function composeContainers(guards: Guards, containers: readonly string[]): string[] {
  if (containers.length !== containersMax) {
    throw invalid('containers', `expected exactly ${containersMax} container`)
  }
  return containers.map((container, index) => {
    const at = `containers[${index}]`
    // The shape first: it bounds the text that is searched for numbers.
    const normal = normaliseContainer(container, at)
    if (guards.cardNumberGuard) assertNoCardNumber(normal, at)
    return normal
  })
}

/** @throws ApiError `invalid_request` */
export function assertDataFits(bytes: number): void {
  if (bytes > tokenDataBytesMax) {
    throw invalid('data', `expected at most ${tokenDataBytesMax} bytes`)
  }
}

/** All data, and what of it lasts. */
function composeData({ type, data: given, nowMs, codeEndsAtMs, expiresAt, hidden }: Draft) {
  const data = type.normalise(given, 'data', nowMs)
  const endsAtMs = Math.min(codeEndsAtMs ?? Infinity, expiresAt?.epochMs ?? Infinity)
  const parted = codeEndsAtMs === undefined ? undefined : partCode(type, data, endsAtMs)
  const dataText =
    parted === undefined
      ? printJson(data)
      : withCodeText(parted.dataText, parted.code, parted.code.text)
  assertDataFits(hidden?.bytes ?? Buffer.byteLength(dataText))
  return {
    data,
    dataText,
    lasting: parted?.data ?? data,
    lastingText: parted?.dataText ?? dataText,
    code: parted?.code,
  }
}

/** @throws ApiError `invalid_request` */
export function printMask(mask: Json): string {
  const text = printJson(mask)
  if (text.length <= maskCharsMax) return text
  throw invalid('mask', `expected at most ${maskCharsMax} characters`)
}

/** No number is compared with members that its writer does not see: it would be a guess. */
const comparable = ({ hidden }: Draft, data: Json): Json =>
  hidden?.isMasked === false ? hidden.sent : data

function composeMask(
  guards: Guards,
  draft: Draft,
  data: Json,
  meter: StepMeter,
): string | undefined {
  const { type, mask } = draft
  if (mask === undefined) return undefined
  const defaultText = defaultMaskTextOf(type)
  // The default needs no check, and on an update it comes back as text.
  if (mask === type.defaultMask) return defaultText
  const text = printMask(mask)
  if (text === defaultText) return text
  checkMask(mask, 'mask')
  const isGuarded = guards.maskGuard && draft.hidden?.keepsNumber !== true
  if (isGuarded) assertMaskHidesNumber(type.name, mask, comparable(draft, data), meter)
  return text
}

/**
 * The masked form. For hidden data it is not evaluated here: its cost would reveal something.
 * @returns `undefined` where that is left to each read
 */
function composeMasked(
  { hidden }: Draft,
  maskText: string | undefined,
  data: Json,
  meter: StepMeter,
): string | null | undefined {
  if (maskText === undefined || hidden?.isMasked === false) return undefined
  return maskData(maskText, data, meter)
}

/**
 * The part of it that the record keeps: nothing long, and nothing that shows a code which ends.
 * @returns `undefined` where that is left to each read
 */
function keptMasked(
  draft: Draft,
  record: Pick<ComposedRecord, 'type' | 'maskText'>,
  masked: string | null | undefined,
  lasting: Json | undefined,
  meter: StepMeter,
): string | null | undefined {
  if ((masked?.length ?? 0) > keptMaskedCharsMax) return undefined
  if (lasting === undefined || hasDefaultMask(record)) return masked
  return composeMasked(draft, record.maskText, lasting, meter) === masked ? masked : undefined
}

const noPairs: ReadonlyMap<string, string> = new Map()

/**
 * Metadata is declared non-sensitive, so a card number in it is refused (contract section 7).
 * @throws ApiError `invalid_request`
 */
export function composeMetadata(
  guards: Guards,
  given: Json | undefined,
): ReadonlyMap<string, string> {
  if (given === undefined || given === null) return noPairs
  const pairs = normaliseMetadata(given, 'metadata')
  if (!guards.cardNumberGuard) return pairs
  for (const [index, [name, value]] of [...pairs].entries()) {
    const at = metadataPlace('metadata', name, index)
    assertNoCardNumber(name, at)
    assertNoCardNumber(value, at)
  }
  return pairs
}

/** @throws ApiError `invalid_request` with the path of what is wrong */
export function composeToken(
  scope: KeyScope,
  guards: Guards,
  draft: Draft,
  work: PacedWork,
): MaybeLater<Composed> {
  const { meter } = work
  const { type, fingerprintExpression, searchIndexes, expiresAt } = draft
  const { data, dataText, lasting, lastingText, code } = composeData(draft)
  const containers = composeContainers(guards, draft.containers)
  const metadata = composeMetadata(guards, draft.metadata)
  const maskText = composeMask(guards, draft, data, meter)
  const content = evaluateFingerprint(draft, { data: lasting, metadata, meter })
  // Assigned one by one, as in `stored-form.ts`.
  const record: { -readonly [K in keyof ComposedRecord]: ComposedRecord[K] } = {
    type: type.name,
    containers,
    fingerprint: fingerprint(scope, type.name, content),
    fingerprintExpression,
    searchIndexes,
  }
  if (maskText !== undefined) record.maskText = maskText
  const maskedText = composeMasked(draft, maskText, data, meter)
  const kept = keptMasked(draft, record, maskedText, code && lasting, meter)
  if (kept !== undefined) record.maskedText = kept
  if (metadata.size > 0) record.metadataText = printJson(metadata)
  if (expiresAt !== undefined) record.expiresAt = expiresAt
  if (draft.deduplicates) record.deduplicates = true
  const compose = (searchValues: readonly string[]): Composed => {
    const isShownMasked =
      searchValues.length > 0 && isShownByMask(type, maskText, () => lasting, meter)
    const contents = { dataText: lastingText, metadata, searchValues, isShownMasked }
    const written = { data, dataText, maskedText }
    return { record, contents, written, fingerprinted: content, code }
  }
  return searchIndexes.length === 0
    ? compose([])
    : evaluateSearchIndexes(draft, lasting, work).then(compose)
}
