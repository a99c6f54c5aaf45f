/**
 * Checks that an output hides digits of its input, in whatever form it shows them.
 *
 * It tests what changes when one digit becomes any other, so it also finds digits that are shown
 * reversed, in parts or encoded. Source: PCI DSS 3.4.1; contract sections 6 and 7.
 * @module
 */
import { isDigitCode } from '../lib/bytes.ts'
import { copyMembers, isJsonObject, withMember, type Json } from '../lib/json/json.ts'

/** Place of the digits: the member of that name, or the data itself. */
export type DigitsPlace = 'whole' | { readonly member: string }

/** @returns the text there; `undefined` if there is none */
export const digitsAt = (data: Json, place: DigitsPlace): string | undefined => {
  if (place === 'whole') return typeof data === 'string' ? data : undefined
  const value = isJsonObject(data) ? data.get(place.member) : undefined
  return typeof value === 'string' ? value : undefined
}

/**
 * Returns a function that puts other digits in that place. All calls share one copy, since there
 * are many: it holds the digits of the last call.
 */
export const digitsChanger = (data: Json, place: DigitsPlace): ((digits: string) => Json) => {
  if (place === 'whole' || !isJsonObject(data)) return digits => digits
  const copy = copyMembers(data)
  return digits => withMember(copy, place.member, digits)
}

const allDigits = '0123456789'

/**
 * True if at least `least` of the digits could be any others without changing the output.
 * @param digits    characters between them do not count
 * @param outputOf  the output for other digits in their place; `undefined` when there is none
 */
export const hidesDigits = (
  digits: string,
  least: number,
  outputOf: (digits: string) => string | undefined,
): boolean => {
  const shown = outputOf(digits)
  const isHidden = (at: number): boolean =>
    [...allDigits].every(
      other =>
        other === digits[at] ||
        outputOf(digits.slice(0, at) + other + digits.slice(at + 1)) === shown,
    )
  let hidden = 0
  for (let at = 0; at < digits.length && hidden < least; at += 1) {
    if (isDigitCode(digits.charCodeAt(at)) && isHidden(at)) hidden += 1
  }
  return hidden >= least
}
