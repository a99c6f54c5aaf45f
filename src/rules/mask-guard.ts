/**
 * The guard of masks: the digits of a card that a mask shows, and whether a change shows more.
 * @module
 */
import { countDigits } from '../lib/bytes.ts'
import { bindTemplate, compileTemplate } from '../language/expression/compile.ts'
import { assertAffordable, startRun, scalarTextOf } from '../language/expression/run.ts'
import type { StepMeter } from '../lib/work.ts'
import type { FilterCall, Operand, Output, Path, PathStep } from '../language/expression/tree.ts'
import { placeProbeStepsMax, maskNumberOutputsMax } from '../limits/limits.ts'
import { type Json, isJsonArray, isJsonObject } from '../lib/json/json.ts'
import { binDigitsOf, lastDigits } from '../language/expression/filters/card-filters.ts'
import type { DigitsPlace } from './hidden-digits.ts'
import { TextMap, type ReadonlyTextMap } from '../lib/maps.ts'

/*
 * Places of a card number that an output shows, as far as its form proves it.
 *
 * Probing finds the effect of one changed digit, but not of two together, of a comparison, or of
 * another member that changes later. So only filters that pick by place count here: with constant
 * arguments, each output character is a constant or a copy of the digit at one place, whatever the
 * digits are. The places of any other output are unknown. Source: contract section 6; PCI DSS
 * 3.4.1.
 */

const none = -1

/** By name: index of the argument that is compared with the input's characters, if any is. */
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

/** A text without digits matches only constants, so it reveals nothing of the number. */
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
 * Recovers places from three numbers that tell them all apart: a shown digit reads 0 in the first
 * and 1 to 5 in the others, a constant the same in all. 25 places are more than a card has.
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
 * @param output   its source is the number, and nothing else of the token
 * @param length   of the number, in digits
 * @param dataWith makes data that holds that number
 * @returns places from 0, or `undefined` if the output's form does not prove them, or proving them
 *   takes too much work
 */
const placesShown = (
  output: Output,
  length: number,
  dataWith: (digits: string) => Json,
  meter?: StepMeter,
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
      // The mask then fails on every number of that length, and a failing mask shows nothing.
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

/*
 * The outputs of a mask, and the parts of the data that they read.
 */

/** Outputs of all texts of a mask, in order. Constants have none. */
const outputsOf = (mask: Json): readonly Output[] => {
  if (typeof mask === 'string') {
    const { parts } = compileTemplate(mask, 'mask', 'mask')
    return parts.filter(part => typeof part !== 'string')
  }
  if (isJsonArray(mask)) return mask.flatMap(outputsOf)
  return isJsonObject(mask) ? Array.from(mask.values()).flatMap(outputsOf) : []
}

const expiry: readonly Path[] = ['expiration_month', 'expiration_year'].map(name => ({
  kind: 'path',
  root: 'data',
  steps: [name],
}))

/** Every path of an output. `card_exp` reads two members of its input, and no others. */
const pathsOf = ({ source, filters }: Output): readonly Path[] => {
  const [first] = filters
  const isExpiry = first?.name === 'card_exp'
  const operands = [source, ...filters.flatMap(call => call.operands)]
  return operands.flatMap(operand => {
    if (operand.kind === 'literal') return []
    if (!isExpiry || operand !== source) return [operand]
    return expiry.map(({ steps, ...path }) => ({ ...path, steps: [...operand.steps, ...steps] }))
  })
}

/*
 * Limits of a card's mask for a caller who may not see everything: at most the BIN and the last
 * four digits of the number, never the code, and after a change no more than before.
 *
 * It judges the form of the outputs, so a verdict holds for every card whose number has that many
 * digits, whatever else its data holds. A form that proves nothing is refused. Source: PCI DSS
 * 3.3.1, 3.4.1; contract section 6.
 */

/** A type whose data holds a card number, from the guard's view. */
export interface CardShape {
  /** Place of the number. */
  readonly place: DigitsPlace
  /** True if a path reads the number or the code, or may. */
  readonly isProtected: (steps: readonly PathStep[]) => boolean
  readonly dataWith: (number: string) => Json
}

const shapes: ReadonlyMap<string, CardShape> = new Map<string, CardShape>([
  [
    'card',
    {
      place: { member: 'number' },
      isProtected: ([first]) => first === undefined || first === 'number' || first === 'cvc',
      dataWith: number => new Map([['number', number]]),
    },
  ],
  [
    'card_number',
    {
      place: 'whole',
      isProtected: ([first]) => first === undefined,
      dataWith: number => number,
    },
  ],
])

/** @returns `undefined` for a type that holds no card */
export const cardShapeOf = (typeName: string): CardShape | undefined => shapes.get(typeName)

const isPath = (steps: readonly PathStep[], path: readonly PathStep[]): boolean =>
  steps.length === path.length && steps.every((step, at) => step === path[at])

const isFree = (shape: CardShape, output: Output): boolean =>
  !pathsOf(output).some(({ steps }) => shape.isProtected(steps))

/** Outputs of a mask that read the number or the code, or may; `undefined` if too many. */
const protectedOutputs = (shape: CardShape, mask: Json): readonly Output[] | undefined => {
  const outputs = outputsOf(mask).filter(output => !isFree(shape, output))
  return outputs.length > maskNumberOutputsMax ? undefined : outputs
}

/** Places shown by an output that reads only the number; `undefined` if its form proves none. */
const numberPlaces = (
  { place, dataWith }: CardShape,
  output: Output,
  length: number,
  meter?: StepMeter,
): ReadonlySet<number> | undefined => {
  const { source } = output
  const number = place === 'whole' ? [] : [place.member]
  const isOfNumber = source.kind === 'path' && isPath(source.steps, number)
  return isOfNumber ? placesShown(output, length, dataWith, meter) : undefined
}

/**
 * The places of a number of that length that a mask shows, from 0.
 * @returns `undefined` if an output reads the number, or may, in a form that proves nothing
 */
export const shownPlaces = (
  shape: CardShape,
  mask: Json,
  length: number,
  meter?: StepMeter,
): ReadonlySet<number> | undefined => {
  const outputs = protectedOutputs(shape, mask)
  if (outputs === undefined) return undefined
  const shown = new Set<number>()
  for (const output of outputs) {
    const places = numberPlaces(shape, output, length, meter)
    if (places === undefined) return undefined
    for (const place of places) shown.add(place)
  }
  return shown
}

/** True if a mask shows at most BIN and last four of a number of that length, and no code. */
export const showsEndsAtMost = (
  shape: CardShape,
  mask: Json,
  length: number,
  meter?: StepMeter,
): boolean => {
  const shown = shownPlaces(shape, mask, length, meter)
  const isAtEnd = (place: number) => place < binDigitsOf(length) || place >= length - lastDigits
  return shown !== undefined && [...shown].every(isAtEnd)
}

/** Outputs as texts: callers choose them, so they are not hashed. */
const textsOf = (outputs: readonly Output[]): ReadonlyTextMap<true> =>
  new TextMap(outputs.map(output => [JSON.stringify(output), true] as const))

/** The path itself as an output, without a filter. */
const bareText = (steps: readonly PathStep[]): string =>
  JSON.stringify({ source: { kind: 'path', root: 'data', steps }, filters: [] } satisfies Output)

/** True if the path, or one that leads to it, is an output without filters. */
const isShownWhole = (texts: ReadonlyTextMap<true>, steps: readonly PathStep[]): boolean =>
  Array.from({ length: steps.length + 1 }, (_, count) => steps.slice(0, count)).some(part =>
    texts.has(bareText(part)),
  )

/**
 * True if a mask shows nothing beyond another one: each of its outputs is also there, or is made of
 * something shown whole there, or shows only digits that are shown there.
 * @param standing the current mask; `null` if nothing was shown
 */
export const showsNoMore = (
  shape: CardShape,
  mask: Json,
  standing: Json,
  length: number,
): boolean => {
  if (protectedOutputs(shape, mask) === undefined) return false
  const texts = textsOf(outputsOf(standing))
  const telling = protectedOutputs(shape, standing) ?? []
  const shown = new Set(telling.flatMap(each => [...(numberPlaces(shape, each, length) ?? [])]))
  return outputsOf(mask).every(output => {
    if (texts.has(JSON.stringify(output))) return true
    if (pathsOf(output).every(({ steps }) => isShownWhole(texts, steps))) return true
    const places = numberPlaces(shape, output, length)
    return places !== undefined && [...places].every(place => shown.has(place))
  })
}
