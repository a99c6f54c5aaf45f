/**
 * What a character is: one Unicode code point, so an emoji counts once.
 *
 * Source: decision, after hardening H81 (400 characters of four bytes are an id).
 * @module
 */

/**
 * Text of hostile length costs nothing: more code units than two per character decide at once.
 * @returns whether the text has `min` to `max` code points
 */
export const hasCharacters = (text: string, min: number, max: number): boolean => {
  if (text.length < min || text.length > max * 2) return false
  let count = 0
  for (const _ of text) count += 1
  return count >= min && count <= max
}
