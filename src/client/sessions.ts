/**
 * Operations on sessions.
 * @module
 */
import type { Ask } from './ask.ts'
import type { Answer, CallOptions } from './call.ts'
import type { CreateSessionResponse, Session, SessionGrants, SessionList } from './interface.ts'
import { below, withQuery } from './paths.ts'
import { isNewSession, isNothing } from './shapes.ts'
import type { WalkChoice } from './token.ts'
import { walkStretches } from './walk.ts'

/** Operations on sessions: keys of a page or an app that expire. */
export interface Sessions {
  /**
   * Begins a session, for a public application. It can do nothing until authorized.
   *
   * @returns its key, shown this once, and a nonce to authorize it with
   * @throws CofferError `forbidden` for a key of another type of application
   * @example
   * const { nonce, session_key } = await page.sessions.create()
   */
  create(options?: CallOptions): Answer<CreateSessionResponse>

  /**
   * Authorizes a session, for a private application, which can grant no more than it has.
   *
   * @throws CofferError `invalid_request`, `forbidden`, `conflict` for a used nonce
   * @example
   * await vault.sessions.authorize({ nonce, permissions: ['token:read'] })
   */
  authorize(grants: SessionGrants, options?: CallOptions): Answer<void>

  /**
   * The live sessions, newest first.
   *
   * @throws CofferError (each step) `forbidden`
   * @throws TypeError (the first step) for an invalid `size` or `limit`
   * @example
   * for await (const { id, expires_at } of manager.sessions.list()) console.log(id, expires_at)
   */
  list(choice?: WalkChoice, options?: CallOptions): AsyncGenerator<Session, void>

  /**
   * Ends a session at once.
   *
   * @throws CofferError `not_found`, `forbidden`
   * @example
   * await manager.sessions.delete(id)
   */
  delete(id: string, options?: CallOptions): Answer<void>
}

/** @internal */
export const sessionOperations = (ask: Ask): Sessions => ({
  // If a lost answer makes a second session, that one expires.
  create: options => ask.plain('POST', '/sessions', undefined, options, { is: isNewSession }),

  authorize: (grants, options) => ask.keeping('POST', '/sessions/authorize', grants, options),

  list: ({ size, limit } = {}, options = {}) =>
    walkStretches<Session>({ size, limit }, (start, stretch) => {
      const path = withQuery('/sessions', { size: stretch, start })
      return ask.plain<SessionList>('GET', path, undefined, options)
    }),

  delete: (id, options) =>
    ask.plain('DELETE', below('/sessions', id), undefined, options, { is: isNothing }),
})
