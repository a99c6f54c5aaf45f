/**
 * Counting and cutting text by Unicode code points, without making an array of them.
 *
 * decision: one character is one code point, so that no cut leaves half of a surrogate pair.
 * Invariant: well-formed text in, well-formed text out.
 * @module
 */

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/** Shorter text is walked faster than it is handed to a native function. */
const walkedCharsMax = 32

/** Whether the text is long and ASCII: its indexes need no walk. The native count tells at once. */
export const isPlain = (text: string): boolean =>
  text.length > walkedCharsMax && Buffer.byteLength(text) === text.length

/** The number of code points. */
export const countCodePoints = (text: string): number => {
  if (isPlain(text)) return text.length
  let pairs = 0
  for (let index = 0; index < text.length; index += 1) {
    if (isHighSurrogate(text.charCodeAt(index))) pairs += 1
  }
  return text.length - pairs
}

/** The index behind the first `count` code points; the length of the text when it has fewer. */
export const indexAfter = (text: string, count: number): number => {
  if (count > walkedCharsMax && isPlain(text)) return Math.min(count, text.length)
  let index = 0
  for (let left = count; left > 0 && index < text.length; left -= 1) {
    index += isHighSurrogate(text.charCodeAt(index)) ? 2 : 1
  }
  return index
}

/** The index of the last `count` code points; 0 when the text has fewer. */
export const indexBeforeLast = (text: string, count: number): number => {
  if (count > walkedCharsMax && isPlain(text)) return Math.max(0, text.length - count)
  let index = text.length
  for (let left = count; left > 0 && index > 0; left -= 1) {
    index -= isLowSurrogate(text.charCodeAt(index - 1)) ? 2 : 1
  }
  return index
}
