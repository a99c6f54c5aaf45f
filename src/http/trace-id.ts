/**
 * Trace ids: the one that a request gives, or a new one. Source: contract section 1.
 * @module
 */
import { hexOf } from '../lib/bytes.ts'
import { traceIdCharsMax } from '../limits/limits.ts'
import type { Deps } from '../deps.ts'
import { headerNamesOf, visibleAscii } from './request.ts'

/** Makes trace ids that no other process makes: a random prefix and a count. */
export function makeTraceIds({ randomBytes }: Deps): () => string {
  const prefix = hexOf(randomBytes(8))
  let count = 0
  return () => `${prefix}-${(count += 1).toString(36)}`
}

/** The id that the request gives, if it is short visible ASCII. */
export function givenTraceId({ settings }: Deps, { headers }: Request): string | undefined {
  for (const name of headerNamesOf(settings).trace) {
    const given = headers.get(name)
    if (given !== null && given.length <= traceIdCharsMax && visibleAscii.test(given)) return given
  }
  return undefined
}
