/**
 * What is told of an exchange that has its answer.
 * @module
 */
import type { Answered, Seen } from '../deps.ts'
import type { Exchange } from './answers.ts'

/** HEAD is answered without the body. */
export function seenOf(exchange: Exchange, status: number): Seen {
  const { traceId, route, operation, refusal, startedMs, bytesIn, bytesOut, caller } = exchange
  const { method } = exchange.request
  const sent = method === 'HEAD' ? 0 : bytesOut
  const about = { traceId, method, route, operation, status, refusal, startedMs, caller }
  return { ...about, bytesIn, bytesOut: sent }
}

/** For whoever may know all of it. */
export function answeredBy(exchange: Exchange, { status, headers }: Response): Answered {
  const { request, route, operation, detail, caller } = exchange
  return { request, status, route, operation, detail, caller, location: headers.get('location') }
}
