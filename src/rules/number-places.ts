/**
 * Which places of a card number an output shows, as far as its form proves it.
 *
 * Probing finds what one changed digit changes, and misses what takes two of them, a comparison, or
 * another member that is changed later. So only filters count here that pick by place alone: with
 * constants for arguments, each character of what comes out is a constant or a copy of the digit at
 * one place, whatever the digits are. Anything else cannot be told.
 * Source: contract section 6; PCI DSS 3.4.1.
 * @module
 */
import { countDigits } from '../text/digits.ts'
import { bindTemplate } from '../language/expression/compile.ts'
import { assertAffordable, startRun, type Meter } from '../language/expression/run.ts'
import type { FilterCall, Operand, Output } from '../language/expression/tree.ts'
import { scalarTextOf } from '../language/expression/values.ts'
import { placeProbeStepsMax } from '../limits.ts'
import type { Json } from '../json/json.ts'

const none = -1

/** By name: which argument is compared with characters of the input, if any is. */
const comparedAt: ReadonlyMap<string, number> = new Map([
  ['append', none],
  ['card_bin', none],
  ['card_mask', 3],
  ['last4', none],
  ['pad_left', none],
  ['pad_right', none],
  ['prepend', none],
  ['remove', 0],
  ['remove_first', 0],
  ['replace', 0],
  ['replace_first', 0],
  ['reveal', 3],
  ['reveal_last', none],
  ['slice', none],
  ['to_string', none],
  ['truncate', none],
])

/** A text without digits is found among constants alone: it tells nothing of the number. */
const isWithoutDigits = (operand: Operand | undefined): boolean =>
  operand?.kind !== 'literal' || countDigits(scalarTextOf(operand.value) ?? '') === 0

const picksByPlace = ({ name, operands }: FilterCall): boolean => {
  const compared = comparedAt.get(name)
  return (
    compared !== undefined &&
    operands.every(({ kind }) => kind === 'literal') &&
    isWithoutDigits(operands[compared])
  )
}

const codeBase = 5

const numberOf = (length: number, digitOf: (place: number) => number): string =>
  Array.from({ length }, (_, place) => digitOf(place)).join('')

/**
 * By three numbers that tell all places apart: a digit that is shown reads 0 in the first of them
 * and 1 to 5 in the others, and a constant the same in all. 25 places are more than a card has.
 */
const readPlaces = (zeros: string, low: string, high: string): ReadonlySet<number> => {
  const places = new Set<number>()
  for (let at = 0; at < zeros.length; at += 1) {
    if (zeros[at] === low[at]) continue
    places.add(Number(low[at]) - 1 + (Number(high[at]) - 1) * codeBase)
  }
  return places
}

/**
 * @param output   whose source is the number, and nothing else of the token
 * @param length   of the number, in digits
 * @param dataWith data in which that number stands
 * @returns places from 0, or `undefined` where the form of the output does not tell, or takes more
 *   work than is worth knowing
 */
export const placesShown = (
  output: Output,
  length: number,
  dataWith: (digits: string) => Json,
  meter?: Meter,
): ReadonlySet<number> | undefined => {
  if (!output.filters.every(picksByPlace)) return undefined
  const template = bindTemplate([output])
  let stepsLeft = placeProbeStepsMax
  const on = (digitOf: (place: number) => number): string => {
    const data = dataWith(numberOf(length, digitOf))
    const run = { ...startRun({ at: 'mask', data, meter }), stepsLeft }
    try {
      return String(template.evaluate(run))
    } catch {
      assertAffordable(meter)
      // Else it fails on every number of that length, and a mask that fails shows nothing.
      return ''
    } finally {
      stepsLeft = run.stepsLeft
    }
  }
  const zeros = on(() => 0)
  const low = on(place => 1 + (place % codeBase))
  const high = on(place => 1 + Math.floor(place / codeBase))
  return stepsLeft < 0 ? undefined : readPlaces(zeros, low, high)
}
