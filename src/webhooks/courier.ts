/**
 * Deliveries to one webhook: a courier reads the log from its cursor on, sends, and writes down how
 * far it is.
 *
 * Events of one thing go one after the other. An event that fails waits for its next attempt,
 * and later ones of the same thing wait behind it. With many waiting nothing more is read: the log
 * keeps the rest.
 * @module
 */
import { parseDestination } from '../egress/destination.ts'
import type { Sent } from '../egress/send.ts'
import { utf8 } from '../lib/bytes.ts'
import { present } from '../lib/errors.ts'
import { nextFlight } from '../lib/serial.ts'
import {
  catchUpMsMax,
  deliveriesPerWebhookMax,
  readAheadMax,
  waitingDeliveriesMax,
} from '../limits/work-limits.ts'
import type { LogRange } from '../store/contract.ts'
import {
  backlogOf,
  beginRound,
  isSaveDue,
  openWaiting,
  saveRound,
  type CourierParts,
  type Round,
  type Unread,
} from './courier-round.ts'
import type { BacklogFigures } from './delivery-figures.ts'
import type { DeliveryState } from './delivery-state.ts'
import { printMessage } from './event-body.ts'
import { eventId, type VaultEvent } from './event-types.ts'
import { newDelivery, type Delivery } from './lanes.ts'
import { obeyOrders } from './orders.ts'
import { settle } from './settle.ts'
import { signWebhook } from './signature.ts'
import type { Sharer } from './turns.ts'
import { liveSecrets, type StoredWebhook } from './webhook-record.ts'

export interface Courier {
  /** Takes what was changed of its webhook. */
  readonly change: (stored: StoredWebhook) => void
  /** Does what was ordered, reads on, sends, and writes down how far it is. */
  readonly work: (range: LogRange) => Promise<void>
  /** Sends no more. */
  readonly leave: () => void
  /** Sends no more, and writes down how far it is. */
  readonly end: () => Promise<void>
  readonly figures: () => BacklogFigures
}

/** True if a webhook gets an event. A test goes only to the webhook that is tested. */
function isFor({ record }: StoredWebhook, { type, id, entry }: VaultEvent): boolean {
  if (entry.tenantId !== record.tenantId) return false
  return type === 'webhook.test' ? id === record.id : record.events.includes(type)
}

async function post({ parts, stored }: Round, { event }: Delivery): Promise<Sent> {
  const { record } = stored
  const atMs = parts.deps.now()
  const destination = parseDestination(record.url)
  if ('failure' in destination) return { failure: destination.failure }
  const body = new Uint8Array(utf8(printMessage(event, atMs)))
  const id = `${record.id}_${eventId(event)}`
  const message = { id, timestamp: Math.floor(atMs / 1_000), body }
  const signers = { secrets: liveSecrets(record, atMs), eventKey: parts.eventKey }
  const headers = { 'content-type': 'application/json', ...signWebhook(message, signers) }
  return parts.send({ destination, headers, body })
}

const isFull = ({ lanes }: Round): boolean =>
  lanes.size() >= waitingDeliveriesMax || lanes.fresh() >= readAheadMax

/** Takes the events of whole entries while there is room, and keeps the others for later. */
function takeIn(round: Round, { batch, at: first }: Unread): void {
  const { events, next } = batch
  let taken = -1
  for (let at = first; at < events.length; at += 1) {
    const event = present(events[at], 'a batch has its events')
    if (!isFor(round.stored, event)) continue
    if (event.sequence !== taken && isFull(round)) {
      round.unread = { batch, at }
      round.stoppedAtMs = event.entry.atMs
      round.cursor = event.sequence
      return
    }
    taken = event.sequence
    round.lanes.add(newDelivery(event))
  }
  round.unread = undefined
  round.stoppedAtMs = undefined
  round.cursor = next
}

async function fill(round: Round, hasTime: () => boolean): Promise<void> {
  const { deps, read } = round.parts
  if (round.cursor < round.range.from) {
    deps.log('webhook_entries_pruned', { entries: round.range.from - round.cursor })
    round.cursor = round.range.from
    round.unread = undefined
  }
  while (round.cursor < round.range.next && !isFull(round) && hasTime()) {
    if (round.unread === undefined) {
      const batch = await read(round.cursor, round.range.next)
      if (batch.next <= round.cursor) return
      takeIn(round, { batch, at: 0 })
    } else takeIn(round, round.unread)
  }
}

/** Sends no more; what is under way keeps its turns. */
function leave(round: Round, sharer: Sharer): void {
  round.isEnded = true
  round.parts.turns.leave(sharer)
}

export function startCourier(
  parts: CourierParts,
  stored: StoredWebhook,
  state: DeliveryState,
): Courier {
  const { turns, deps } = parts
  const round = beginRound(parts, stored, state)
  const sharer = { tenantId: stored.record.tenantId, underWay: () => round.underWay, start }
  let hasChanged = false

  const step = nextFlight(async () => {
    const untilMs = deps.elapsedMs() + catchUpMsMax
    const hasTime = (): boolean => !round.isEnded && deps.elapsedMs() < untilMs
    if (round.isEnded) return
    // Else, after a crash, entries passed over would be judged by what the webhook asks for now.
    if (hasChanged && round.cursor !== round.savedCursor) await saveRound(round)
    hasChanged = false
    await openWaiting(round, hasTime)
    if (round.unopened.length === 0) {
      await obeyOrders(round)
      await fill(round, hasTime)
    }
    start()
    if (!round.isEnded && isSaveDue(round)) await saveRound(round)
  })

  async function deliver(delivery: Delivery): Promise<void> {
    delivery.isUnderWay = true
    round.underWay += 1
    const sent = await post(round, delivery).catch((): Sent => ({ failure: 'connection' }))
    round.underWay -= 1
    delivery.isUnderWay = false
    if (!round.isEnded) settle(round, delivery, sent)
    turns.give(sharer)
    start()
    // A step that fails is repeated at the next tick, which reports the failure.
    void step().catch(() => {})
  }

  function start(): void {
    const isStill = round.isEnded || round.isDisabling || round.stored.record.status === 'disabled'
    const nowMs = deps.now()
    if (isStill || nowMs < round.pausedUntilMs) return
    for (const delivery of round.lanes.ready(nowMs)) {
      if (round.underWay >= deliveriesPerWebhookMax || !turns.take(sharer)) return
      void deliver(delivery)
    }
  }

  return {
    change(next) {
      round.stored = next
      round.isDisabling = false
      hasChanged = true
    },
    work(range) {
      round.range = range
      return step()
    },
    leave: () => leave(round, sharer),
    end() {
      leave(round, sharer)
      return saveRound(round)
    },
    figures: () => backlogOf(round),
  }
}
