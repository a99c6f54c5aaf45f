/**
 * A text that is written anew while it is typed in, and where the caret stands then: behind the
 * same digit as before.
 * @module
 */
import { digitsOf, withAsciiDigits } from './digits.ts'

export interface Typed {
  readonly text: string
  /** Characters before it. */
  readonly caret: number
}

/** How one field writes its digits; otherwise where some are being deleted. */
export interface DigitFormat {
  /** The digits that count of what was typed. */
  readonly digits: (text: string, isDeleting: boolean) => string
  readonly write: (digits: string, isDeleting: boolean) => string
}

export interface Written extends Typed {
  /** What counts of the text. */
  readonly value: string
}

const isDigit = (character: string | undefined): boolean => /^[0-9]$/.test(character ?? '')

/** Characters up to behind the digit of that number. */
function placeBehind(text: string, digits: number): number {
  let left = digits
  let place = 0
  while (left > 0 && place < text.length) {
    if (isDigit(text[place])) left -= 1
    place += 1
  }
  return place
}

/** Digits before the caret, with one that the field has put before what was typed: 5 is 05. */
function digitsInFront({ text, caret }: Typed, digits: string): number {
  const isPadded = digits.startsWith('0') && !digitsOf(text).startsWith('0')
  return digitsOf(text.slice(0, caret)).length + (isPadded ? 1 : 0)
}

/** Only a separator went, and comes back: what was meant is the digit beside it. */
function deleteBeside(digits: string, inFront: number, isForward: boolean) {
  const at = isForward ? inFront : inFront - 1
  if (at < 0) return { digits, inFront }
  return { digits: digits.slice(0, at) + digits.slice(at + 1), inFront: at }
}

/**
 * @param before the digits that stood there
 * @param typed what the browser has made of the key or the paste
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
