/**
 * What a mask of a card shows, for whoever may not see all of it: at most the BIN and the last four
 * digits of the number, never the code, and after a change no more than before.
 *
 * It goes by the form of the outputs, so that a verdict holds for every card whose number has that
 * many digits, whatever comes to stand beside the number. What the form does not tell is refused.
 * Source: PCI DSS 3.3.1, 3.4.1; contract section 6.
 * @module
 */
import { binDigitsOf, lastDigits } from '../language/expression/filters/card.ts'
import type { Meter } from '../language/expression/run.ts'
import type { Output, PathStep } from '../language/expression/tree.ts'
import { maskNumberOutputsMax } from '../limits.ts'
import type { DigitsPlace } from './hidden-digits.ts'
import type { Json } from '../json/json.ts'
import { outputsOf, pathsOf } from './mask-outputs.ts'
import { placesShown } from './number-places.ts'
import { TextMap, type ReadonlyTextMap } from '../text/map.ts'

/** A type whose data holds the number of a card, as the guard sees it. */
export interface CardShape {
  /** Where the number stands. */
  readonly place: DigitsPlace
  /** Whether such a path reads of the number or of the code, or may. */
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

/** What of a mask reads the number or the code, or may; `undefined` where that is too much. */
const protectedOutputs = (shape: CardShape, mask: Json): readonly Output[] | undefined => {
  const outputs = outputsOf(mask).filter(output => !isFree(shape, output))
  return outputs.length > maskNumberOutputsMax ? undefined : outputs
}

/** Of an output that reads the number alone; `undefined` where its form does not tell. */
const numberPlaces = (
  { place, dataWith }: CardShape,
  output: Output,
  length: number,
  meter?: Meter,
): ReadonlySet<number> | undefined => {
  const { source } = output
  const number = place === 'whole' ? [] : [place.member]
  const isOfNumber = source.kind === 'path' && isPath(source.steps, number)
  return isOfNumber ? placesShown(output, length, dataWith, meter) : undefined
}

/**
 * The places of a number of that length that a mask shows, from 0.
 * @returns `undefined` where an output reads the number, or may, in a form that does not tell
 */
export const shownPlaces = (
  shape: CardShape,
  mask: Json,
  length: number,
  meter?: Meter,
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

/** Whether a mask shows of a number of that length its BIN and last four at most, and no code. */
export const showsEndsAtMost = (
  shape: CardShape,
  mask: Json,
  length: number,
  meter?: Meter,
): boolean => {
  const shown = shownPlaces(shape, mask, length, meter)
  const isAtEnd = (place: number) => place < binDigitsOf(length) || place >= length - lastDigits
  return shown !== undefined && [...shown].every(isAtEnd)
}

/** Outputs as texts: they are of the caller, so no hash is taken of them. */
const textsOf = (outputs: readonly Output[]): ReadonlyTextMap<true> =>
  new TextMap(outputs.map(output => [JSON.stringify(output), true] as const))

/** The path itself as an output, without a filter. */
const bareText = (steps: readonly PathStep[]): string =>
  JSON.stringify({ source: { kind: 'path', root: 'data', steps }, filters: [] } satisfies Output)

/** Whether the path, or what it leads through, stands bare among the outputs. */
const isShownWhole = (texts: ReadonlyTextMap<true>, steps: readonly PathStep[]): boolean =>
  Array.from({ length: steps.length + 1 }, (_, count) => steps.slice(0, count)).some(part =>
    texts.has(bareText(part)),
  )

/**
 * Whether a mask shows nothing that another one does not show: each of its outputs stands in that
 * one too, or is made of what is shown there whole, or shows digits that are shown there.
 * @param standing `null` where nothing was shown
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
