/**
 * Trace ids: the one that a request gives, or a new one. Source: contract section 1.
 * @module
 */
import { hexOf } from '../lib/bytes.ts'
import { traceIdCharsMax } from '../limits/limits.ts'
import type { Deps } from '../deps.ts'
import { headerNamesOf, visibleAscii } from './request.ts'

const idChars = 16
const drawnIds = 64

/** Letters alone: digits might look like a card number. */
const lettersOf = (bytes: Uint8Array): string =>
  String.fromCharCode(...bytes.map(byte => 0x61 + (byte & 15)))

/**
 * Makes trace ids that no other process makes: a random prefix, and letters drawn for each.
 * decision: not a count, which told each caller, also without a key, how much all others ask.
 */
export function makeTraceIds({ randomBytes }: Pick<Deps, 'randomBytes'>): () => string {
  const prefix = hexOf(randomBytes(8))
  let letters = ''
  return () => {
    if (letters === '') letters = lettersOf(randomBytes(drawnIds * idChars))
    const id = `${prefix}-${letters.slice(0, idChars)}`
    letters = letters.slice(idChars)
    return id
  }
}

/** The id that the request gives, if it is short visible ASCII. */
export function givenTraceId({ settings }: Deps, { headers }: Request): string | undefined {
  for (const name of headerNamesOf(settings).trace) {
    const given = headers.get(name)
    if (given !== null && given.length <= traceIdCharsMax && visibleAscii.test(given)) return given
  }
  return undefined
}
