/**
 * Decides if the mask of a token shows any of its data: if not, no search by data finds it either
 * (contract section 14).
 *
 * @module
 */
import type { StepMeter } from '../../lib/work.ts'
import { parseJson } from '../../lib/json/parse-json.ts'
import type { Json } from '../../lib/json/json.ts'
import { showsAnything } from '../../rules/mask.ts'
import type { TokenTypeDefinition } from '../../rules/token-types.ts'
import { defaultMaskTextOf } from '../stored-form.ts'

/**
 * Most types have a mask that shows something of any data that they accept.
 * @param dataOf not called for those
 * @throws ApiError `invalid_request` only if the meter has no steps left
 */
export function isShownByMask(
  type: TokenTypeDefinition,
  maskText: string | undefined,
  dataOf: () => Json,
  meter?: StepMeter,
): boolean {
  if (maskText === undefined) return false
  const isSure = type.defaultMaskMayBeBlank !== true && maskText === defaultMaskTextOf(type)
  return isSure || showsAnything(parseJson(maskText), dataOf(), meter)
}
