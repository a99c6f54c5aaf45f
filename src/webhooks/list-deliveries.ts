/**
 * Lists the deliveries of a webhook that wait or were given up, as they were last saved: a moment
 * ago.
 * @module
 */
import type { Deps } from '../deps.ts'
import type { Caller } from '../rules/caller.ts'
import { printInstantUtc } from '../rules/instants.ts'
import { readState, type DeadDelivery, type WaitingDelivery } from './delivery-state.ts'
import { eventId } from './event-types.ts'
import { makeEventFinder, type FindEvents } from './read-events.ts'
import type { WebhookRecord } from './webhook-record.ts'

type Shown = DeadDelivery | WaitingDelivery

/**
 * Returns what failed, as callers are told it. They never learn whether the name that they gave
 * resolves here: else they could try out the names of an internal network.
 */
const shownFailure = (failure: string | undefined): string | undefined =>
  failure === 'unresolved' || failure === 'address_refused' ? 'no_public_address' : failure

async function printDelivery(eventsAt: FindEvents, shown: Shown): Promise<string> {
  const { sequence, place, attempts, failure } = shown
  const event = (await eventsAt(sequence))[place]
  const isDead = 'atMs' in shown
  const isTried = attempts > 0
  return JSON.stringify({
    sequence,
    event_id: event === undefined ? `${sequence}_${place}` : eventId(event),
    type: event?.type,
    status: isDead ? 'dead' : 'waiting',
    attempts,
    failure: shownFailure(failure),
    next_attempt_at: !isDead && isTried ? printInstantUtc(shown.nextMs) : undefined,
    given_up_at: isDead ? printInstantUtc(shown.atMs) : undefined,
  })
}

export async function readDeliveries(
  deps: Deps,
  caller: Pick<Caller, 'tenantId' | 'applicationId' | 'credential'>,
  record: Pick<WebhookRecord, 'id' | 'from' | 'tenantId'>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ readonly total: number; readonly items: readonly string[] }> {
  const { waiting, dead } = await readState(deps.store, record)
  const all: readonly Shown[] = [...dead, ...waiting]
  const eventsAt = makeEventFinder(deps, record, caller)
  const items: string[] = []
  for (const each of all.slice(offset, offset + limit)) {
    items.push(await printDelivery(eventsAt, each))
  }
  return { total: all.length, items }
}
