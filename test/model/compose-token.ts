/**
 * Composes a token from a request, or a 400. Source: contract sections 5 to 9.
 * @module
 */
import { applyMask, evaluate, evaluateText, isExpression, isMask } from './expressions.ts'
import { futureExpiry, type Expiry } from './instants.ts'
import { isObject, mergePatch, type Json, type JsonObject } from './json.ts'
import { dataNow, lastingData, type Model, type ModelToken } from './state.ts'
import { guardedNumber, modelTypeOf, type ModelType } from './token-types.ts'

/** Wanted token, before it is checked. */
interface Draft {
  readonly type: string
  readonly nowMs: number
  readonly data: Json
  readonly mask: Json | undefined
  readonly metadata: Json
  readonly containers: Json
  readonly indexes: Json
  readonly fingerprintExpression: Json
  readonly expiry: Expiry | undefined
  /** End of the code that the data brings or has. */
  readonly codeEndsMs: number | undefined
  readonly deduplicates: boolean
  /** True if the changer does not see all of the data: then its indexes make no fault. */
  readonly isHidden?: boolean
}

/** The members of a token that follow from a draft. */
export type Composed = Pick<
  ModelToken,
  | 'type'
  | 'data'
  | 'mask'
  | 'metadata'
  | 'container'
  | 'indexes'
  | 'fingerprintExpression'
  | 'expiry'
  | 'codeEndsMs'
  | 'deduplicates'
>

/** The one card number of the model's texts that are declared non-sensitive. */
const strayCardNumber = '4242424242424242'

const isTextList = (value: Json): value is readonly string[] =>
  Array.isArray(value) && value.every(item => typeof item === 'string')

const containerShape = /^\/(?:[A-Za-z0-9_-]+\/)*$/

const keepContainer = (containers: Json): string | undefined => {
  const [only] = isTextList(containers) && containers.length === 1 ? containers : []
  const isRefused =
    only === undefined || !containerShape.test(only) || only.includes(strayCardNumber)
  return isRefused ? undefined : only.toLowerCase()
}

/** Pairs of texts; those with the value null are dropped. */
function keepMetadata(metadata: Json): Record<string, string> | undefined {
  if (!isObject(metadata)) return undefined
  const pairs = Object.entries(metadata).filter(([, value]) => value !== null)
  const isFit = ([name, value]: [string, Json]): boolean =>
    typeof value === 'string' &&
    name.length >= 1 &&
    name.length <= 100 &&
    value.length <= 500 &&
    value !== strayCardNumber
  return pairs.every(isFit) ? (Object.fromEntries(pairs) as Record<string, string>) : undefined
}

/** A mask of a card must hide something of its number. */
const isMaskAllowed = (draft: Draft, data: Json): boolean => {
  const { mask, type } = draft
  if (mask === undefined) return true
  if (!isMask(mask)) return false
  const number = guardedNumber(type, data)
  const shown = applyMask(mask, data)
  return number === undefined || !JSON.stringify(shown ?? null).includes(number)
}

const areIndexes = (indexes: Json, data: Json, isHidden = false): indexes is readonly string[] =>
  isTextList(indexes) &&
  indexes.length <= 10 &&
  indexes.every(text => isExpression(text) && (isHidden || evaluate(text, { data }) !== undefined))

/** Contract section 5. */
const codeMs = 24 * 60 * 60 * 1_000

const hasCode = (type: string, data: Json | undefined): boolean =>
  type === 'card' && isObject(data ?? null) && ((data as JsonObject)['cvc'] ?? null) !== null

const codeEndOf = ({ type, codeEndsMs, expiry }: Draft, data: Json): number | undefined =>
  codeEndsMs !== undefined && hasCode(type, data)
    ? Math.min(codeEndsMs, expiry?.ms ?? Infinity)
    : undefined

/** Returns the value that the fingerprint is taken of; `undefined` if there is none. */
export const fingerprinted = ({
  fingerprintExpression,
  data,
  codeEndsMs,
  metadata,
}: Pick<Composed, 'fingerprintExpression' | 'data' | 'codeEndsMs' | 'metadata'>):
  string | undefined =>
  isExpression(fingerprintExpression, ['data', 'metadata'])
    ? evaluateText(fingerprintExpression, { data: lastingData({ data, codeEndsMs }), metadata })
    : undefined

const isFingerprintAllowed = (draft: Draft, data: Json, metadata: Record<string, string>) => {
  const { fingerprintExpression } = draft
  if (typeof fingerprintExpression !== 'string') return false
  const codeEndsMs = codeEndOf(draft, data)
  const content = fingerprinted({ fingerprintExpression, data, codeEndsMs, metadata })
  if (content === undefined) return false
  // A constant would make all tokens equal, so it counts as nothing (hardening H101).
  const isOfToken = content !== '' && fingerprintExpression.includes('{{')
  return isOfToken || !draft.deduplicates
}

/** @returns `undefined` for what is a 400 */
function compose(draft: Draft): Composed | undefined {
  const { type, mask, indexes, fingerprintExpression, expiry, deduplicates } = draft
  const data = modelTypeOf(type)?.keep(draft.data, draft.nowMs)
  const container = keepContainer(draft.containers)
  const metadata = keepMetadata(draft.metadata)
  if (data === undefined || container === undefined || metadata === undefined) return undefined
  const codeEndsMs = codeEndOf(draft, data)
  const isAllowed =
    isMaskAllowed(draft, data) &&
    areIndexes(indexes, lastingData({ data, codeEndsMs }), draft.isHidden) &&
    isFingerprintAllowed(draft, data, metadata)
  if (!isAllowed) return undefined
  return {
    type,
    data,
    mask,
    metadata,
    container,
    indexes: indexes as readonly string[],
    fingerprintExpression: String(fingerprintExpression),
    expiry,
    codeEndsMs,
    deduplicates,
  }
}

type Given<T> = { readonly value: T } | undefined

/** `undefined` for a 400; a `null` or absent text is no expiry. */
function readExpiry(model: Model, given: Json | undefined): Given<Expiry | undefined> {
  if (given === undefined || given === null) return { value: undefined }
  if (typeof given !== 'string') return undefined
  const expiry = futureExpiry(model.instants, given, model.nowMs)
  return expiry === undefined ? undefined : { value: expiry }
}

const isFlag = (value: Json | undefined): boolean =>
  value === undefined || value === null || typeof value === 'boolean'

const maskOf = (type: ModelType, mask: Json | undefined): Json | undefined =>
  mask === undefined ? type.mask : (mask ?? undefined)

/** @returns `undefined` for what is a 400, but for the id */
export function composeNew(model: Model, body: JsonObject): Composed | undefined {
  const type = modelTypeOf(body['type'])
  const expiry = readExpiry(model, body['expires_at'])
  const data = body['data'] ?? null
  if (type === undefined || data === null || expiry === undefined) return undefined
  if (!isFlag(body['deduplicate_token'])) return undefined
  return compose({
    type: String(body['type']),
    nowMs: model.nowMs,
    data,
    mask: maskOf(type, body['mask']),
    metadata: body['metadata'] ?? {},
    containers: body['containers'] ?? [type.container],
    indexes: body['search_indexes'] ?? type.indexes ?? [],
    fingerprintExpression: body['fingerprint_expression'] ?? type.fingerprint,
    expiry: expiry.value,
    codeEndsMs: model.nowMs + codeMs,
    deduplicates: body['deduplicate_token'] === true,
  })
}

const isTextMember = (value: Json | undefined): boolean =>
  value === undefined || value === null || typeof value === 'string'

const isListMember = (value: Json | undefined): boolean =>
  value === undefined || value === null || isTextList(value)

/**
 * Returns true for a well-formed patch: members of the wrong kind are a 400 before any look-up. Its
 * values are judged with what they change.
 */
export const isPatch = (patch: JsonObject): boolean =>
  isFlag(patch['deduplicate_token']) &&
  isTextMember(patch['expires_at']) &&
  isTextMember(patch['fingerprint_expression']) &&
  isListMember(patch['containers']) &&
  isListMember(patch['search_indexes'])

/** `null` clears, absent keeps, all else is merged. */
const merged = (standing: Json | undefined, patch: Json | undefined): Json | undefined => {
  if (patch === undefined) return standing
  return patch === null ? undefined : mergePatch(standing, patch)
}

/** `null` puts the default back, absent keeps, all else replaces. */
const replaced = (standing: Json, given: Json | undefined, fallback: Json): Json =>
  given === undefined ? standing : (given ?? fallback)

/** @returns `undefined` for what is a 400 */
export function composeChanged(
  model: Model,
  token: ModelToken,
  patch: JsonObject,
  isHidden = false,
): Composed | undefined {
  const type = modelTypeOf(token.type)
  const { expires_at: expires, deduplicate_token: deduplicates } = patch
  const expiry = expires === undefined ? { value: token.expiry } : readExpiry(model, expires)
  if (type === undefined || expiry === undefined || patch['data'] === null) return undefined
  const standing = dataNow(model, token)
  const brings = isObject(patch['data'] ?? null) && 'cvc' in (patch['data'] as JsonObject)
  return compose({
    type: token.type,
    nowMs: model.nowMs,
    data: patch['data'] === undefined ? standing : mergePatch(standing, patch['data']),
    mask: merged(token.mask, patch['mask']),
    metadata: merged(token.metadata, patch['metadata']) ?? {},
    containers: replaced([token.container], patch['containers'], null),
    indexes: replaced(token.indexes, patch['search_indexes'], []),
    fingerprintExpression: replaced(
      token.fingerprintExpression,
      patch['fingerprint_expression'],
      type.fingerprint,
    ),
    expiry: expiry.value,
    codeEndsMs: brings ? model.nowMs + codeMs : token.codeEndsMs,
    deduplicates: deduplicates === undefined ? token.deduplicates : deduplicates === true,
    isHidden,
  })
}
