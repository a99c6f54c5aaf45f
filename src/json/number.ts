/**
 * One text for each decimal value: numbers of equal value print equally, whatever way they came.
 *
 * The layout of the digits is that of ECMAScript, so a number whose value is that of a double's
 * shortest text prints as that text: 1.0 as 1, 1E2 as 100, -0 as 0. No digit is ever lost.
 * Source: ECMA-262 Number::toString steps 6 to 12, as RFC 8785 section 3.2.2.3 asks.
 * @module
 */
import { invariant } from '../errors.ts'

/** The value is 0.`digits` times ten to the power of `scale`. */
type Decimal = { readonly sign: string; readonly digits: string; readonly scale: bigint }

const numberShape = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

const countZeros = (digits: string, from: number, step: 1 | -1): number => {
  let count = 0
  while (digits[from + count * step] === '0') count += 1
  return count
}

/** A BigInt scale, because a text may hold an exponent of any length. */
const decomposeNumber = (numberText: string): Decimal => {
  const match = numberShape.exec(numberText)
  invariant(match, 'an exact number holds the text of a JSON number')
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = match
  const digits = integer + fraction
  const leading = countZeros(digits, 0, 1)
  const trailing = leading === digits.length ? 0 : countZeros(digits, digits.length - 1, -1)
  return {
    sign,
    digits: digits.slice(leading, digits.length - trailing),
    scale: BigInt(exponent) + BigInt(integer.length - leading),
  }
}

const printScientific = (digits: string, scale: bigint): string => {
  const exponent = scale - 1n
  const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`
  return `${mantissa}e${exponent < 0n ? '-' : '+'}${exponent < 0n ? -exponent : exponent}`
}

const printMagnitude = (digits: string, bigScale: bigint): string => {
  if (bigScale > 21n || bigScale <= -6n) return printScientific(digits, bigScale)
  const scale = Number(bigScale)
  if (scale <= 0) return `0.${'0'.repeat(-scale)}${digits}`
  if (scale >= digits.length) return digits.padEnd(scale, '0')
  return `${digits.slice(0, scale)}.${digits.slice(scale)}`
}

/**
 * @param numberText  a valid JSON number
 * @returns the one text of its exact decimal value, again a valid JSON number
 */
export const canonicalNumberText = (numberText: string): string => {
  const { sign, digits, scale } = decomposeNumber(numberText)
  return digits === '' ? '0' : sign + printMagnitude(digits, scale)
}
