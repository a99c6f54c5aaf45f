/**
 * Answers: one set of headers for each kind, made once, and the body, at once or in pieces.
 *
 * Invariant: every answer carries the trace id and what CORS asks for; answers of the interface
 * are never stored by anybody on the way, and never taken for another type than they say.
 * Source: contract section 1.
 * @module
 */
import { shortAnswerBytesMax } from '../limits/limits.ts'
import { acceptsJsonAlone, pathOf, withoutTrailingSlash } from './request.ts'
import type { Settings } from '../settings/settings.ts'
import type { Log } from '../deps.ts'
import type { ApiError } from '../lib/errors.ts'
import { inPieces } from './answer-pieces.ts'
import { corsOf, type HeaderFields } from './cors.ts'
import type { Exchange } from './exchange.ts'
import type { KeepAlive } from './keep-alive.ts'
import { problemResponse, toApiError } from './problem.ts'
import type { Reply } from './operation.ts'

/** A page that anybody may see; its answer adds headers of the trace and the connection. */
export interface StaticPage {
  readonly headers: HeaderFields
  readonly bytes: Uint8Array
}

export interface Answers {
  /** @param stream the body of an answer that goes on */
  readonly reply: (
    exchange: Exchange,
    reply: Reply,
    stream?: ReadableStream<Uint8Array>,
  ) => Response
  /** @param allow the value of `Allow` on a 405 */
  readonly problem: (exchange: Exchange, error: ApiError, allow?: string) => Response
  /** For what was thrown where no exchange is known any more. */
  readonly fault: (traceId: string, thrown: unknown) => Response
  /** 204 for OPTIONS: to a preflight what a browser may send, to others what is allowed here. */
  readonly options: (exchange: Exchange, allow: string) => Response
  /**
   * A page or what it loads, with the trace id.
   * @param next resolves when one more piece of it may leave
   */
  readonly page: (exchange: Exchange, page: StaticPage, next: () => Promise<void>) => Response
}

const traceHeader = 'svc-trace-id'
const retryAfter = 'retry-after'

/** HEAD sends none of it, and nobody reads what goes to a connection that has ended. */
const isSentAtOnce = ({ method, signal }: Request, { length }: Uint8Array): boolean =>
  length <= shortAnswerBytesMax || method === 'HEAD' || signal.aborted

/** Returns a short text as it is, and a long one in pieces. */
function bodyOf(exchange: Exchange, text: string | undefined, keepAlive: KeepAlive) {
  // No character of UTF-16 takes more than three bytes.
  const bytes = (text?.length ?? 0) * 3 > shortAnswerBytesMax ? Buffer.from(text ?? '') : undefined
  if (bytes === undefined || isSentAtOnce(exchange.request, bytes)) return text ?? null
  return inPiecesTo(exchange, bytes, keepAlive)
}

function inPiecesTo(
  exchange: Exchange,
  bytes: Uint8Array,
  { extend }: KeepAlive,
  next?: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const { request, server, answerLease } = exchange
  // The answer holds these alone: the exchange would keep its request's body in memory as well.
  const sent = answerLease?.release ?? (() => {})
  answerLease?.settle(bytes.length)
  request.signal.addEventListener('abort', sent)
  exchange.isInPieces = true
  return inPieces(bytes, sent, next, () => extend({ request, server }))
}

/** The address of a resource that a request to its collection has made. */
const below = ({ url }: Request, id: string): string =>
  `${withoutTrailingSlash(pathOf(url))}/${encodeURIComponent(id)}`

const notStoredNorSniffed = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

/** nginx would hold back texts until it has many: docs of `ngx_http_proxy_module`. */
const streamFields = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' } as const

function setAll(headers: Headers, fields: HeaderFields): void {
  for (const [name, value] of Object.entries(fields)) headers.set(name, value)
}

export function makeAnswers(settings: Settings, log: Log, keepAlive: KeepAlive): Answers {
  const cors = corsOf(settings)
  const bareHeaders = new Headers({ ...notStoredNorSniffed, ...cors.always, ...keepAlive.fields })
  const jsonHeaders = new Headers(bareHeaders)
  jsonHeaders.set('content-type', 'application/json; charset=utf-8')
  const problemHeaders = new Headers(bareHeaders)
  problemHeaders.set('content-type', 'application/problem+json; charset=utf-8')
  // Nothing is known of its connection, so the answer says nothing of how long that stays.
  const faultHeaders = new Headers(problemHeaders)
  for (const name of Object.keys(keepAlive.fields)) faultHeaders.delete(name)

  function withTrace({ request, traceId }: Exchange, response: Response): Response {
    response.headers.set(traceHeader, traceId)
    cors.decorate(response.headers, request)
    return response
  }

  return {
    reply(exchange, reply, stream) {
      const { status, json: text, isLines, madeId, aboutId, isReplay } = reply
      exchange.aboutId = madeId ?? aboutId
      const headers = text === undefined ? bareHeaders : jsonHeaders
      exchange.bytesOut = text === undefined ? 0 : Buffer.byteLength(text)
      const body = stream ?? bodyOf(exchange, text, keepAlive)
      const response = new Response(body, { status, headers })
      if (isLines === true) response.headers.set('content-type', 'application/x-ndjson')
      if (reply.stream !== undefined) setAll(response.headers, streamFields)
      if (madeId !== undefined) response.headers.set('location', below(exchange.request, madeId))
      if (isReplay === true) {
        response.headers.set('svc-idempotent-replay', 'true')
        cors.expose(response.headers, 'SVC-IDEMPOTENT-REPLAY')
      }
      return withTrace(exchange, response)
    },
    problem(exchange, error, allow) {
      exchange.refusal = error.kind
      exchange.detail = error.message
      const fields = acceptsJsonAlone(exchange.request) ? jsonHeaders : problemHeaders
      const { response, bytes } = problemResponse(error, exchange.traceId, log, fields)
      exchange.bytesOut = bytes
      if (allow !== undefined) response.headers.set('allow', allow)
      if (response.headers.has(retryAfter)) cors.expose(response.headers, 'Retry-After')
      return withTrace(exchange, response)
    },
    fault: (traceId, thrown) =>
      problemResponse(toApiError(thrown), traceId, log, faultHeaders).response,
    options(exchange, allow) {
      const fields = cors.preflight(exchange.request) ?? { allow }
      const response = new Response(null, { status: 204, headers: bareHeaders })
      setAll(response.headers, fields)
      return withTrace(exchange, response)
    },
    page(exchange, { headers, bytes }, next) {
      const { request, traceId } = exchange
      exchange.bytesOut = bytes.length
      const isWhole = isSentAtOnce(request, bytes)
      const body = isWhole ? bytes : inPiecesTo(exchange, bytes, keepAlive, next)
      return new Response(body, {
        headers: { ...headers, ...keepAlive.fields, [traceHeader]: traceId },
      })
    },
  }
}
