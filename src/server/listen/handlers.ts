/**
 * The handlers of a listener, which a server calls for each request.
 * @module
 */
import type { App } from './app.ts'

export type Handlers = App['listener']
export type Handler = Handlers['fetch']

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
