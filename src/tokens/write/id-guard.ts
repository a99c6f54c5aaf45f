/**
 * Whether the id that an expression gave carries what no id may carry.
 *
 * Source: contract section 7; hardening T28, H99.
 * @module
 */
import { countDigits } from '../../text/digits.ts'
import {
  digitsAt,
  digitsChanger,
  hidesDigits,
  type DigitsPlace,
} from '../../rules/hidden-digits.ts'
import type { Json } from '../../json/json.ts'
import { outputContains } from '../../rules/mask.ts'
import { containsCardNumber } from '../../rules/pan-guard.ts'
import type { TokenType } from '../../rules/token-types.ts'
import { maskHiddenDigitsMin } from '../../limits.ts'

export interface GivenId {
  readonly id: string
  /** The id for other data, had chance been the same; `undefined` when there is none. */
  readonly idOf: (data: Json) => string | undefined
}

function hidesPlace(data: Json, place: DigitsPlace, least: number, { idOf }: GivenId): boolean {
  const digits = digitsAt(data, place)
  if (digits === undefined) return true
  const wanted = Math.min(least, countDigits(digits))
  const change = digitsChanger(data, place)
  return hidesDigits(digits, wanted, other => idOf(change(other)))
}

function carriesNumber({ protectedNumber: place }: TokenType, data: Json, given: GivenId): boolean {
  if (place === undefined) return false
  const number = digitsAt(data, place)
  if (number !== undefined && outputContains(given.id, number)) return true
  return !hidesPlace(data, place, maskHiddenDigitsMin, given)
}

/** Of a code, unlike a number, not even its last digits may be shown. */
function carriesCode({ protectedCode: place }: TokenType, data: Json, given: GivenId): boolean {
  return place !== undefined && !hidesPlace(data, place, Infinity, given)
}

/**
 * By its type, in any form; and any card number that is written out, since data of type `token` may
 * hold one.
 */
export function givesAway(
  guards: { readonly cardNumberGuard: boolean },
  type: TokenType,
  data: Json,
  given: GivenId,
): boolean {
  if (guards.cardNumberGuard && containsCardNumber(given.id)) return true
  return carriesNumber(type, data, given) || carriesCode(type, data, given)
}
