/**
 * Operations on the feed of events.
 * @module
 */
import type { Ask } from './ask.ts'
import type { Answer, CallOptions } from './call.ts'
import type { EventLine, EventType } from './interface.ts'
import { attemptMsDefault, feedWaitSeconds } from './limits.ts'
import { withQuery } from './paths.ts'
import { isEventPage } from './shapes.ts'

/** The part of the feed that is read. */
export interface EventChoice {
  /** As the last line of the page before tells it; default: from the oldest on. */
  readonly after?: number | undefined
  /** Default: all. */
  readonly types?: readonly EventType[] | undefined
}

/** Operations on the feed of events, for a management application with `log:read`. */
export interface EventFeed {
  /**
   * A page of events in their order, and a line `page.end` behind them, with `after` for the next.
   *
   * @throws CofferError `invalid_request`, `forbidden`, `too_many_requests`
   * @example
   * const lines = await manager.events.page({ after: 4711, wait: 20 })
   */
  page(
    choice?: EventChoice & {
      /** Seconds for which a page without events waits; default: 0. */
      readonly wait?: number
    },
    options?: CallOptions,
  ): Answer<readonly EventLine[]>

  /**
   * Every event, and then each new one once it is there; it ends when the loop does.
   *
   * @throws CofferError (each step) `invalid_request`, `forbidden`, `too_many_requests`
   * @example
   * for await (const { sequence, type } of manager.events.follow({ after: 4711 })) {
   *   console.log(sequence, type)
   * }
   */
  follow(choice?: EventChoice, options?: CallOptions): AsyncGenerator<EventLine, void>
}

/** @internal */
export function eventOperations(ask: Ask): EventFeed {
  const page: EventFeed['page'] = ({ after, types, wait } = {}, options = {}) => {
    const path = withQuery('/events', { after, types: types?.join(','), wait })
    return ask.plain('GET', path, undefined, options, { is: isEventPage })
  }
  return {
    page,
    async *follow({ after, types } = {}, options = {}) {
      // The bound of the client may be shorter than the wait.
      const patient = { timeoutMs: attemptMsDefault, ...options }
      for (let next = after; ;) {
        const lines = await page({ after: next, types, wait: feedWaitSeconds }, patient)
        yield* lines.slice(0, -1)
        next = lines.at(-1)?.after ?? next
      }
    },
  }
}
