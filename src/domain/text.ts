/**
 * What a character is: one Unicode code point, so an emoji counts once. And texts that are kept.
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

/**
 * The same text in memory of its own, for whatever is kept: a text that was cut out of another one
 * shares its memory, and would keep all of a body alive, card numbers included.
 */
export const ownText = (text: string): string => JSON.parse(JSON.stringify(text)) as string
