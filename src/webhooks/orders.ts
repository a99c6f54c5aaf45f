/**
 * Orders of callers to the process that delivers, each done once.
 * @module
 */
import { deliveriesPerSave } from '../limits/work-limits.ts'
import type { Round } from './courier-round.ts'
import { newDelivery } from './lanes.ts'
import { makeEventFinder } from './read-events.ts'
import type { WebhookOrder } from './webhook-record.ts'

/** Begins anew at an entry, or at the creation of the webhook; what is under way goes on. */
function replay(round: Round, asked: number): void {
  const from = Math.max(asked, round.stored.record.from)
  round.lanes.dropFrom(from)
  round.dead = round.dead.filter(({ sequence }) => sequence < from)
  round.cursor = Math.min(round.cursor, from)
  round.unread = undefined
}

/** Has the events of an entry go now, those that were given up as well. */
async function retry(round: Round, sequence: number): Promise<void> {
  const { lanes, dead, parts, stored } = round
  const given = dead.filter(each => each.sequence === sequence)
  const events =
    given.length === 0 ? [] : await makeEventFinder(parts.deps, stored.record)(sequence)
  for (const { place } of given) {
    const event = events[place]
    if (event !== undefined) lanes.add(newDelivery(event))
  }
  round.dead = round.dead.filter(each => !given.includes(each))
  for (const delivery of lanes.all()) {
    if (delivery.event.sequence === sequence) delivery.nextMs = parts.deps.now()
  }
}

function resume(round: Round): void {
  round.failingSinceMs = undefined
  const nowMs = round.parts.deps.now()
  for (const delivery of round.lanes.all()) delivery.nextMs = nowMs
}

async function obey(round: Round, order: WebhookOrder): Promise<void> {
  if (order.kind === 'replay') replay(round, order.from)
  else if (order.kind === 'retry') await retry(round, order.sequence)
  else resume(round)
  round.pausedUntilMs = 0
  round.ordersDone = order.number
  round.unsaved += deliveriesPerSave
}

/** Obeys the orders that are not done yet. */
export async function obeyOrders(round: Round): Promise<void> {
  for (const order of round.stored.record.orders) {
    if (order.number > round.ordersDone) await obey(round, order)
  }
}
