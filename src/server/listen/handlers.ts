/**
 * The handlers of a listener, which a server calls for each request.
 * @module
 */
import type { Connections } from '../../http/keep-alive.ts'
import type { MaybeLater } from '../../lib/waiting.ts'

export type Handler = (request: Request, server: Connections) => MaybeLater<Response>

/** Options of `Bun.serve`. */
export interface Handlers {
  readonly routes: Readonly<Record<string, Handler>>
  readonly fetch: Handler
  /** Answers when all else has failed: the server's own answer would print the error. */
  readonly error: (thrown: unknown) => Response
}

/** Wraps the handler of each route, and of what no route matches; `error` stays. */
export const wrapHandlers = (
  handlers: Handlers,
  wrap: (handler: Handler) => Handler,
): Handlers => ({
  ...handlers,
  routes: Object.fromEntries(
    Object.entries(handlers.routes).map(([path, handler]) => [path, wrap(handler)]),
  ),
  fetch: wrap(handlers.fetch),
})
