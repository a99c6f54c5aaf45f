/**
 * Events out of the audit log, for readers each at its own place in it.
 *
 * An entry may tell of a thousand things, and a place may be years behind: so bundles are opened
 * one at a time, in the turns of long work.
 * @module
 */
import { readBundle } from '../audit/bundle.ts'
import type { Deps } from '../deps.ts'
import { hexOf } from '../lib/bytes.ts'
import { ApiError, attempt } from '../lib/errors.ts'
import type { TurnOwner } from '../lib/turn-queue.ts'
import { turnsByTime } from '../lib/work.ts'
import {
  catchUpMsMax,
  eventBundlesBytes,
  eventBundlesMax,
  eventMarkBytes,
  eventsReadMax,
  ownOrdinal,
} from '../limits/work-limits.ts'
import type { StoredBundle } from '../store/contract.ts'
import { eventsOf, type VaultEvent } from './event-types.ts'
import type { WebhookRecord } from './webhook-record.ts'

type Reads = Pick<Deps, 'store' | 'keys' | 'log' | 'elapsedMs' | 'turns'>

/** Awaited before bundles are read and each is opened, so that others get their turn. */
type Pause = () => Promise<void> | undefined

/** Events of consecutive entries. */
export interface EventBatch {
  readonly events: readonly VaultEvent[]
  /** Sequence of the first entry behind them. */
  readonly next: number
}

/**
 * Returns the events of a bundle, from an entry on. One that does not open has none: nobody could
 * ever read them.
 */
function eventsIn({ keys, log }: Reads, bundle: StoredBundle, from: number): VaultEvent[] {
  const { first, leaves } = bundle
  const entries = attempt(() => readBundle(keys, bundle, sequence => sequence >= from))
  if (entries === undefined) log('webhook_events_unreadable', { sequence: first })
  return (entries ?? []).flatMap(({ sequence, entry }) => {
    const leaf = leaves[sequence - first] ?? new Uint8Array()
    return eventsOf(sequence, entry, hexOf(leaf.subarray(0, eventMarkBytes)))
  })
}

/**
 * Returns how many bundles to read next, judged by the size of the last ones: each of many readers
 * may hold its bundles while it waits for its turn.
 */
function countAfter(bundles: readonly StoredBundle[]): number {
  const bytes = bundles.reduce((sum, { sealed }) => sum + sealed.length, 0)
  const fitting = Math.floor((eventBundlesBytes * bundles.length) / bytes)
  return Math.max(1, Math.min(eventBundlesMax, 2 * bundles.length, fitting))
}

/** Yields the events from an entry on, a bundle at a time. */
export async function* eventBatches(
  reads: Reads,
  from: number,
  pause: Pause,
): AsyncGenerator<EventBatch> {
  let count = 1
  for (let next = from; ;) {
    await pause()
    const bundles = await reads.store.bundles({ from: next }, count)
    if (bundles.length === 0) return
    count = countAfter(bundles)
    for (const bundle of bundles) {
      await pause()
      const events = eventsIn(reads, bundle, from)
      next = bundle.first + bundle.leaves.length
      yield { events, next }
    }
  }
}

/** Reads whole bundles until there is enough to send, or the time of one webhook is over. */
async function readEvents(reads: Reads, from: number, pause: Pause): Promise<EventBatch> {
  const untilMs = reads.elapsedMs() + catchUpMsMax
  const events: VaultEvent[] = []
  let next = from
  let bundles = 0
  for await (const batch of eventBatches(reads, from, pause)) {
    events.push(...batch.events)
    ;({ next } = batch)
    bundles += 1
    const isEnough = events.length >= eventsReadMax || bundles >= eventBundlesMax
    if (isEnough || reads.elapsedMs() >= untilMs) break
  }
  return { events, next }
}

/** Webhooks that have caught up read the same entries, which are opened once for all of them. */
export function makeEventReader(reads: Reads): (from: number, head: number) => Promise<EventBatch> {
  const pause = turnsByTime(reads, ownOrdinal)
  let last:
    | { readonly from: number; readonly head: number; readonly batch: Promise<EventBatch> }
    | undefined
  return (from, head) => {
    if (last?.from === from && last.head === head) return last.batch
    const batch = readEvents(reads, from, pause)
    last = { from, head, batch }
    return batch
  }
}

/** @throws the error, unless it is damage in the store, which would be met again each time */
function noneIfDamaged(error: unknown): readonly StoredBundle[] {
  if (error instanceof ApiError && error.kind === 'storage_corrupt') return []
  throw error
}

/** Finds the events of one entry; none if it was pruned, does not open, or is of another tenant. */
export type FindEvents = (sequence: number) => Promise<readonly VaultEvent[]>

/**
 * Opens a bundle once for entries in it that are asked for one after the other.
 * @param of the webhook, whose state is not sealed and may name entries of others
 * @param owner the caller that asks; absent for couriers, which would wait behind it
 */
export function makeEventFinder(
  reads: Reads,
  of: Pick<WebhookRecord, 'tenantId' | 'from'>,
  owner: TurnOwner = ownOrdinal,
): FindEvents {
  const pause = turnsByTime(reads, owner)
  let opened: { readonly first: number; readonly next: number; events: readonly VaultEvent[] } = {
    first: 0,
    next: 0,
    events: [],
  }

  async function open(sequence: number): Promise<void> {
    await pause()
    const [bundle] = await reads.store.bundles({ from: sequence }, 1).catch(noneIfDamaged)
    if (bundle === undefined) return
    const { first, leaves } = bundle
    opened = { first, next: first + leaves.length, events: eventsIn(reads, bundle, first) }
  }

  return async sequence => {
    if (sequence < of.from) return []
    if (sequence < opened.first || sequence >= opened.next) await open(sequence)
    return opened.events.filter(
      event => event.sequence === sequence && event.entry.tenantId === of.tenantId,
    )
  }
}
