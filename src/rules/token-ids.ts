/**
 * Which texts may name a token.
 *
 * Ids stand in URLs and queries, so what is special there is refused. They are matched as they
 * came: case, normal form and spaces tell ids apart. Source: contract section 7.
 * @module
 */
import { invalid } from '../errors.ts'
import { tokenIdCharsMax, tokenIdCharsMin } from '../limits.ts'
import { hasCharacters } from '../text/own.ts'

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
