/**
 * Values between filters: sizes, code points and conversions.
 * @module
 */
import {
  isExactNumber,
  isJsonArray,
  isJsonObject,
  type Json,
  printCanonicalJson,
} from '../../json/json.ts'
import { invariant, type ApiError } from '../../errors.ts'
import { evaluationStepsMax, tokenDataBytesMax } from '../../limits.ts'
import { heldDouble, type JsonNumber } from './numbers.ts'
import { failed, spend, type Run } from './run.ts'

/*
 * How large a value is as JSON, without printing it.
 */

const scalarSize = (value: Json): number => {
  if (typeof value === 'string') return value.length + 2
  return isExactNumber(value) ? value.numberText.length : String(value).length
}

/**
 * The characters of the value's JSON text, escapes not counted. Stops as soon as there are more
 * than `most`, so that a value which names one large part many times costs no more than that.
 * @returns at most the true size; more than `most` exactly when the true size is
 */
export const measureJson = (value: Json, most: number): number => {
  let size = 1
  if (isJsonArray(value)) {
    for (const item of value) {
      size += measureJson(item, most - size) + 1
      if (size > most) break
    }
    return value.length === 0 ? 2 : size
  }
  if (isJsonObject(value)) {
    for (const [name, member] of value) {
      size += name.length + 4
      size += measureJson(member, most - size)
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

/** Shorter text is walked faster than it is handed to a native function. */
const walkedCharsMax = 32

/** Whether the text is long and ASCII: its indexes need no walk. The native count tells at once. */
const isPlain = (text: string): boolean =>
  text.length > walkedCharsMax && Buffer.byteLength(text) === text.length

/** The number of code points. */
export const countCodePoints = (text: string): number => {
  if (isPlain(text)) return text.length
  let pairs = 0
  for (let index = 0; index < text.length; index += 1) {
    if (isHighSurrogate(text.charCodeAt(index))) pairs += 1
  }
  return text.length - pairs
}

/** The index behind the first `count` code points; the length of the text when it has fewer. */
export const indexAfter = (text: string, count: number): number => {
  if (count > walkedCharsMax && isPlain(text)) return Math.min(count, text.length)
  let index = 0
  for (let left = count; left > 0 && index < text.length; left -= 1) {
    index += isHighSurrogate(text.charCodeAt(index)) ? 2 : 1
  }
  return index
}

/** The index of the last `count` code points; 0 when the text has fewer. */
export const indexBeforeLast = (text: string, count: number): number => {
  if (count > walkedCharsMax && isPlain(text)) return Math.max(0, text.length - count)
  let index = text.length
  for (let left = count; left > 0 && index > 0; left -= 1) {
    index -= isLowSurrogate(text.charCodeAt(index - 1)) ? 2 : 1
  }
  return index
}

/*
 * What a filter makes of whatever comes in: the conversions that all filters share.
 *
 * decision: an array or object as text is its canonical JSON text, never Liquid's joined items,
 * because `["a","b"]` and `["ab"]` must not fingerprint alike.
 */

/** What flows between filters. Bytes live only between `hmac` and its encoder. */
export type Value = Json | Uint8Array

const stepsPerPrintedChar = 16
/**
 * No value costs more to print than this. decision: data that is all small members costs more in
 * truth, but the default fingerprint prints the data once, and that must go for any data.
 */
const printingStepsMax = evaluationStepsMax - 400_000
/** For walking text that is not ASCII, for which there is no native short cut. */
const stepsPerWalkedChar = 3

const outputTooLong = (run: Run): ApiError =>
  failed(run, `the expression yields more than ${tokenDataBytesMax} bytes`)

/** Throws ApiError `invalid_request` for text that would be longer than an output may be. */
export const assertTextFits = (length: number, run: Run): void => {
  if (length > tokenDataBytesMax) throw outputTooLong(run)
}

/** Pays for text of that length before it is made. Throws ApiError when it would be too long. */
export const spendOnText = (run: Run, length: number): void => {
  assertTextFits(length, run)
  spend(run, 8 + length)
}

/** Pays for a walk over the code points of a text. */
export const spendOnWalk = (run: Run, text: string): void => {
  if (!isPlain(text)) spend(run, text.length * stepsPerWalkedChar)
}

/**
 * Throws ApiError `invalid_request` when a value is larger than the data of a token may be. Called
 * where values are put together; what is only picked from the data cannot be too large.
 */
export const assertOutputFits = (value: Json, run: Run): void => {
  // No UTF-16 unit needs more than three bytes, and most outputs are short.
  if (typeof value === 'string' && value.length * 3 <= tokenDataBytesMax) return
  const size =
    typeof value === 'string' ? Buffer.byteLength(value) : measureJson(value, tokenDataBytesMax)
  if (size > tokenDataBytesMax) throw outputTooLong(run)
}

/** The parser lets bytes go into encoders only. */
export const jsonOf = (value: Value): Json => {
  invariant(!(value instanceof Uint8Array), 'bytes stay between hmac and its encoder')
  return value
}

/** @throws ApiError when printing cannot be paid for; while all is left, nothing is measured */
const assertPrintable = (run: Run, value: Json): void => {
  if (run.stepsLeft >= printingStepsMax) return
  const affordable = run.stepsLeft / stepsPerPrintedChar
  if (measureJson(value, affordable) > affordable) spend(run, run.stepsLeft + 1)
}

const printCompound = (value: Json, run: Run): string => {
  assertPrintable(run, value)
  const text = printCanonicalJson(value)
  spend(run, Math.min(text.length * stepsPerPrintedChar, printingStepsMax))
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
export const textOf = (value: Value, run: Run): string => {
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
export const demandText = (value: Value, run: Run): string => {
  const text = scalarTextOf(jsonOf(value))
  if (text === undefined) throw failed(run, 'expected text, a number or a boolean before a filter')
  spendOnText(run, text.length)
  return text
}

/** Liquid's list: null is empty, an array itself, anything else a list of one. */
export const listOf = (value: Value, run: Run): readonly Json[] => {
  const json = jsonOf(value)
  if (json === null) return []
  if (!isJsonArray(json)) return [json]
  spend(run, 8 + json.length * 4)
  return json
}

/** Steps for each character of a number that no double holds. */
const stepsPerDigit = 8

/** Pays for a look at the digits of a number. */
export const spendOnNumber = (run: Run, value: JsonNumber): void => {
  if (typeof value !== 'number') spend(run, value.numberText.length * stepsPerDigit)
}

/**
 * Liquid's number: text that is not a number counts as 0, as do null, arrays and objects.
 * @throws ApiError when no double holds it
 */
export const numberOf = (value: Value, run: Run): number => {
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
export const integerOf = (value: Value, run: Run): number => {
  const double = numberOf(value, run)
  const isNumeric = value !== null && typeof value !== 'boolean'
  if (isNumeric && Number.isSafeInteger(double)) return double
  throw failed(run, 'expected an integer argument')
}
