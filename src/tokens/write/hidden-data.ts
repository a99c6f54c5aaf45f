/**
 * Data of a token that its changer sees nothing of: what a change is answered must not tell of it.
 *
 * Merging needs the data all the same, so its size would be told by what still fits, and its
 * content by what expressions make of it. decision: data is hidden under redact alone, since
 * whoever masks may see any part that the mask shows. Left as it is: a fingerprint expression that
 * fails on hidden data refuses the change, for there is no token without a fingerprint. Source:
 * contract section 9.
 * @module
 */
import { isJsonObject, type Json } from '../../json/json.ts'
import { printJson } from '../../json/print.ts'
import type { TokenType } from '../../rules/token-types.ts'
import { hiddenDataStepBytes } from '../../limits.ts'
import type { HiddenData } from './compose.ts'
import type { LoadedToken } from '../read/load.ts'

export const isHidden = ({ transform }: LoadedToken): boolean => transform === 'redact'

/** Whole steps of what is hidden, and all that is added: no more than that tells its size. */
function judgedBytes(dataText: string, patch: Json): number {
  const steps = Math.ceil(Buffer.byteLength(dataText) / hiddenDataStepBytes)
  return steps * hiddenDataStepBytes + Buffer.byteLength(printJson(patch))
}

/**
 * How the merged data is judged. What replaces all data counts for what it is, and what is left as
 * it is does not count at all. A mask that shows what is added must not be compared with a hidden
 * number: it would confirm a guess.
 * @param patch of the data; `undefined` leaves it
 * @returns `undefined` where the caller sees some of the data
 */
export function hiddenDataOf(
  token: LoadedToken,
  type: TokenType,
  dataText: string,
  patch: Json | undefined,
): HiddenData | undefined {
  if (!isHidden(token)) return undefined
  if (patch === undefined) return { bytes: 0, keepsNumber: true }
  if (!isJsonObject(patch)) return { bytes: undefined, keepsNumber: false }
  const { protectedNumber } = type
  const replacesNumber = typeof protectedNumber === 'object' && patch.has(protectedNumber.member)
  return { bytes: judgedBytes(dataText, patch), keepsNumber: !replacesNumber }
}
