/**
 * Token ids: their form, and the prefixes by which they are found.
 * @module
 */
import { tokenIdCharsMax, tokenIdCharsMin } from '../limits/limits.ts'
import { idPrefixChars } from '../limits/work-limits.ts'
import { invalid } from '../lib/errors.ts'
import { hasCharacters } from '../lib/maps.ts'

/*
 * Beginnings of token ids: what the condition `id starts_with` can be answered by.
 *
 * Ids that somebody chose are found by their beginnings at a few lengths. Random ids are not, since
 * nothing is meant by how they begin; but most texts cannot begin one at all.
 * Source: docs/decisions.md, "One thing terms cannot answer".
 */

const charsMax = Math.max(...idPrefixChars)

/** The first characters of a text, without a walk through all of it. */
const firstChars = (text: string): readonly string[] =>
  // Twice as many code units hold that many characters, the last of which may be cut.
  Array.from(text.slice(0, 2 * charsMax)).slice(0, charsMax)

/** The beginnings by which an id is found, the empty one first. */
export const idPrefixes = (id: string): string[] => {
  const chars = firstChars(id)
  return idPrefixChars
    .filter(length => length <= chars.length)
    .map(length => chars.slice(0, length).join(''))
}

/** The longest of them that every id has which begins with `text`. */
export const longestPrefix = (text: string): string => idPrefixes(text).at(-1) ?? ''

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const someUuid = '00000000-0000-4000-8000-000000000000'

/** Whether a text has the form of a random id: RFC 9562 section 5.4, in lower case. */
export const isUuid = (text: string): boolean => uuidShape.test(text)

/** Whether a random id can begin with `text`. */
export const mayBeginUuid = (text: string): boolean =>
  text.length <= someUuid.length && isUuid(text + someUuid.slice(text.length))

/*
 * Which texts may name a token.
 *
 * Ids stand in URLs and queries, so what is special there is refused. They are matched as they
 * came: case, normal form and spaces tell ids apart. Source: contract section 7.
 */

// `Cc` of Unicode is C0, DEL and C1.
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
