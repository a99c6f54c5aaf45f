/**
 * Workers that accept from one socket take turns.
 *
 * A new connection wakes the worker that has waited longest; one that answers waits behind the
 * others again, so that connections come to those who have answered least recently. Without this
 * the kernel wakes always the same worker, or all of them for one connection.
 * Source: epoll_ctl(2), EPOLLEXCLUSIVE; docs/decisions.md, "Beyond one machine".
 * @module
 */
import { acceptTurnMs } from '../../limits/operation-limits.ts'
import { wrapHandlers, type Handler, type Handlers } from './handlers.ts'
import type { Accepting } from './listening-sockets.ts'

export interface Turns {
  /** Returns handlers that answer alike, and give the turn on. */
  readonly of: (handlers: Handlers) => Handlers
  /** Called once the server of these handlers accepts. */
  readonly begin: (accepting: Pick<Accepting, 'goLast'>) => void
}

export function makeTurns(elapsedMs: () => number): Turns {
  let goLast: (() => void) | undefined
  let nextMs = 0
  const wrap =
    (handler: Handler): Handler =>
    (request, server) => {
      const nowMs = elapsedMs()
      if (nowMs >= nextMs) {
        nextMs = nowMs + acceptTurnMs
        goLast?.()
      }
      return handler(request, server)
    }
  return {
    of: handlers => wrapHandlers(handlers, wrap),
    begin(accepting) {
      ;({ goLast } = accepting)
    },
  }
}
