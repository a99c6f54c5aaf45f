/**
 * How answers look, whatever they say: one set of headers for each kind of answer, made once.
 *
 * Invariant: every answer carries the trace id and what CORS asks for; answers of the interface
 * are never stored by anybody on the way, and never taken for another type than they say.
 * Source: contract section 1.
 * @module
 */
import type { Log } from '../deps.ts'
import type { ApiError } from '../errors.ts'
import { shortAnswerBytesMax } from '../limits.ts'
import { acceptsJsonAlone } from './accept.ts'
import type { AnswerHold } from './answer-budget.ts'
import { corsOf } from './cors.ts'
import { inPieces } from './long-answers.ts'
import { problemResponse, toApiError } from './problem.ts'
import type { Reply } from './operation.ts'
import { pathOf, withoutTrailingSlash } from './paths.ts'
import type { Settings } from '../settings.ts'

/** One request under way. */
export interface Exchange {
  readonly request: Request
  readonly traceId: string
  /** Whether a live key came with it that may ask for this, now; set once that is known. */
  isAdmitted: boolean
  /** Whether its body came in whole; where it has none, nobody cares. */
  isBodyRead: boolean
}

export interface Answers {
  /** @param hold of what the answer takes until it was sent; given back from here on */
  readonly reply: (exchange: Exchange, reply: Reply, hold: AnswerHold) => Response
  /** @param allow the value of `Allow` on a 405 */
  readonly problem: (exchange: Exchange, error: ApiError, allow?: string) => Response
  /** For what was thrown where no exchange is known any more. */
  readonly fault: (traceId: string, thrown: unknown) => Response
  /** 204 for OPTIONS: to a preflight what a browser may send, to others what is allowed here. */
  readonly options: (exchange: Exchange, allow: string) => Response
  /** A page of the documentation as it is, with the trace id. */
  readonly page: (exchange: Exchange, page: Response) => Response
}

const traceHeader = 'svc-trace-id'

/** HEAD sends none of it, and nobody reads what goes to a connection that has ended. */
const isSentAtOnce = ({ method, signal }: Request, { length }: Uint8Array): boolean =>
  length <= shortAnswerBytesMax || method === 'HEAD' || signal.aborted

/** What the server sends: a short text as it is, a long one in pieces. */
function bodyOf(request: Request, text: string | undefined, hold: AnswerHold) {
  // No character of UTF-16 takes more than three bytes.
  const bytes = (text?.length ?? 0) * 3 > shortAnswerBytesMax ? Buffer.from(text ?? '') : undefined
  if (bytes === undefined || isSentAtOnce(request, bytes)) {
    hold.release()
    return text ?? null
  }
  hold.settle(bytes.length)
  request.signal.addEventListener('abort', hold.release)
  return inPieces(bytes, hold.release)
}

/** The address of a thing that was made by a request to the address of all such things. */
const below = ({ url }: Request, id: string): string =>
  `${withoutTrailingSlash(pathOf(url))}/${encodeURIComponent(id)}`

const untouched = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

export function openAnswers(settings: Settings, log: Log): Answers {
  const cors = corsOf(settings)
  const bare = new Headers({ ...untouched, ...cors.always })
  const json = new Headers(bare)
  json.set('content-type', 'application/json; charset=utf-8')
  const problem = new Headers(bare)
  problem.set('content-type', 'application/problem+json; charset=utf-8')

  function finish({ request, traceId }: Exchange, response: Response): Response {
    response.headers.set(traceHeader, traceId)
    cors.decorate(response.headers, request)
    return response
  }

  return {
    reply(exchange, { status, json: text, madeId, isReplay }, hold) {
      const headers = text === undefined ? bare : json
      const response = new Response(bodyOf(exchange.request, text, hold), { status, headers })
      if (madeId !== undefined) response.headers.set('location', below(exchange.request, madeId))
      if (isReplay === true) {
        response.headers.set('svc-idempotent-replay', 'true')
        cors.exposeReplay(response.headers)
      }
      return finish(exchange, response)
    },
    problem(exchange, error, allow) {
      const fields = acceptsJsonAlone(exchange.request) ? json : problem
      const response = problemResponse(error, exchange.traceId, log, fields)
      if (allow !== undefined) response.headers.set('allow', allow)
      return finish(exchange, response)
    },
    fault: (traceId, thrown) => problemResponse(toApiError(thrown), traceId, log, problem),
    options(exchange, allow) {
      const fields = cors.preflight(exchange.request) ?? { allow }
      const response = new Response(null, { status: 204, headers: bare })
      for (const [name, value] of Object.entries(fields)) response.headers.set(name, value)
      return finish(exchange, response)
    },
    page({ traceId }, page) {
      page.headers.set(traceHeader, traceId)
      return page
    },
  }
}
