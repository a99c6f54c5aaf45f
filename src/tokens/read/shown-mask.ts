/**
 * Whether a token shows anything of its data under the mask transform: if it shows nothing, it is
 * not found by its data either (contract section 14).
 *
 * @module
 */
import type { StepMeter } from '../../lib/waiting.ts'
import { parseJson } from '../../lib/json/parse-json.ts'
import type { Json } from '../../lib/json/json.ts'
import { showsAnything } from '../../rules/mask.ts'
import type { TokenType } from '../../rules/token-types.ts'
import { defaultMaskTextOf } from '../stored-form.ts'

/**
 * Most types have a mask that shows something of all data which they take.
 * @param dataOf not called for those
 * @throws ApiError `invalid_request` only where the meter has no steps left
 */
export function isShownByMask(
  type: TokenType,
  maskText: string | undefined,
  dataOf: () => Json,
  meter?: StepMeter,
): boolean {
  if (maskText === undefined) return false
  const isSure = type.defaultMaskMayBeBlank !== true && maskText === defaultMaskTextOf(type)
  return isSure || showsAnything(parseJson(maskText), dataOf(), meter)
}
