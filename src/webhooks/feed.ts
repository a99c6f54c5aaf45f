/**
 * The feed: events of a tenant for readers who have no server of their own, a page at a time.
 *
 * A page that has nothing yet waits for a while. It ends early when the process does, and tells
 * nothing to a key that was revoked meanwhile.
 * @module
 */
import type { Deps } from '../deps.ts'
import { invalid } from '../lib/errors.ts'
import {
  feedEntriesMax,
  feedEventsMax,
  feedIdCharsMax,
  feedWaitsMax,
  feedWaitsPerCredentialMax,
} from '../limits/limits.ts'
import { turnsByTime } from '../lib/work.ts'
import type { Caller } from '../rules/caller.ts'
import type { VaultEventType, VaultEvent } from './event-types.ts'
import type { LookAtLog } from './log-looks.ts'
import { eventBatches } from './read-events.ts'
import { boundReaders } from './feed-readers.ts'

/** The part of the feed that is asked for. */
export interface FeedRequest {
  /** Sequence of the first entry to look at. */
  readonly from: number
  /** All if absent. */
  readonly types: ReadonlySet<VaultEventType> | undefined
}

export interface FeedPage {
  /** Events of whole entries. */
  readonly events: readonly VaultEvent[]
  /** Sequence of the first entry that was not looked at. */
  readonly next: number
  /** Sequence of the oldest entry that is kept. */
  readonly oldest: number
}

/** The members of `OperationCall` that reading the feed takes. */
export interface FeedCall {
  readonly caller: Caller
  readonly isEnding: () => boolean
  readonly waitAside: <T>(wait: () => Promise<T>) => Promise<T>
  readonly assertStillPermitted: () => Promise<void>
}

/** Takes whole entries while there is room. */
function makeTaking() {
  const events: VaultEvent[] = []
  let idChars = 0
  const isFull = (): boolean => events.length >= feedEventsMax || idChars >= feedIdCharsMax
  return {
    events,
    isFull,
    /** @returns the sequence of the next one to look at */
    take(more: Iterable<VaultEvent>, next: number): number {
      for (const event of more) {
        if (isFull() && event.sequence !== events.at(-1)?.sequence) return event.sequence
        events.push(event)
        idChars += event.id.length
      }
      return next
    },
  }
}

/** Reads what is there, whole entries up to a bound. */
export async function readPage(
  deps: Deps,
  { caller }: Pick<FeedCall, 'caller'>,
  { from, types }: FeedRequest,
): Promise<FeedPage> {
  const range = await deps.store.logRange()
  const isAsked = ({ type, entry }: VaultEvent): boolean =>
    entry.tenantId === caller.tenantId && types?.has(type) !== false
  const { events, isFull, take } = makeTaking()
  let next = Math.max(from, range.from)
  const end = Math.min(range.next, next + feedEntriesMax)
  if (next >= end) return { events, next, oldest: range.from }
  const pause = turnsByTime(deps, caller)
  for await (const batch of eventBatches(deps, next, pause)) {
    next = take(batch.events.filter(isAsked), batch.next)
    if (next >= end || isFull()) break
  }
  return { events, next, oldest: range.from }
}

async function readUntil(
  deps: Deps,
  look: LookAtLog,
  call: FeedCall,
  request: FeedRequest & { readonly waitMs: number },
): Promise<FeedPage> {
  const endMs = deps.elapsedMs() + request.waitMs
  for (let { from } = request; ;) {
    const page = await readPage(deps, call, { ...request, from })
    const isOver = deps.elapsedMs() >= endMs || call.isEnding()
    if (page.events.length > 0 || isOver || page.next - from >= feedEntriesMax) return page
    from = page.next
    await call.waitAside(look)
    await call.assertStillPermitted()
  }
}

/** @throws ApiError `invalid_request` for a place that this log has not reached */
async function assertTold({ store }: Pick<Deps, 'store'>, { from }: FeedRequest): Promise<void> {
  const { next } = await store.logRange()
  if (from <= next) return
  const expected = `expected at most ${next - 1}, the last entry`
  throw invalid('query.after', `${expected}: a vault that was put back counts on from there`)
}

/** Returns what reads a page, and bounds those that wait at a time. */
export function makeFeed(deps: Deps, look: LookAtLog) {
  const max = { own: feedWaitsPerCredentialMax, all: feedWaitsMax }
  const enter = boundReaders(max, 'waiting pages of the feed')
  return async (
    call: FeedCall,
    request: FeedRequest & { readonly waitMs: number },
  ): Promise<FeedPage> => {
    await assertTold(deps, request)
    if (request.waitMs === 0) return readUntil(deps, look, call, request)
    const leave = enter(call.caller)
    try {
      const page = await readUntil(deps, look, call, request)
      // Its key may have been revoked while the page was read.
      await call.assertStillPermitted()
      return page
    } finally {
      leave()
    }
  }
}
