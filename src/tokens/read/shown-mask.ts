/**
 * Whether a token shows anything of its data under the mask transform: if it shows nothing, it is
 * not found by its data either (contract section 14).
 *
 * @module
 */
import type { Meter } from '../../waiting.ts'
import { parseJson } from '../../json/parse.ts'
import type { Json } from '../../json/json.ts'
import { showsAnything } from '../../rules/mask.ts'
import type { TokenType } from '../../rules/token-types.ts'
import { defaultMaskTextOf } from '../stored-form.ts'

/**
 * The mask of a type shows something of all data that the type takes.
 * @param dataOf called for other masks alone
 * @throws ApiError `invalid_request` only where the meter has no steps left
 */
export function isShownByMask(
  type: TokenType,
  maskText: string | undefined,
  dataOf: () => Json,
  meter?: Meter,
): boolean {
  if (maskText === undefined) return false
  return maskText === defaultMaskTextOf(type) || showsAnything(parseJson(maskText), dataOf(), meter)
}
