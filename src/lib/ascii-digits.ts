/**
 * Writes the digits of all scripts as ASCII ones, for a look at what a text holds.
 * @module
 */
import { orderMarks } from './combining-marks.ts'

const decimalDigit = /^\p{Nd}$/u
const otherDigits = /(?![0-9])\p{Nd}/gu

/** Digits of a script stand together, from zero to nine. Source: Unicode, section 4.6. */
function valueOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0
  let first = code
  while (decimalDigit.test(String.fromCodePoint(first - 1))) first -= 1
  return (code - first) % 10
}

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/**
 * The text as it is, and where it is not ASCII also in the form NFKC with ASCII digits: an answer
 * about one of them alone could miss what the other shows.
 */
export const digitForms = (text: string): readonly string[] => {
  if (isAscii(text)) return [text]
  const compatible = orderMarks(text).normalize('NFKC')
  return [text, compatible.replaceAll(otherDigits, digit => String(valueOf(digit)))]
}
