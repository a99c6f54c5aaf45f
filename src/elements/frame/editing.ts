/**
 * Reformats a text while it is being typed, and keeps the caret behind the same digit.
 * @module
 */
import { digitsOf, withAsciiDigits } from './digits.ts'

export interface Typed {
  readonly text: string
  /** Number of characters before the caret. */
  readonly caret: number
}

/** Format of one field's digits; deleting may format them otherwise. */
export interface DigitFormat {
  /** Extracts the digits that the field accepts. */
  readonly digits: (text: string, isDeleting: boolean) => string
  readonly write: (digits: string, isDeleting: boolean) => string
}

export interface Written extends Typed {
  /** The field's value in the text. */
  readonly value: string
}

const isDigit = (character: string | undefined): boolean => /^[0-9]$/.test(character ?? '')

/** Returns the position in the text right behind its n-th digit. */
function placeBehind(text: string, digits: number): number {
  let left = digits
  let place = 0
  while (left > 0 && place < text.length) {
    if (isDigit(text[place])) left -= 1
    place += 1
  }
  return place
}

/** Counts digits before the caret, with a zero that the field has added in front: 5 is 05. */
function digitsInFront({ text, caret }: Typed, digits: string): number {
  const isPadded = digits.startsWith('0') && !digitsOf(text).startsWith('0')
  return digitsOf(text.slice(0, caret)).length + (isPadded ? 1 : 0)
}

/** Only a separator was deleted, which comes back: the digit beside it goes instead. */
function deleteBeside(digits: string, inFront: number, isForward: boolean) {
  const at = isForward ? inFront : inFront - 1
  if (at < 0) return { digits, inFront }
  return { digits: digits.slice(0, at) + digits.slice(at + 1), inFront: at }
}

/**
 * @param before the digits before this edit
 * @param typed the text after the browser applied the key or the paste
 * @param kind its `inputType`
 */
export function rewrite(writing: DigitFormat, before: string, typed: Typed, kind = ''): Written {
  const now = { ...typed, text: withAsciiDigits(typed.text) }
  const isDeleting = kind.startsWith('delete')
  const found = writing.digits(now.text, isDeleting)
  const front = digitsInFront(now, found)
  const isSeparator = kind.startsWith('deleteContent') && found === before
  const { digits, inFront } = isSeparator
    ? deleteBeside(found, front, kind === 'deleteContentForward')
    : { digits: found, inFront: front }
  const text = writing.write(digits, isDeleting)
  let caret = placeBehind(text, Math.min(inFront, digits.length))
  if (!isDeleting && inFront > 0) while (caret < text.length && !isDigit(text[caret])) caret += 1
  return { value: digits, text, caret }
}
