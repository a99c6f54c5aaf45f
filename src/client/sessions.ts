/**
 * Operations on sessions.
 * @module
 */
import { pageSizeMax } from './limits.ts'
import type { CreateSessionResponse, Session, SessionGrants, SessionList } from './interface.ts'
import type { Ask } from './ask.ts'
import { below, withQuery } from './paths.ts'
import { walkStretches } from './walk.ts'
import type { CallOptions } from './wire.ts'

export const sessionOperations = (ask: Ask) => ({
  /** For a public application. One that is made twice as an answer was lost ends by itself. */
  create: (options?: CallOptions): Promise<CreateSessionResponse> =>
    ask.plain('POST', '/sessions', undefined, options),

  /** For a private application, which can grant no more than it has. */
  authorize: (grants: SessionGrants, options?: CallOptions): Promise<void> =>
    ask.keeping('POST', '/sessions/authorize', grants, options),

  list: (options?: CallOptions) =>
    walkStretches<Session>(start => {
      const path = withQuery('/sessions', { size: pageSizeMax, start })
      return ask.plain<SessionList>('GET', path, undefined, options)
    }),

  delete: (id: string, options?: CallOptions): Promise<void> =>
    ask.plain('DELETE', below('/sessions', id), undefined, options),
})
