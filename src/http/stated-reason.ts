/**
 * The reason that a caller states for a request, such as the number of a support case.
 *
 * It stands in the sealed entry of the request in the audit log, for its readers, and nowhere else:
 * not in a line of the request log or in an event. People type it, so it may hold what belongs in
 * no other log.
 * @module
 */
import type { Deps } from '../deps.ts'
import { invalid } from '../lib/errors.ts'
import { hasCharacters } from '../lib/maps.ts'
import { statedReasonCharsMax } from '../limits/limits.ts'
import { loggable } from '../rules/loggable.ts'
import { agreedHeader, headerNamesOf } from './request.ts'

const shownName = 'SVC-REASON'
const printableAscii = /^[ -~]*$/
/** Controls, ends of lines, and what turns the direction of the text around it. */
const unseen = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}]/u

/** Nothing of it is seen: blanks, and characters that are drawn as nothing. */
const blank = /^[\p{White_Space}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u

const expected =
  `expected 1 to ${statedReasonCharsMax} characters without controls, ` +
  'those that are not ASCII and % percent-encoded as UTF-8'

function decode(sent: string): string {
  if (!printableAscii.test(sent)) throw invalid(shownName, expected)
  try {
    return decodeURIComponent(sent).trim()
  } catch {
    throw invalid(shownName, expected)
  }
}

/**
 * @returns `undefined` where none is stated
 * @throws ApiError `invalid_request` for a text that is none, and for two that differ
 */
export function readStatedReason(
  { settings }: Pick<Deps, 'settings'>,
  request: Request,
): string | undefined {
  const sent = agreedHeader(request, headerNamesOf(settings).reason)
  if (sent === undefined) return undefined
  if (sent === null) throw invalid(shownName, 'expected one reason: the headers for it differ')
  const reason = decode(sent)
  const isShort = hasCharacters(reason, 1, statedReasonCharsMax)
  if (!isShort || unseen.test(reason) || blank.test(reason)) throw invalid(shownName, expected)
  if (loggable(reason) !== reason)
    throw invalid(shownName, 'expected no card number and no API key')
  return reason
}
