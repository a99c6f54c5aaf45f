/**
 * One evaluation: its inputs, its budget of work, its access to values, and the values that filters
 * pass on.
 * @module
 */
import { ApiError, invalid, invariant } from '../../lib/errors.ts'
import { evaluationStepsMax, tokenDataBytesMax } from '../../limits/limits.ts'
import {
  type Json,
  type JsonObject,
  isExactNumber,
  isJsonArray,
  isJsonObject,
  hasCanonicalText,
  keepCanonicalText,
  printCanonicalJson,
  printJson,
} from '../../lib/json/json.ts'
import { stepsToPrint } from './print-steps.ts'
import { heldDouble, type JsonNumber } from './numbers.ts'
import type { Operand, PathStep } from './tree.ts'
import type { StepMeter } from '../../lib/work.ts'

/*
 * One evaluation: the data it may see, and the work it may still do.
 *
 * Work is counted in steps, about one nanosecond each, because a domain without a clock cannot
 * count time. A filter pays before it works, so that the limit holds whatever the data. Source:
 * contract section 6 (bounded), hardening H91.
 */

export interface Scope {
  /** Field path for errors: `mask`, `search_indexes[0]`. Ours, never the caller's text. */
  readonly at: string
  readonly data: Json
  /** Only a fingerprint expression may name it. */
  readonly metadata?: JsonObject
  /** Only an id expression draws from it. Returns that many bytes, uniform and unpredictable. */
  readonly randomBytes?: (count: number) => Uint8Array
  /** Also charged with the cost; if absent, only the evaluation's own limit applies. */
  readonly meter?: StepMeter | undefined
}

export interface Run extends Scope {
  stepsLeft: number
  /** True if a path found nothing, and no `default` replaces it. */
  isPathMissed?: boolean
}

export const startRun = (scope: Scope): Run => ({ ...scope, stepsLeft: evaluationStepsMax })

/** The 400 of an evaluation. `expected` names the expectation, never the value found. */
export const failed = (run: Run, expected: string): ApiError => invalid(run.at, expected)

/** The 400 of a request whose evaluations cost too much together, without a path to any of them. */
const overspent = () =>
  new ApiError('invalid_request', 'expected expressions and masks that do less work together')

/** For a caller that continues after one evaluation fails. @throws ApiError `invalid_request` */
export const assertAffordable = (meter: StepMeter | undefined): void => {
  if (meter !== undefined && meter.stepsSpent > meter.stepsMax) throw overspent()
}

/** Pays for work to be done next. @throws ApiError `invalid_request` when no steps are left */
export const spend = (run: Run, steps: number): void => {
  run.stepsLeft -= steps
  if (run.stepsLeft < 0) throw tooMuch(run)
  if (run.meter !== undefined) spendOnRequest(run.meter, steps)
}

/**
 * Pays for work whose price is known once it is done: the request pays, also where the evaluation
 * has too few steps left. @throws ApiError `invalid_request` when no steps are left
 */
export const spendOnDone = (run: Run, steps: number): void => {
  if (run.meter !== undefined) spendOnRequest(run.meter, steps)
  run.stepsLeft -= steps
  if (run.stepsLeft < 0) throw tooMuch(run)
}

const tooMuch = (run: Run): ApiError =>
  failed(run, 'the expression does too much work on this data')

const spendOnRequest = (meter: StepMeter, steps: number): void => {
  meter.stepsSpent += steps
  assertAffordable(meter)
}

/*
 * Converts operands to closures that fetch their value.
 *
 * Only own members of Maps and elements of arrays are reached; anything else is null, so that no
 * name leads to a prototype, a function or a global. Source: contract section 6, hardening H94.
 */

export type Evaluator = (run: Run) => Json

/**
 * Returns the member or element that a step picks; null if there is none. Pays for all members:
 * fewer would do, but the price must not depend on the names in the data.
 */
export const pick = (value: Json, step: PathStep, run: Run): Json => {
  if (typeof step === 'string') {
    if (!isJsonObject(value)) return null
    spend(run, value.size)
    return value.get(step) ?? null
  }
  return isJsonArray(value) ? (value.at(step) ?? null) : null
}

/** Follows all steps of a path. */
export const pickAll = (value: Json, steps: readonly PathStep[], run: Run): Json => {
  let picked = value
  for (const step of steps) picked = pick(picked, step, run)
  return picked
}

/** Binds an operand. The closure allocates nothing. */
export const resolve = (operand: Operand): Evaluator => {
  if (operand.kind === 'literal') {
    const { value } = operand
    return () => value
  }
  const { root, steps } = operand
  const [first] = steps
  if (root === 'metadata') return run => pickAll(run.metadata ?? null, steps, run)
  if (first === undefined) return run => run.data
  if (steps.length === 1) return run => pick(run.data, first, run)
  return run => pickAll(run.data, steps, run)
}

/*
 * Returns the size of a value as JSON, without printing it.
 */

const stepsPerMeasuredValue = 8
const stepsPerMeasuredObject = 64

/** Called with the steps of walking the items or members of a value, before that. */
type Pay = (steps: number) => void

const scalarSize = (value: Json): number => {
  if (typeof value === 'string') return value.length + 2
  return isExactNumber(value) ? value.numberText.length : String(value).length
}

/**
 * Counts the characters of the value's JSON text, without escapes. Stops once there are more than
 * `most`, so that a value which refers to one large part many times costs no more than that.
 * @returns at most the true size; more than `most` exactly when the true size is
 */
export const measureJson = (value: Json, most: number, pay?: Pay): number => {
  let size = 1
  if (isJsonArray(value)) {
    pay?.(value.length * stepsPerMeasuredValue)
    for (const item of value) {
      size += measureJson(item, most - size, pay) + 1
      if (size > most) break
    }
    return value.length === 0 ? 2 : size
  }
  if (isJsonObject(value)) {
    pay?.(stepsPerMeasuredObject + value.size * stepsPerMeasuredValue)
    for (const [name, member] of value) {
      size += name.length + 4
      size += measureJson(member, most - size, pay)
      if (size > most) break
    }
    return value.size === 0 ? 2 : size
  }
  return scalarSize(value)
}

/*
 * Counting and cutting text by Unicode code points, without making an array of them.
 *
 * decision: one character is one code point, so that no cut leaves half of a surrogate pair.
 * Invariant: well-formed text in, well-formed text out.
 */

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/** A shorter text is walked faster than a native function is called. */
const walkedCharsMax = 32

/** True if the text is long and ASCII, so its indexes need no walk. The native count is instant. */
const isPlain = (text: string): boolean =>
  text.length > walkedCharsMax && Buffer.byteLength(text) === text.length

/** Returns the number of code points. */
export const countCodePoints = (text: string): number => {
  if (isPlain(text)) return text.length
  let pairs = 0
  for (let index = 0; index < text.length; index += 1) {
    if (isHighSurrogate(text.charCodeAt(index))) pairs += 1
  }
  return text.length - pairs
}

/** Index after the first `count` code points; the length of the text if it has fewer. */
export const indexAfter = (text: string, count: number): number => {
  if (count > walkedCharsMax && isPlain(text)) return Math.min(count, text.length)
  let index = 0
  for (let left = count; left > 0 && index < text.length; left -= 1) {
    index += isHighSurrogate(text.charCodeAt(index)) ? 2 : 1
  }
  return index
}

/** Index of the last `count` code points; 0 if the text has fewer. */
export const indexBeforeLast = (text: string, count: number): number => {
  if (count > walkedCharsMax && isPlain(text)) return Math.max(0, text.length - count)
  let index = text.length
  for (let left = count; left > 0 && index > 0; left -= 1) {
    index -= isLowSurrogate(text.charCodeAt(index - 1)) ? 2 : 1
  }
  return index
}

/*
 * Conversions of input values that all filters share.
 *
 * decision: an array or object as text is its canonical JSON text, never Liquid's joined items,
 * because `["a","b"]` and `["ab"]` must not fingerprint alike.
 */

/** A value between filters. Bytes exist only between `hmac` and its encoder. */
export type FilterValue = Json | Uint8Array

const stepsPerPrintedChar = 16
/**
 * Highest charge to an evaluation for printing a value. decision: data of only small members really
 * costs more, which the request pays, but the default fingerprint prints the data once, and that
 * must work for any data.
 */
const printingStepsMax = evaluationStepsMax - 400_000
/** For walking text with other characters than ASCII, for which there is no native shortcut. */
const stepsPerWalkedChar = 3

const outputTooLong = (run: Run): ApiError =>
  failed(run, `the expression yields more than ${tokenDataBytesMax} bytes`)

/** @throws ApiError `invalid_request` for text longer than an output may be */
export const assertTextFits = (length: number, run: Run): void => {
  if (length > tokenDataBytesMax) throw outputTooLong(run)
}

/** Pays for text of that length before it is made. @throws ApiError when it would be too long */
export const spendOnText = (run: Run, length: number): void => {
  assertTextFits(length, run)
  spend(run, 8 + length)
}

/** Pays for a walk over the code points of a text. */
export const spendOnWalk = (run: Run, text: string): void => {
  if (!isPlain(text)) spend(run, text.length * stepsPerWalkedChar)
}

/**
 * Pays for each value that it measures: a list of one item may hold any number of them.
 * @throws ApiError `invalid_request` when a value is larger than the data of a token may be. Called
 *   where values are composed; a value picked from the data cannot be too large.
 */
export const assertOutputFits = (value: Json, run: Run): void => {
  // No UTF-16 unit needs more than three bytes, and most outputs are short.
  if (typeof value === 'string' && value.length * 3 <= tokenDataBytesMax) return
  const pay: Pay = steps => spend(run, steps)
  const size =
    typeof value === 'string'
      ? Buffer.byteLength(value)
      : measureJson(value, tokenDataBytesMax, pay)
  if (size > tokenDataBytesMax) throw outputTooLong(run)
}

/** The parser allows bytes only into encoders. */
export const jsonOf = (value: FilterValue): Json => {
  invariant(!(value instanceof Uint8Array), 'bytes stay between hmac and its encoder')
  return value
}

/** @throws ApiError when printing is too expensive; with a full budget, nothing is measured */
const assertPrintable = (run: Run, value: Json): void => {
  if (run.stepsLeft >= printingStepsMax) return
  const affordable = run.stepsLeft / stepsPerPrintedChar
  if (measureJson(value, affordable) > affordable) spend(run, run.stepsLeft + 1)
}

/** Prints a value as it is, which the request pays. @throws ApiError `invalid_request` */
export const printPaid = (value: Json, { meter }: Run): string => {
  if (meter !== undefined) spendOnRequest(meter, stepsToPrint(value))
  return printJson(value)
}

const printCompound = (value: Json, run: Run): string => {
  assertPrintable(run, value)
  const isPrinted = hasCanonicalText(value)
  const text = printCanonicalJson(value)
  const paid = Math.min(text.length * stepsPerPrintedChar, printingStepsMax)
  spend(run, paid)
  if (!isPrinted && run.meter !== undefined) {
    spendOnRequest(run.meter, Math.max(0, stepsToPrint(value) - paid))
    keepCanonicalText(value, text)
  }
  assertTextFits(text.length, run)
  return text
}

/** Text of a scalar; undefined for null, arrays and objects. */
export const scalarTextOf = (value: Json): string | undefined => {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return isExactNumber(value) ? value.numberText : undefined
}

/** Text as Liquid renders it: null is empty, arrays and objects are canonical JSON. */
export const textOf = (value: FilterValue, run: Run): string => {
  const json = jsonOf(value)
  if (json === null) return ''
  const text = scalarTextOf(json)
  if (text === undefined) return printCompound(json, run)
  spendOnText(run, text.length)
  return text
}

/** Canonical JSON text; a bare string stays unquoted. */
export const canonicalTextOf = (value: Json, run: Run): string =>
  typeof value === 'string' ? textOf(value, run) : printCompound(value, run)

/** Text of a scalar, for filters that hide or draw: an array or object is a mistake there. */
export const demandText = (value: FilterValue, run: Run): string => {
  const text = scalarTextOf(jsonOf(value))
  if (text === undefined) throw failed(run, 'expected text, a number or a boolean before a filter')
  spendOnText(run, text.length)
  return text
}

/** Liquid's list: null is empty, an array is itself, anything else a list of one. */
export const listOf = (value: FilterValue, run: Run): readonly Json[] => {
  const json = jsonOf(value)
  if (json === null) return []
  if (!isJsonArray(json)) return [json]
  spend(run, 8 + json.length * 4)
  return json
}

/** Steps for each character of a number that no double holds. */
const stepsPerDigit = 8

/** Pays for reading the digits of a number. */
export const spendOnNumber = (run: Run, value: JsonNumber): void => {
  if (typeof value !== 'number') spend(run, value.numberText.length * stepsPerDigit)
}

/**
 * Liquid's number: text that is not a number counts as 0, as do null, arrays and objects.
 * @throws ApiError when no double holds it
 */
export const numberOf = (value: FilterValue, run: Run): number => {
  const json = jsonOf(value)
  if (typeof json === 'number') return json
  if (isExactNumber(json)) {
    spendOnNumber(run, json)
    const double = heldDouble(json)
    if (double === undefined) throw failed(run, 'arithmetic would round this number')
    return double
  }
  const text = scalarTextOf(json)
  if (text === undefined) return 0
  if (typeof json === 'boolean') return Number(json)
  spendOnText(run, text.length)
  return Number(text) || 0
}

/** An integer argument. @throws ApiError for anything else */
export const integerOf = (value: FilterValue, run: Run): number => {
  const double = numberOf(value, run)
  const isNumeric = value !== null && typeof value !== 'boolean'
  if (isNumeric && Number.isSafeInteger(double)) return double
  throw failed(run, 'expected an integer argument')
}
