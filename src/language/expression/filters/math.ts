/**
 * Liquid's arithmetic, in doubles. What is not a number counts as 0, as in Liquid.
 *
 * A result that JSON cannot hold (division by zero, overflow) is an error, and a number that no
 * double holds exactly is refused rather than rounded.
 * @module
 */
import { resolve } from '../resolve.ts'
import { failed, type Run } from '../run.ts'
import { numberOf } from '../values.ts'
import {
  anyValue,
  flagAt,
  flagRule,
  sourceAt,
  type FilterDefinition,
  type Step,
} from './definition.ts'

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

/** The sign is that of the divisor. */
export const modulo = binary((value, argument) => ((value % argument) + argument) % argument)

/** A second argument `true` asks for whole numbers, rounded down. */
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

/** Half away from zero, at `places` behind the point. */
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
