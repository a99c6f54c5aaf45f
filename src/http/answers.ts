/**
 * Sending of answers: headers, CORS, long ones in pieces.
 * @module
 */
import {
  agentHeadersMax,
  preflightSecondsMax,
  answerPieceBytes,
  shortAnswerBytesMax,
} from '../limits/limits.ts'
import { headerNamesOf, acceptsJsonAlone, pathOf, withoutTrailingSlash } from './request.ts'
import type { Settings } from '../settings/settings.ts'
import type { Log } from '../deps.ts'
import type { ApiError } from '../lib/errors.ts'
import type { Exchange } from './exchange.ts'
import type { KeepAlive } from './keep-alive.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import { problemResponse, toApiError } from './problem.ts'
import type { Reply } from './operation.ts'

/*
 * The rights of pages of other origins: the CORS protocol of the Fetch standard.
 *
 * Credentials are a header and never a cookie, so any origin is the default. Source: contract
 * section 1.
 */

type Fields = Readonly<Record<string, string>>

interface Cors {
  /** On every answer. */
  readonly always: Fields
  /** Adds what depends on the origin that asks. */
  readonly decorate: (headers: Headers, request: Request) => void
  /** Lets pages read one more header of an answer, where they may read any. */
  readonly expose: (headers: Headers, name: string) => void
  /** Headers of the answer to a preflight; `undefined` for another OPTIONS request. */
  readonly preflight: (request: Request) => Fields | undefined
}

const allowOrigin = 'access-control-allow-origin'
const exposeHeaders = 'access-control-expose-headers'
const retryAfter = 'retry-after'
const exposed = { [exposeHeaders]: 'SVC-TRACE-ID, Location' }
const agentHeader = /^[a-z0-9-]{1,40}-client-user-agent$/
const headerEnd = /^[a-z0-9-]{1,40}$/

/**
 * Headers that generated clients of this family send beside those of the interface, and that
 * tracers and common clients add to every request of a page; none is read.
 * Source: W3C Trace Context and Baggage; the documentation of Sentry, Datadog and Zipkin.
 */
const clientHeaders = [
  'traceparent',
  'tracestate',
  'baggage',
  'sentry-trace',
  'x-datadog-trace-id',
  'x-datadog-parent-id',
  'x-datadog-origin',
  'x-datadog-sampling-priority',
  'x-datadog-sampled',
  'x-datadog-tags',
  'b3',
  'x-b3-traceid',
  'x-b3-spanid',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'x-b3-flags',
  'x-requested-with',
  'cache-control',
  'pragma',
  'x-fern-language',
  'x-fern-sdk-name',
  'x-fern-sdk-version',
  'x-fern-runtime',
  'x-fern-runtime-version',
  'idempotency-key',
  'x-request-id',
]

function originRules({ corsOrigins }: Settings): Pick<Cors, 'always' | 'decorate'> {
  if (corsOrigins.includes('*')) {
    return { always: { [allowOrigin]: '*', ...exposed }, decorate: () => {} }
  }
  if (corsOrigins.length === 0) return { always: {}, decorate: () => {} }
  const origins = new Set(corsOrigins)
  return {
    always: { vary: 'Origin', ...exposed },
    decorate(headers, request) {
      const origin = request.headers.get('origin')
      if (origin !== null && origins.has(origin)) headers.set(allowOrigin, origin)
    },
  }
}

/** By which clients of this family name themselves, or under a prefix that is set. */
const isOfClient = (name: string, prefixes: readonly string[]): boolean =>
  agentHeader.test(name) ||
  prefixes.some(
    prefix => name.startsWith(`${prefix}-`) && headerEnd.test(name.slice(prefix.length + 1)),
  )

/** Picks from the headers that are asked for those that clients of this family send. */
function clientHeadersOf(asked: string, prefixes: readonly string[]): readonly string[] {
  const names = asked
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
  const others = names.filter(name => isOfClient(name, prefixes)).slice(0, agentHeadersMax)
  return [...clientHeaders.filter(name => names.includes(name)), ...others]
}

function corsOf(settings: Settings): Cors {
  const { key, trace, idempotency } = headerNamesOf(settings)
  const own = ['Content-Type', 'SVC-TRACE-ID', 'SVC-IDEMPOTENCY-KEY']
  const allowed = [
    'SVC-API-KEY',
    ...key.slice(1),
    ...own,
    ...trace.slice(1),
    ...idempotency.slice(1),
  ]
  return {
    ...originRules(settings),
    expose(headers, name) {
      const names = headers.get(exposeHeaders)
      if (names !== null) headers.set(exposeHeaders, `${names}, ${name}`)
    },
    preflight({ headers }) {
      if (!headers.has('origin') || !headers.has('access-control-request-method')) return undefined
      const asked = headers.get('access-control-request-headers') ?? ''
      const others = clientHeadersOf(asked, settings.headerPrefix)
      return {
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': [...allowed, ...others].join(', '),
        'access-control-max-age': String(preflightSecondsMax),
      }
    },
  }
}

/*
 * A long answer leaves in pieces, each when the connection has taken the one before: so it is known
 * when all of it was sent.
 *
 * Facts about the server: of a stream it takes the next piece only once the connection has taken
 * the last, sends it in chunks whatever length is declared, and cancels it when the connection
 * ends, idle ones included.
 */

/** Ends answers that are never read: a host may replace or drop them. */
const untaken = new FinalizationRegistry<() => void>(end => end())

/**
 * @param end called once nobody will read any more of it; more than once is no matter
 * @param next resolves when one more piece may leave; absent where none waits for that
 * @param onTaken called once the connection has taken all but the last piece
 */
export function inPieces(
  bytes: Uint8Array,
  end: () => void,
  next?: () => Promise<void>,
  onTaken: () => void = () => {},
): ReadableStream<Uint8Array> {
  let sent = 0
  let isEnded = false
  const stop = (): void => {
    isEnded = true
    end()
  }
  const send = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (isEnded) return
    controller.enqueue(bytes.subarray(sent, sent + answerPieceBytes))
    sent += answerPieceBytes
  }
  const source = {
    pull(controller: ReadableStreamDefaultController<Uint8Array>): MaybeLater<void> {
      if (sent < bytes.length) {
        return next === undefined ? send(controller) : next().then(() => send(controller))
      }
      stop()
      onTaken()
      controller.close()
    },
    cancel: stop,
  }
  const stream = new ReadableStream(source, { highWaterMark: 0 })
  untaken.register(stream, end)
  return stream
}

/*
 * Headers of answers: one set for each kind of answer, made once.
 *
 * Invariant: every answer carries the trace id and what CORS asks for; answers of the interface
 * are never stored by anybody on the way, and never taken for another type than they say.
 * Source: contract section 1.
 */

/** A page that anybody may see; its answer adds the trace id alone to these headers. */
export interface StaticPage {
  readonly headers: Fields
  readonly bytes: Uint8Array
}

export interface Answers {
  readonly reply: (exchange: Exchange, reply: Reply) => Response
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
  // Not the exchange, of which the answer would keep the body alive.
  const sent = answerLease?.release ?? (() => {})
  answerLease?.settle(bytes.length)
  request.signal.addEventListener('abort', sent)
  exchange.isInPieces = true
  return inPieces(bytes, sent, next, () => extend({ request, server }))
}

/** The address of a thing that was made by a request to the address of all such things. */
const below = ({ url }: Request, id: string): string =>
  `${withoutTrailingSlash(pathOf(url))}/${encodeURIComponent(id)}`

const untouched = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

export function makeAnswers(settings: Settings, log: Log, keepAlive: KeepAlive): Answers {
  const cors = corsOf(settings)
  const bare = new Headers({ ...untouched, ...cors.always, ...keepAlive.fields })
  const json = new Headers(bare)
  json.set('content-type', 'application/json; charset=utf-8')
  const problem = new Headers(bare)
  problem.set('content-type', 'application/problem+json; charset=utf-8')
  // Nothing is known of the connection of what failed so.
  const failed = new Headers(problem)
  for (const name of Object.keys(keepAlive.fields)) failed.delete(name)

  function withTrace({ request, traceId }: Exchange, response: Response): Response {
    response.headers.set(traceHeader, traceId)
    cors.decorate(response.headers, request)
    return response
  }

  return {
    reply(exchange, { status, json: text, madeId, aboutId, isReplay }) {
      exchange.aboutId = madeId ?? aboutId
      const headers = text === undefined ? bare : json
      exchange.bytesOut = text === undefined ? 0 : Buffer.byteLength(text)
      const response = new Response(bodyOf(exchange, text, keepAlive), { status, headers })
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
      const fields = acceptsJsonAlone(exchange.request) ? json : problem
      const { response, bytes } = problemResponse(error, exchange.traceId, log, fields)
      exchange.bytesOut = bytes
      if (allow !== undefined) response.headers.set('allow', allow)
      if (response.headers.has(retryAfter)) cors.expose(response.headers, 'Retry-After')
      return withTrace(exchange, response)
    },
    fault: (traceId, thrown) => problemResponse(toApiError(thrown), traceId, log, failed).response,
    options(exchange, allow) {
      const fields = cors.preflight(exchange.request) ?? { allow }
      const response = new Response(null, { status: 204, headers: bare })
      for (const [name, value] of Object.entries(fields)) response.headers.set(name, value)
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
