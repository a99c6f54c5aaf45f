/**
 * Masks: what of a token's data a caller may see who may not see it all.
 *
 * A mask is a string, array or object of any nesting. Its strings are expressions on `data`; its
 * numbers, booleans and nulls are constants; what it does not name is left out. Invariant: a mask
 * that fails, for whatever reason, shows nothing: there is no way from here to the plaintext but an
 * expression that asks for it. Source: contract section 6, hardening H98.
 * @module
 */
import { invalid } from '../errors.ts'
import { maskDepthMax, maskHiddenDigitsMin, maskValuesMax } from '../limits.ts'
import { compileTemplate } from './expression/compile.ts'
import { spend, startRun, type Run } from './expression/run.ts'
import { assertOutputFits, scalarTextOf } from './expression/values.ts'
import { digitsAt, hidesDigits, withDigits, type DigitsPlace } from './hidden-digits.ts'
import { printJson } from './json-print.ts'
import { isJsonArray, isJsonObject, withMember, type Json, type Members } from './json.ts'

/**
 * Checks a value and all below it; returns `count` and how many they are. `at` names array indexes,
 * and members as `*`, for their names are the caller's text.
 */
const checkValues = (mask: Json, at: string, depth: number, count: number): number => {
  if (depth > maskDepthMax) throw invalid(at, `expected at most ${maskDepthMax} levels`)
  if (count >= maskValuesMax) throw invalid('mask', `expected at most ${maskValuesMax} values`)
  let checked = count + 1
  if (typeof mask === 'string') compileTemplate(mask, at, 'mask')
  if (isJsonArray(mask)) {
    mask.forEach((item, index) => {
      checked = checkValues(item, `${at}[${index}]`, depth + 1, checked)
    })
  }
  if (isJsonObject(mask)) {
    for (const member of mask.values()) {
      checked = checkValues(member, `${at}.*`, depth + 1, checked)
    }
  }
  return checked
}

/**
 * Checks a mask when it is stored, so that it can later fail on data only.
 * @param mask  string, array or object; `null`, which means no mask, never comes here
 * @param at    field path for errors, `mask`
 * @throws ApiError `invalid_request`; echoes neither expressions nor member names
 */
export const checkMask = (mask: Json, at: string): void => {
  if (typeof mask !== 'string' && !isJsonArray(mask) && !isJsonObject(mask)) {
    throw invalid(at, 'expected a string, an array or an object')
  }
  checkValues(mask, at, 1, 0)
}

/** Steps for each value of a mask, whatever it is. */
const stepsPerValue = 32

const applyPart = (mask: Json, run: Run): Json => {
  spend(run, stepsPerValue)
  if (typeof mask === 'string') return compileTemplate(mask, run.at, 'mask').evaluate(run)
  if (isJsonArray(mask)) return mask.map(item => applyPart(item, run))
  if (!isJsonObject(mask)) return mask
  let masked: Members = new Map()
  for (const [name, member] of mask) masked = withMember(masked, name, applyPart(member, run))
  return masked
}

/**
 * The masked data, or undefined when the mask cannot be applied to it: then `data` is redacted.
 * All expressions of the mask share one budget of work and one limit of output. Never throws.
 */
export const applyMask = (mask: Json, data: Json): { readonly masked: Json } | undefined => {
  try {
    const run = startRun({ at: 'mask', data })
    const masked = applyPart(mask, run)
    assertOutputFits(masked, run)
    return { masked }
  } catch {
    // Whatever went wrong, a read answers, and shows nothing (contract section 6).
    return undefined
  }
}

const digitsIn = (text: string): string => text.replaceAll(/[^0-9]/g, '')

/** Calls `visit` with the text of every scalar and of every member name, in order. */
const visitTexts = (value: Json, visit: (text: string) => void): void => {
  if (isJsonArray(value)) {
    for (const item of value) visitTexts(item, visit)
  } else if (isJsonObject(value)) {
    for (const [name, member] of value) {
      visit(name)
      visitTexts(member, visit)
    }
  } else {
    visit(scalarTextOf(value) ?? '')
  }
}

/**
 * Whether one text, number or member name in `value` contains these digits in a row, whatever else
 * stands between them. Digits of several values are not put together here: parts that may be shown
 * would then make up a number of a repeating pattern (4242…) that is nowhere shown.
 * @param digits  separators in it do not count; without a digit nothing is contained
 */
export const outputContains = (value: Json, digits: string): boolean => {
  const wanted = digitsIn(digits)
  let isFound = false
  visitTexts(value, text => {
    isFound ||= wanted !== '' && digitsIn(text).includes(wanted)
  })
  return isFound
}

/** What a mask shows; null stands for redacted data, which shows nothing either. */
const shownBy = (mask: Json, data: Json): Json => applyMask(mask, data)?.masked ?? null

/**
 * The card guard: a mask of a card must hide something of its number, in whatever form it shows it.
 * @param typeName  only `card` and `card_number` are guarded
 * @param data      data of that type, already validated
 * @throws ApiError `invalid_request` at `mask`
 * Source: PCI DSS 3.4.1; contract section 6.
 */
export const assertMaskHidesNumber = (typeName: string, mask: Json, data: Json): void => {
  if (typeName !== 'card' && typeName !== 'card_number') return
  const place: DigitsPlace = isJsonObject(data) ? { member: 'number' } : 'whole'
  const number = digitsAt(data, place)
  if (number === undefined) return
  const isShown = outputContains(shownBy(mask, data), number)
  const maskedOf = (other: string) => printJson(shownBy(mask, withDigits(data, place, other)))
  if (isShown || !hidesDigits(number, maskHiddenDigitsMin, maskedOf)) {
    throw invalid('mask', `expected a mask that hides ${maskHiddenDigitsMin} digits of the number`)
  }
}
