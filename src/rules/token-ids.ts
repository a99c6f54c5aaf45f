/**
 * Token ids: their form, and the prefixes by which they are found.
 * @module
 */
import { tokenIdCharsMax, tokenIdCharsMin } from '../limits/limits.ts'
import { idPrefixChars } from '../limits/work-limits.ts'
import { invalid } from '../lib/errors.ts'
import { hasCharacters } from '../lib/maps.ts'

/*
 * Beginnings of token ids, which answer the condition `id starts_with`.
 *
 * Chosen ids are found by their beginnings at a few lengths. Random ids are not, since their
 * beginnings mean nothing; but most texts cannot begin one at all. Source: docs/decisions.md, "One
 * thing terms cannot answer".
 */

const charsMax = Math.max(...idPrefixChars)

/** The first characters of a text, without walking through all of it. */
const firstChars = (text: string): readonly string[] =>
  // Twice as many code units hold that many characters, the last of which may be cut.
  Array.from(text.slice(0, 2 * charsMax)).slice(0, charsMax)

/** Returns the beginnings by which an id is found, the empty one first. */
export const idPrefixes = (id: string): string[] => {
  const chars = firstChars(id)
  return idPrefixChars
    .filter(length => length <= chars.length)
    .map(length => chars.slice(0, length).join(''))
}

/** Returns the longest of them that is shared by every id that begins with `text`. */
export const longestPrefix = (text: string): string => idPrefixes(text).at(-1) ?? ''

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const someUuid = '00000000-0000-4000-8000-000000000000'

/** True if a text has the form of a random id: RFC 9562 section 5.4, in lower case. */
export const isUuid = (text: string): boolean => uuidShape.test(text)

/** True if a random id can begin with `text`. */
export const mayBeginUuid = (text: string): boolean =>
  text.length <= someUuid.length && isUuid(text + someUuid.slice(text.length))

/*
 * Rules for token ids.
 *
 * Ids appear in URLs and queries, so characters that are special there are refused. They are
 * compared as received: case, normal form and spaces distinguish ids. Source: contract section 7.
 */

// Unicode's `Cc` covers C0, DEL and C1.
const refusedCharacter = /[#/\\+?[\]|&=%<>{}^\p{Cc}]/u

/**
 * @param at  path under which a fault is reported
 * @throws ApiError `invalid_request`
 */
export const assertTokenId = (id: string, at: string): void => {
  if (!hasCharacters(id, tokenIdCharsMin, tokenIdCharsMax)) {
    throw invalid(at, `expected ${tokenIdCharsMin} to ${tokenIdCharsMax} characters`)
  }
  if (refusedCharacter.test(id)) {
    throw invalid(at, 'expected none of # / \\ + ? [ ] | & = % < > { } ^ and no control character')
  }
  if (!id.isWellFormed()) throw invalid(at, 'expected no lone surrogate')
}
