/**
 * The text of an event, as it is delivered and listed.
 *
 * A message has `type`, `timestamp` and `data` at its top, as Standard Webhooks asks, and again in
 * `event`, as published clients read them (docs/compatibility.md). Of a thing it has the id alone.
 * @module
 */
import { printInstantUtc } from '../rules/instants.ts'
import { eventId, type VaultEvent } from './event-types.ts'

function dataOf({ subject, id, entry }: VaultEvent): object {
  const { actorId, actorType, entityIds } = entry
  const application = subject === 'application_key' ? { application_id: entityIds[0] } : {}
  return { [subject]: { id, ...application }, actor: { id: actorId, type: actorType } }
}

/** Members of every form of an event. */
function eventMembers(event: VaultEvent) {
  const { tenantId, traceId, atMs } = event.entry
  return {
    id: eventId(event),
    type: event.type,
    timestamp: printInstantUtc(atMs),
    tenant_id: tenantId,
    trace_id: traceId,
    data: dataOf(event),
  }
}

/** Returns the text of an event in the feed. */
export const printFeedEvent = (event: VaultEvent): string =>
  JSON.stringify({ sequence: event.sequence, ...eventMembers(event) })

/** Returns the body of a message. @param atMs of the attempt */
export function printMessage(event: VaultEvent, atMs: number): string {
  const members = eventMembers(event)
  const { type, timestamp, data } = members
  const delivered = printInstantUtc(atMs)
  return JSON.stringify({ type, timestamp, data, event: members, delivered_at: delivered })
}
