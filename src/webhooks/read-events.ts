/**
 * Events out of the audit log, for webhooks that read it from their own places.
 * @module
 */
import { openBundle } from '../audit/bundle.ts'
import { findLogged } from '../audit/prove.ts'
import type { Deps } from '../deps.ts'
import { attempt } from '../lib/errors.ts'
import { eventBundlesMax } from '../limits/work-limits.ts'
import { eventsOf, type VaultEvent } from './event-types.ts'

type Reads = Pick<Deps, 'store' | 'keys' | 'log'>

/** Events of some entries that follow each other. */
export interface EventBatch {
  readonly events: readonly VaultEvent[]
  /** Sequence of the first entry behind them. */
  readonly next: number
}

/** Reads from an entry on. Those that do not open are passed over: nobody could ever read them. */
export async function readEvents(
  { store, keys, log }: Reads,
  from: number,
  bundlesMax = eventBundlesMax,
): Promise<EventBatch> {
  const bundles = await store.bundles({ from }, bundlesMax)
  const events: VaultEvent[] = []
  let next = from
  for (const bundle of bundles) {
    const entries = attempt(() => openBundle(keys, bundle))
    if (entries === undefined) log('webhook_events_unreadable', { sequence: bundle.first })
    for (const { sequence, entry } of entries ?? []) {
      if (sequence >= from) events.push(...eventsOf(sequence, entry))
    }
    next = bundle.first + bundle.leaves.length
  }
  return { events, next }
}

/** Webhooks that have caught up read the same entries, which are opened once for all of them. */
export function makeEventReader(reads: Reads): (from: number, head: number) => Promise<EventBatch> {
  let last:
    | { readonly from: number; readonly head: number; readonly batch: Promise<EventBatch> }
    | undefined
  return (from, head) => {
    if (last?.from === from && last.head === head) return last.batch
    const batch = readEvents(reads, from)
    last = { from, head, batch }
    return batch
  }
}

/** Returns the events of one entry; none if it was pruned or does not open. */
export async function eventsAt(reads: Reads, sequence: number): Promise<readonly VaultEvent[]> {
  try {
    const logged = await findLogged(reads, sequence)
    return logged === undefined ? [] : eventsOf(sequence, logged.entry)
  } catch {
    return []
  }
}
