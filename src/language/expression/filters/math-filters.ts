/**
 * Filters for arithmetic, and filters that change a type.
 * @module
 */
import {
  resolve,
  failed,
  type Run,
  numberOf,
  canonicalTextOf,
  jsonOf,
  scalarTextOf,
} from '../run.ts'
import {
  anyValue,
  flagAt,
  flagRule,
  sourceAt,
  type FilterDefinition,
  type Step,
} from './definition.ts'
import { jsonNumberCharsMax } from '../../../limits/limits.ts'
import { isExactNumber } from '../../../lib/json/json.ts'
import { numberFrom } from '../scan-expression.ts'

/*
 * Liquid's arithmetic, in doubles. Anything but a number counts as 0, as in Liquid.
 *
 * A result that JSON cannot hold (division by zero, overflow) is an error, and a number that no
 * double holds exactly is refused rather than rounded.
 */

const finite = (result: number, run: Run): number => {
  if (!Number.isFinite(result)) throw failed(run, 'the arithmetic has no finite result')
  // Adding zero turns -0 into 0.
  return result + 0
}

const unary = (apply: (value: number) => number): FilterDefinition => ({
  required: [],
  bind: () => (input, run) => finite(apply(numberOf(input, run)), run),
})

const binary = (apply: (value: number, argument: number) => number): FilterDefinition => ({
  required: [anyValue],
  bind: operands => {
    const argument = sourceAt(operands, 0)
    return (input, run) => finite(apply(numberOf(input, run), numberOf(argument(run), run)), run)
  },
})

export const abs = unary(Math.abs)

export const ceil = unary(Math.ceil)

export const floor = unary(Math.floor)

export const atLeast = binary(Math.max)

export const atMost = binary(Math.min)

export const plus = binary((value, argument) => value + argument)

export const minus = binary((value, argument) => value - argument)

export const times = binary((value, argument) => value * argument)

/** The result has the sign of the divisor. */
export const modulo = binary((value, argument) => ((value % argument) + argument) % argument)

/** A second argument `true` requests whole numbers, rounded down. */
export const dividedBy: FilterDefinition = {
  required: [anyValue],
  optional: [flagRule],
  bind: (operands): Step => {
    const argument = sourceAt(operands, 0)
    const isWhole = flagAt(operands, 1)
    return (input, run) => {
      const quotient = numberOf(input, run) / numberOf(argument(run), run)
      return finite(isWhole ? Math.floor(quotient) : quotient, run)
    }
  },
}

/** Moves the decimal point through the decimal text, because 1.005 * 100 is not 100.5. */
const shiftPoint = (value: number, places: number): number => {
  const [mantissa, power = '0'] = String(value).split('e')
  return Number(`${mantissa}e${Number(power) + places}`)
}

/** Rounds half away from zero, to `places` decimals. */
const roundTo = (value: number, places: number): number => {
  const scaled = shiftPoint(Math.abs(value), places)
  // A double this large has no digits left to round.
  if (!(scaled <= Number.MAX_SAFE_INTEGER)) return value
  return Math.sign(value) * shiftPoint(Math.round(scaled), -places)
}

export const round: FilterDefinition = {
  required: [],
  optional: [anyValue],
  bind: operands => {
    const [places = () => 0] = operands.map(resolve)
    return (input, run) => finite(roundTo(numberOf(input, run), numberOf(places(run), run)), run)
  },
}

/*
 * Filters that change the type: `to_string`, `to_number`, `to_boolean`, `stringify`,
 * `json_stringify`. Null stays null; an impossible cast is an error.
 */

/** A plain decimal number: no spaces, no hexadecimal, no plus. */
const decimal = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/** As a number, an account number would lose its leading zeros: JSON has none. */
const leadingZeros = /^(-?)0+(?=[0-9])/

export const toText: FilterDefinition = {
  required: [],
  bind: () => (input, run) => {
    const value = jsonOf(input)
    if (value === null) return null
    const text = scalarTextOf(value)
    if (text === undefined) throw failed(run, 'expected a value that can be cast to a string')
    return text
  },
}

export const toNumber: FilterDefinition = {
  required: [],
  bind: () => (input, run) => {
    const value = jsonOf(input)
    if (value === null || typeof value === 'number' || isExactNumber(value)) return value
    const text = typeof value === 'string' && value.length <= jsonNumberCharsMax ? value : ''
    const number = decimal.test(text) ? numberFrom(text.replace(leadingZeros, '$1')) : undefined
    if (number === undefined) throw failed(run, 'expected a value that can be cast to a number')
    return number
  },
}

export const toBoolean: FilterDefinition = {
  required: [],
  bind: () => (input, run) => {
    const value = jsonOf(input)
    if (value === null || typeof value === 'boolean') return value
    if (value === 'true') return true
    if (value === 'false') return false
    throw failed(run, 'expected a value that can be cast to a boolean')
  },
}

/** Canonical JSON text, so that the order of members does not matter (hardening H105). */
export const stringify: FilterDefinition = {
  required: [],
  bind: () => (input, run) => {
    const value = jsonOf(input)
    return value === null ? null : canonicalTextOf(value, run)
  },
}
