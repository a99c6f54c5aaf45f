/**
 * The one place where an error becomes an answer: RFC 9457 problem details.
 *
 * Invariant: nothing of the request and nothing stored is in the answer or in the log line.
 * Source: contract section 2.
 * @module
 */
import type { Log } from '../deps.ts'
import { ApiError, type ErrorKind } from '../errors.ts'

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
  conflict: { status: 409, title: 'Conflict' },
  payload_too_large: { status: 413, title: 'Content Too Large' },
  uri_too_long: { status: 414, title: 'URI Too Long' },
  unsupported_media_type: { status: 415, title: 'Unsupported Media Type' },
  storage_full: { status: 507, title: 'Insufficient Storage' },
  storage_corrupt: { status: 500, title: 'Internal Server Error' },
  unavailable: { status: 503, title: 'Service Unavailable' },
  internal: { status: 500, title: 'Internal Server Error' },
} as const satisfies Record<ErrorKind, Presentation>

const internalDetail = 'The request could not be completed. The log has a line with this trace id.'
const retryAfterSeconds = '1'

/** Turns anything thrown into a known kind. The framework's own errors come in as plain objects. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  return new ApiError('internal', 'unexpected error', undefined, thrown)
}

/** Names and places only: the message of a foreign error may hold a value. */
function describeCause(error: ApiError): string {
  const { cause } = error
  if (!(cause instanceof Error)) return error.kind
  const frames = (cause.stack ?? '').split('\n').filter(line => /^\s*at /.test(line))
  return [cause.name, ...frames.slice(0, 6).map(line => line.trim())].join(' | ')
}

function bodyOf(error: ApiError, traceId: string): string {
  const { status, title } = presentations[error.kind]
  return JSON.stringify({
    type: 'about:blank',
    title,
    status,
    detail: status === 500 ? internalDetail : error.message,
    instance: `urn:trace:${traceId}`,
    ...(error.fields === undefined ? {} : { errors: error.fields }),
  })
}

/** @param extra headers that belong to the kind: `Allow` on 405 */
export function problemResponse(
  error: ApiError,
  traceId: string,
  log: Log,
  extra: Readonly<Record<string, string>> = {},
): Response {
  const { status } = presentations[error.kind]
  if (status === 500) {
    log('request_failed', { trace_id: traceId, kind: error.kind, cause: describeCause(error) })
  }
  return new Response(bodyOf(error, traceId), {
    status,
    headers: {
      'content-type': 'application/problem+json; charset=utf-8',
      'cache-control': 'no-store',
      'svc-trace-id': traceId,
      ...(error.kind === 'unavailable' ? { 'retry-after': retryAfterSeconds } : {}),
      ...extra,
    },
  })
}
