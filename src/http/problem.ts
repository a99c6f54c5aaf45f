/**
 * The document of an error: RFC 9457 problem details.
 *
 * Invariant: nothing of the request and nothing stored is in the answer or in the log line.
 * Source: contract section 2.
 * @module
 */
import type { Log } from '../deps.ts'
import { ApiError, placesOf, type ErrorKind } from '../lib/errors.ts'
import { retryAfterSeconds } from '../limits/limits.ts'
import { loggable } from '../rules/loggable.ts'

interface Presentation {
  readonly status: number
  readonly title: string
}

const presentations = {
  invalid_request: { status: 400, title: 'One or more validation errors occurred.' },
  unauthenticated: { status: 401, title: 'Unauthorized' },
  forbidden: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not Found' },
  method_not_allowed: { status: 405, title: 'Method Not Allowed' },
  request_timeout: { status: 408, title: 'Request Timeout' },
  conflict: { status: 409, title: 'Conflict' },
  payload_too_large: { status: 413, title: 'Content Too Large' },
  uri_too_long: { status: 414, title: 'URI Too Long' },
  unsupported_media_type: { status: 415, title: 'Unsupported Media Type' },
  unsupported_content_coding: { status: 415, title: 'Unsupported Media Type' },
  too_many_requests: { status: 429, title: 'Too Many Requests' },
  storage_full: { status: 507, title: 'Insufficient Storage' },
  storage_corrupt: { status: 500, title: 'Internal Server Error' },
  unavailable: { status: 503, title: 'Service Unavailable' },
  overloaded: { status: 503, title: 'Service Unavailable' },
  internal: { status: 500, title: 'Internal Server Error' },
} as const satisfies Record<ErrorKind, Presentation>

/** HTTP status of a kind of error. */
export const statusOf = (kind: ErrorKind): number => presentations[kind].status

const internalDetail = 'The request could not be completed. The log has a line with this trace id.'

/**
 * Headers of a kind of error. A connection whose body is left unread is of no more use. Others that
 * are refused for a while keep theirs: a server that is busy with new ones neglects those it has.
 */
const retryLater = { 'retry-after': String(retryAfterSeconds) }
const closing = { connection: 'close' }
const kindHeaders: Partial<Record<ErrorKind, Readonly<Record<string, string>>>> = {
  unavailable: retryLater,
  overloaded: retryLater,
  too_many_requests: retryLater,
  payload_too_large: closing,
  request_timeout: closing,
  // RFC 9110 section 12.5.3: so that a client knows which codings would be taken.
  unsupported_content_coding: { 'accept-encoding': 'identity' },
}

/** Turns anything thrown into a known kind. The framework's own errors come in as plain objects. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  return new ApiError('internal', 'unexpected error', undefined, thrown)
}

const causeOf = ({ kind, cause }: ApiError): string =>
  cause === undefined ? kind : placesOf(cause)

/** The text of an error, the same in a problem and in one item of a bulk answer. */
export function describeError(error: ApiError) {
  const { status, title } = presentations[error.kind]
  const detail = status === 500 ? internalDetail : error.message
  return { title, status, detail, ...(error.fields === undefined ? {} : { errors: error.fields }) }
}

/** The problem document of an error; `errors` is there for a 400 that names places. */
export function describeProblem(error: ApiError, traceId: string) {
  const { title, status, detail, ...rest } = describeError(error)
  return { type: 'about:blank', title, status, detail, instance: `urn:trace:${traceId}`, ...rest }
}

/** @param headers of every problem; the kind's own are added */
export function problemResponse(
  error: ApiError,
  traceId: string,
  log: Log,
  headers: Headers,
): { readonly response: Response; readonly bytes: number } {
  const { status } = presentations[error.kind]
  if (status === 500) {
    log('request_failed', { trace_id: loggable(traceId), kind: error.kind, cause: causeOf(error) })
  }
  const text = JSON.stringify(describeProblem(error, traceId))
  const response = new Response(text, { status, headers })
  for (const [name, value] of Object.entries(kindHeaders[error.kind] ?? {})) {
    response.headers.set(name, value)
  }
  const { retryAfterSeconds: seconds } = error
  if (seconds !== undefined) response.headers.set('retry-after', String(seconds))
  return { response, bytes: Buffer.byteLength(text) }
}
