/**
 * Rights to set a mask, and limits on what a change may reveal of data hidden from its caller.
 * @module
 */
import { isJsonObject, type Json, printJson } from '../../lib/json/json.ts'
import type { TokenTypeDefinition } from '../../rules/token-types.ts'
import { hiddenDataStepBytes } from '../../limits/limits.ts'
import type { HiddenData, Composed, Draft } from './compose.ts'
import type { LoadedToken } from '../read/load.ts'
import type { StepMeter } from '../../lib/work.ts'
import { isCardNumber } from '../../rules/clear-text.ts'
import { digitsAt } from '../../rules/hidden-digits.ts'
import { parseJson } from '../../lib/json/parse-json.ts'
import { applyMask } from '../../rules/mask.ts'
import {
  cardShapeOf,
  showsEndsAtMost,
  showsNoMore,
  type CardShape,
} from '../../rules/mask-guard.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Settings } from '../../settings/settings.ts'
import { hasDefaultMask } from '../stored-form.ts'

/*
 * Data of a token that its changer sees nothing of, or a mask: what a change is answered must not
 * tell of it.
 *
 * Merging needs the data all the same, so its size would be told by what still fits, and its
 * content by what expressions make of it. Left as it is: a fingerprint expression of the token's
 * own that fails on hidden data refuses the change, for there is no token without a fingerprint.
 * Source: contract section 9.
 */

type Rights = Pick<Settings, 'strictMasks'>

const isHidden = ({ transform }: LoadedToken): boolean => transform === 'redact'

/** Whole steps of what is hidden, and all that is added: no more than that tells its size. */
function judgedBytes(dataText: string, patch: Json): number {
  const steps = Math.ceil(Buffer.byteLength(dataText) / hiddenDataStepBytes)
  return steps * hiddenDataStepBytes + Buffer.byteLength(printJson(patch))
}

/**
 * Rules for the merged data. A replacement of all data counts for its own size, and data that is
 * left alone does not count at all. A mask that shows an addition must not be compared with a
 * hidden number: it would confirm a guess, and a long addition holds thousands of them.
 * @param patch of the data; `undefined` leaves it
 * @returns `undefined` where the caller sees all of the data, or may show it to itself
 */
export function hiddenDataOf(
  { strictMasks }: Rights,
  { transform }: LoadedToken,
  type: TokenTypeDefinition,
  dataText: string,
  patch: Json | undefined,
): HiddenData | undefined {
  const isMasked = transform === 'mask'
  if (isMasked ? !strictMasks : transform !== 'redact') return undefined
  if (patch === undefined) return { bytes: 0, keepsNumber: true, isMasked, sent: null }
  if (!isJsonObject(patch)) {
    return isMasked ? undefined : { bytes: undefined, keepsNumber: false, isMasked, sent: patch }
  }
  const { protectedNumber } = type
  const replacesNumber = typeof protectedNumber === 'object' && patch.has(protectedNumber.member)
  const bytes = judgedBytes(dataText, patch)
  return { bytes, keepsNumber: !replacesNumber, isMasked, sent: patch }
}

/*
 * Refuses a mask beyond the bounds, unless the caller's rules reveal the token.
 *
 * A mask is what others see under the transform `mask`, and search indexes and fingerprints tell of
 * data as masks do. The setting `strict_masks` loosens it for a caller who is shown a mask.
 * Source: contract section 6.
 */

type Expressions = Pick<Draft, 'fingerprintExpression' | 'searchIndexes'>

const refused = () =>
  new ApiError(
    'forbidden',
    'expected a rule that reveals, for a mask that shows more of a card than before, more of its ' +
      'number than the first six or eight and the last four digits, or any of its cvc',
  )

const refusedToChange = () =>
  new ApiError('forbidden', 'expected a rule that reveals, to change how data is shown')

/** Zero for data without a card number, which is refused as such once it is judged. */
const numberLengthOf = ({ place }: CardShape, data: Json): number => {
  const number = digitsAt(data, place)
  return number !== undefined && isCardNumber(number) ? number.length : 0
}

const assertShowsEnds = (
  shape: CardShape,
  maskText: string,
  data: Json,
  meter?: StepMeter,
): void => {
  if (!showsEndsAtMost(shape, parseJson(maskText), numberLengthOf(shape, data), meter))
    throw refused()
}

/**
 * The mask of a new token, given by a caller who is shown a mask of it at most.
 * @throws ApiError `forbidden`, `invalid_request` where the meter has no steps left
 */
export function assertShowsLittle({ record, written }: Composed, meter: StepMeter): void {
  const shape = cardShapeOf(record.type)
  if (record.maskText === undefined || shape === undefined) return
  assertShowsEnds(shape, record.maskText, written.data, meter)
}

/** By what data is shown now: `null` where there is no mask, or where it fails on the data. */
function standingMask({ record }: LoadedToken, standing: Json): Json {
  if (record.maskText === undefined) return null
  const mask = parseJson(record.maskText)
  return applyMask(mask, standing) === undefined ? null : mask
}

/**
 * A change may narrow the mask of a card. decision: where the number gets another length, a mask
 * that is kept is judged as that of a new card, since it may show other digits of such a number. So
 * it is where a number that is hidden gets any other one: else the refusal would tell its length.
 */
function assertNarrows(
  shape: CardShape,
  token: LoadedToken,
  standing: Json,
  { type, data, hidden }: Draft,
  maskText: string | undefined,
): void {
  if (maskText === undefined) return
  const length = numberLengthOf(shape, data)
  const isKept = maskText === token.record.maskText
  if (!isKept && !showsNoMore(shape, parseJson(maskText), standingMask(token, standing), length)) {
    throw refused()
  }
  if (hasDefaultMask({ type: type.name, maskText })) return
  const isUnseen = hidden !== undefined && !hidden.isMasked
  const isJudged = isUnseen ? !hidden.keepsNumber : length !== numberLengthOf(shape, standing)
  if (isJudged && length > 0) assertShowsEnds(shape, maskText, data)
}

const maskTextOf = ({ mask }: Draft): string | undefined =>
  mask === undefined ? undefined : printJson(mask)

const isFoundAlike = (one: Expressions, other: Expressions): boolean =>
  one.fingerprintExpression === other.fingerprintExpression &&
  JSON.stringify(one.searchIndexes) === JSON.stringify(other.searchIndexes)

/**
 * For hidden data, other expressions are refused before any is evaluated. decision: a caller
 * who sees nothing may never widen it, since fingerprints of chosen parts tell all.
 * @throws ApiError `forbidden`
 */
function assertExpressionsKept(token: LoadedToken, draft: Draft): void {
  if (!isHidden(token)) return
  const { record } = token
  if (record.maskText !== maskTextOf(draft) || !isFoundAlike(record, draft)) throw refusedToChange()
}

/**
 * Checks masks and indexes of a changed token. The transform is that of the rule on `token:update`.
 * Other expressions are refused before any is evaluated: which of them fail, and for what, would
 * tell a caller who sees a mask all that it hides.
 * @param standing the data of the token before the change
 * @throws ApiError `forbidden`
 */
export function assertMayRemask(
  rights: Rights,
  token: LoadedToken,
  standing: Json,
  draft: Draft,
): void {
  assertExpressionsKept(token, draft)
  const { transform, record } = token
  if (!rights.strictMasks || transform === 'reveal') return
  if (!isFoundAlike(record, draft)) throw refusedToChange()
  const shape = cardShapeOf(record.type)
  const maskText = maskTextOf(draft)
  if (shape !== undefined) assertNarrows(shape, token, standing, draft, maskText)
  else if (record.maskText !== maskText) throw refusedToChange()
}
