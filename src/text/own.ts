/**
 * What a character is: one Unicode code point, so an emoji counts once. And texts that are kept.
 *
 * Source: decision, after hardening H81 (400 characters of four bytes are an id).
 * @module
 */
import { pooledCharsMax } from '../limits.ts'

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

const padding = ' '.repeat(pooledCharsMax)

/**
 * What a JSON string says, in memory of its own. The engine pools short texts that it parses, in a
 * table that is hashed without a seed, where texts that collide would cost their square: so none is
 * short when it is parsed.
 * @param quoted  a valid JSON string
 */
export const decodeQuoted = (quoted: string): string => {
  if (quoted.length > pooledCharsMax) return JSON.parse(quoted) as string
  return (JSON.parse(`"${padding}${quoted.slice(1)}`) as string).slice(pooledCharsMax)
}

/**
 * The same text in memory of its own, for whatever is kept: a text that was cut out of another one
 * shares its memory, and would keep all of a body alive, card numbers included.
 */
export const ownText = (text: string): string => decodeQuoted(JSON.stringify(text))
