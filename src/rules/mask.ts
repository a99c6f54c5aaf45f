/**
 * Masks: the form of a token's data that is shown to a caller who may not see all of it.
 *
 * A mask is a string, array or object of any nesting. Its strings are expressions on `data`; its
 * numbers, booleans and nulls are constants; members that it does not name are left out. Invariant:
 * a mask that fails, for whatever reason, shows nothing: only an expression that asks for the
 * plaintext gets it. Source: contract section 6, hardening H98.
 * @module
 */
import { invalid } from '../lib/errors.ts'
import {
  maskDepthMax,
  maskHiddenDigitsMin,
  maskProbeStepsMax,
  maskValuesMax,
} from '../limits/limits.ts'
import { compileTemplate } from '../language/expression/compile.ts'
import {
  assertAffordable,
  spend,
  startRun,
  type Run,
  assertOutputFits,
  scalarTextOf,
} from '../language/expression/run.ts'
import type { StepMeter } from '../lib/work.ts'
import { digitsIn } from '../lib/bytes.ts'
import { digitsAt, digitsChanger, hidesDigits } from './hidden-digits.ts'
import {
  printJson,
  isJsonArray,
  isJsonObject,
  withMember,
  type Json,
  type MutableObject,
} from '../lib/json/json.ts'
import { cardShapeOf, shownPlaces, type CardShape } from './mask-guard.ts'

/**
 * Checks a value and everything below it; returns `count` plus their number. `at` names array
 * indexes, and members as `*`, because their names are the caller's text.
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
 * Checks a mask before it is stored, so that later it can fail only because of the data.
 * @param mask  string, array or object; never `null`, which means no mask
 * @param at    field path for errors, `mask`
 * @throws ApiError `invalid_request`; echoes neither expressions nor member names
 */
export const checkMask = (mask: Json, at: string): void => {
  if (typeof mask !== 'string' && !isJsonArray(mask) && !isJsonObject(mask)) {
    throw invalid(at, 'expected a string, an array or an object')
  }
  checkValues(mask, at, 1, 0)
}

/** Steps charged for any value of a mask. */
const stepsPerValue = 32

const applyPart = (mask: Json, run: Run): Json => {
  spend(run, stepsPerValue)
  if (typeof mask === 'string') return compileTemplate(mask, run.at, 'mask').evaluate(run)
  if (isJsonArray(mask)) return mask.map(item => applyPart(item, run))
  if (!isJsonObject(mask)) return mask
  let masked: MutableObject = new Map()
  for (const [name, member] of mask) masked = withMember(masked, name, applyPart(member, run))
  return masked
}

/**
 * Returns the masked data, or undefined when the mask cannot be applied to it: then `data` is
 * redacted. All expressions of the mask share one budget of work and one limit of output.
 * @throws ApiError `invalid_request` only if the meter of the run has no steps left
 */
export const applyMask = (
  mask: Json,
  data: Json,
  run: Run = startRun({ at: 'mask', data }),
): { readonly masked: Json } | undefined => {
  try {
    const masked = applyPart(mask, run)
    assertOutputFits(masked, run)
    return { masked }
  } catch {
    assertAffordable(run.meter)
    // After any other failure a read still answers, and shows nothing (contract section 6).
    return undefined
  }
}

/** True for null, empty texts, and lists and objects of only those. */
const isBlank = (value: Json): boolean => {
  if (isJsonArray(value)) return value.every(isBlank)
  if (isJsonObject(value)) return [...value.values()].every(isBlank)
  return value === null || value === ''
}

const showsIn = (mask: Json, run: Run): boolean => {
  if (isJsonArray(mask)) return mask.some(item => showsIn(item, run))
  if (isJsonObject(mask)) return [...mask.values()].some(member => showsIn(member, run))
  if (typeof mask !== 'string') return false
  const template = compileTemplate(mask, run.at, 'mask')
  return !template.isConstant && !isBlank(template.evaluate(run))
}

/**
 * True if a mask that can be applied shows anything that depends on the data.
 * @throws ApiError as `applyMask`
 */
export const showsAnything = (mask: Json, data: Json, meter?: StepMeter): boolean => {
  const start = () => startRun({ at: 'mask', data, meter })
  return applyMask(mask, data, start()) !== undefined && showsIn(mask, start())
}

const containsIn = (value: Json, wanted: string): boolean => {
  const isIn = (text: string): boolean => digitsIn(text).includes(wanted)
  if (isJsonArray(value)) return value.some(item => containsIn(item, wanted))
  if (!isJsonObject(value)) return isIn(scalarTextOf(value) ?? '')
  return Array.from(value).some(([name, member]) => isIn(name) || containsIn(member, wanted))
}

/**
 * True if one text, number or member name in `value` contains these digits in a row, ignoring all
 * other characters. Digits of several values are not joined: harmless parts would then form a
 * number with a repeating pattern (4242…) that is shown nowhere.
 * @param digits  separators in it do not count; without a digit the result is false
 */
export const outputContains = (value: Json, digits: string): boolean => {
  const wanted = digitsIn(digits)
  return wanted !== '' && containsIn(value, wanted)
}

/** Steps for each character of a probe's output, which is printed for comparison. */
const stepsPerShownChar = 8

/** Prints the output of a mask; null stands for redacted data, which shows nothing either. */
const printShown = (
  mask: Json,
  data: Json,
  probes: { stepsLeft: number },
  meter: StepMeter | undefined,
): string => {
  const run = startRun({ at: 'mask', data, meter })
  run.stepsLeft = Math.min(run.stepsLeft, probes.stepsLeft)
  const stepsBefore = run.stepsLeft
  const text = printJson(applyMask(mask, data, run)?.masked ?? null)
  probes.stepsLeft -= stepsBefore - run.stepsLeft + text.length * stepsPerShownChar
  return text
}

/** Decides by the mask's form if it proves enough, or else by changing digits. */
const hidesNumber = (
  shape: CardShape,
  mask: Json,
  data: Json,
  number: string,
  meter: StepMeter | undefined,
): boolean => {
  const places = shownPlaces(shape, mask, number.length, meter)
  if (places !== undefined && number.length - places.size >= maskHiddenDigitsMin) return true
  const change = digitsChanger(data, shape.place)
  // With no steps left a probe shows nothing, so its digit counts as shown.
  const probes = { stepsLeft: maskProbeStepsMax }
  return hidesDigits(number, maskHiddenDigitsMin, digits =>
    printShown(mask, change(digits), probes, meter),
  )
}

/**
 * The card guard: a mask of a card must hide something of its number, in whatever form it shows it.
 * @param typeName  only `card` and `card_number` are guarded
 * @param data      data of that type, already validated
 * @throws ApiError `invalid_request` at `mask`, and if the meter has no steps left
 * Source: PCI DSS 3.4.1; contract section 6.
 */
export const assertMaskHidesNumber = (
  typeName: string,
  mask: Json,
  data: Json,
  meter?: StepMeter,
): void => {
  const shape = cardShapeOf(typeName)
  if (shape === undefined) return
  const number = digitsAt(data, shape.place)
  if (number === undefined) return
  const { masked = null } = applyMask(mask, data, startRun({ at: 'mask', data, meter })) ?? {}
  if (outputContains(masked, number) || !hidesNumber(shape, mask, data, number, meter)) {
    throw invalid('mask', `expected a mask that hides ${maskHiddenDigitsMin} digits of the number`)
  }
}
