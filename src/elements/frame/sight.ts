/**
 * Typing in a field that is not wholly seen. A browser scrolls the page around the frame to the
 * caret after each key, so a page which shows the field through a slit could read there what is
 * typed. Texts that a script sets move nothing.
 * @module
 */
import type { Happening, Input } from '../dom.ts'
import { fieldHiddenPxMax, fieldSightSteps } from '../limits.ts'

interface Extent {
  readonly width: number
  readonly height: number
}

interface Sighting {
  readonly boundingClientRect: Extent
  readonly intersectionRect: Extent
}

declare const IntersectionObserver: new (
  then: (sightings: readonly Sighting[]) => void,
  options: { readonly threshold: readonly number[] },
) => { observe(element: Input): void }

declare const InputEvent: new (name: string, facts: { readonly inputType: string }) => object

const threshold = Array.from({ length: fieldSightSteps + 1 }, (_, at) => at / fieldSightSteps)

const isAsLong = (all: number, seen: number): boolean =>
  seen >= all - fieldHiddenPxMax && seen < all + 1

/** More than all is seen where a page turns the frame: it may hide an end of the field then. */
const isWhole = ({ boundingClientRect: all, intersectionRect: seen }: Sighting): boolean =>
  isAsLong(all.width, seen.width) && isAsLong(all.height, seen.height)

/** @returns a function that tells if all of the field is seen, as far as the browser has told */
function sightOf(input: Input): () => boolean {
  let isSeen = true
  const observer = new IntersectionObserver(
    sightings => {
      const last = sightings.at(-1)
      if (last !== undefined) isSeen = isWhole(last)
    },
    { threshold },
  )
  observer.observe(input)
  return () => isSeen
}

/** By the field, never by its caret. */
export const bringIntoSight = (input: Input): void =>
  input.scrollIntoView({ block: 'nearest', inline: 'nearest' })

/** Some characters take two UTF-16 units. */
const unitsBefore = (text: string): number => Array.from(text.slice(-2)).at(-1)?.length ?? 0
const unitsBehind = (text: string): number => Array.from(text.slice(0, 2))[0]?.length ?? 0

/** The browser keeps the caret in view, within the field alone, if it edits by itself. */
function follow(input: Input): void {
  if (input.selectionEnd !== input.value.length) return
  input.scrollLeft = input.scrollWidth
  // A text from right to left has its end on the other side, and Chromium a pixel of it here.
  if (input.scrollLeft <= 1) input.scrollLeft = -input.scrollWidth
}

/** Edits as the browser would, where a text is entered or a character deleted. */
function edit(input: Input, { data, inputType = '' }: Happening): void {
  const { value } = input
  const from = input.selectionStart ?? value.length
  const to = input.selectionEnd ?? from
  const isRange = from < to
  if (typeof data === 'string') input.setRangeText(data, from, to, 'end')
  else if (inputType === 'deleteContentBackward') {
    const units = isRange ? 0 : unitsBefore(value.slice(0, from))
    input.setRangeText('', from - units, to, 'end')
  } else if (inputType === 'deleteContentForward') {
    input.setRangeText('', from, isRange ? to : to + unitsBehind(value.slice(to)), 'end')
  } else return
  input.dispatchEvent(new InputEvent('input', { inputType }))
  follow(input)
}

/** Usual edits. A page may hide a field between two pictures, of which no browser tells. */
const isUsual = ({ data, inputType = '' }: Happening): boolean =>
  (typeof data === 'string' && /^insert(?:Text|FromPaste)$/.test(inputType)) ||
  /^deleteContent(?:Back|For)ward$/.test(inputType)

const caretKeys = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End']

/** @param kept the text of the field before its last edit */
export function typeUnseen(input: Input, kept: () => string): void {
  const isSeen = sightOf(input)
  /** Once for each time: a page that hides the field again would count the keys. */
  let isBrought = false
  const bring = (): void => {
    if (!isBrought) bringIntoSight(input)
    isBrought = true
  }
  input.addEventListener('focus', () => {
    if (!isSeen()) bring()
  })
  input.addEventListener('beforeinput', event => {
    const isNow = isSeen()
    if (isNow) isBrought = false
    const isLeft = event.isComposing === true || event.cancelable === false
    if (isLeft || (isNow && !isUsual(event))) return
    event.preventDefault()
    if (!isNow) bring()
    edit(input, event)
  })
  input.addEventListener('keydown', event => {
    if (!isSeen() && caretKeys.includes(event.key)) event.preventDefault()
  })
  // No script can take the place of an input method.
  input.addEventListener('compositionend', () => {
    if (!isSeen()) input.value = kept()
  })
}
