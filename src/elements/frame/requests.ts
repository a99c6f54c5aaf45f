/**
 * Members that a shop may set on the token: none from which a digit of the card could follow, such
 * as an expression for the id, a fingerprint or a mask.
 * @module
 */
import { keyCharsMax, requestCharsMax, timeoutMsMax } from '../limits.ts'
import type { Failure, TokenRequest } from '../protocol.ts'

const members: readonly string[] = ['metadata', 'containers', 'expires_at', 'deduplicate_token']

const isKey = (key: unknown): key is string =>
  typeof key === 'string' && key.length <= keyCharsMax && /^[!-~]+$/.test(key)

const isTime = (ms: unknown): ms is number => typeof ms === 'number' && ms > 0 && ms <= timeoutMsMax

const isRequest = (request: unknown): request is TokenRequest =>
  typeof request === 'object' &&
  request !== null &&
  !Array.isArray(request) &&
  Object.keys(request).every(name => members.includes(name))

/** A message may hold what JSON cannot, such as a cycle. */
function isShort(request: TokenRequest): boolean {
  try {
    return JSON.stringify(request).length <= requestCharsMax
  } catch {
    return false
  }
}

export interface CheckedRequest {
  readonly key: string
  readonly request: TokenRequest
  readonly timeoutMs: number
}

const invalid = (message: string): Failure => ({ code: 'invalid_request', message })

/** Returns the checked request of the page, or the failure. */
export function askedOf(message: object): CheckedRequest | Failure {
  const { key, request, timeoutMs } = message as Readonly<Record<string, unknown>>
  if (!isKey(key)) return invalid('expected an API key, such as key_… or key_sess_…')
  if (!isTime(timeoutMs)) return invalid(`expected timeoutMs of at most ${timeoutMsMax}`)
  if (!isRequest(request)) return invalid(`a token may be given ${members.join(', ')} alone`)
  if (!isShort(request)) {
    return invalid(`expected JSON of at most ${requestCharsMax} characters beside the card`)
  }
  return { key, request, timeoutMs }
}
