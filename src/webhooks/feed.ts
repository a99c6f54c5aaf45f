/**
 * The feed: events of a tenant for readers who have no server of their own, a page at a time.
 *
 * A page that has nothing yet waits for a while. It ends early when the process does, and when any
 * credential was changed: then its reader asks once more, and is judged anew.
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import { tooManyRequests } from '../lib/errors.ts'
import {
  feedEntriesMax,
  feedEventsMax,
  feedWaitsMax,
  feedWaitsPerCredentialMax,
} from '../limits/limits.ts'
import { feedLookMs, pagesOrdinal } from '../limits/work-limits.ts'
import type { Caller } from '../rules/caller.ts'
import { eventMembers } from './event-body.ts'
import type { EventType } from './event-types.ts'
import { readEvents } from './read-events.ts'

interface FeedRequest {
  /** Sequence of the first entry to look at. */
  readonly from: number
  /** All if absent. */
  readonly types: ReadonlySet<EventType> | undefined
  readonly waitMs: number
  readonly isEnding: () => boolean
}

export interface FeedPage {
  /** JSON texts. */
  readonly events: readonly string[]
  /** Sequence of the first entry that was not looked at. */
  readonly next: number
  /** Sequence of the oldest entry that is kept. */
  readonly oldest: number
}

type ReadPage = (caller: Caller, request: FeedRequest) => Promise<FeedPage>

/** Reads what is there, whole entries up to a bound. */
async function readNow(
  deps: Deps,
  { tenantId }: Caller,
  { from, types }: FeedRequest,
): Promise<FeedPage> {
  const range = await deps.store.logRange()
  const events: string[] = []
  let next = Math.max(from, range.from)
  const end = Math.min(range.next, next + feedEntriesMax)
  while (next < end && events.length < feedEventsMax) {
    const batch = await readEvents(deps, next)
    if (batch.next <= next) break
    for (const event of batch.events) {
      if (event.entry.tenantId !== tenantId || types?.has(event.type) === false) continue
      events.push(JSON.stringify({ sequence: event.sequence, ...eventMembers(event) }))
    }
    next = batch.next
    await deps.turns.next(pagesOrdinal)
  }
  return { events, next, oldest: range.from }
}

async function readUntil(deps: Deps, caller: Caller, request: FeedRequest): Promise<FeedPage> {
  const endMs = deps.elapsedMs() + request.waitMs
  const generation = await deps.store.generation()
  for (let { from } = request; ;) {
    const page = await readNow(deps, caller, { ...request, from })
    // Its key may have been revoked while it waited: then it is told nothing more.
    const isStale = (await deps.store.generation()) !== generation
    if (isStale) return { ...page, events: [], next: from }
    const isOver = deps.elapsedMs() >= endMs || request.isEnding()
    if (page.events.length > 0 || isOver || page.next - from >= feedEntriesMax) return page
    from = page.next
    await setTimeout(feedLookMs)
  }
}

/** Bounds the pages that wait at a time. */
export function makeFeed(deps: Deps): ReadPage {
  const waiting = new Map<number, number>()
  let all = 0
  return async (caller, request) => {
    if (request.waitMs === 0) return readUntil(deps, caller, request)
    const { ordinal } = caller.credential
    const own = waiting.get(ordinal) ?? 0
    if (own >= feedWaitsPerCredentialMax || all >= feedWaitsMax) {
      throw tooManyRequests('Too many pages of the feed wait: ask without wait, or later.', 1)
    }
    waiting.set(ordinal, own + 1)
    all += 1
    try {
      return await readUntil(deps, caller, request)
    } finally {
      all -= 1
      const left = (waiting.get(ordinal) ?? 1) - 1
      if (left > 0) waiting.set(ordinal, left)
      else waiting.delete(ordinal)
    }
  }
}
