/**
 * The round of a courier: what it has read and not delivered of one webhook, and how that is
 * written down and read again.
 * @module
 */
import type { KeyObject } from 'node:crypto'
import { deliveriesKey } from '../audit/derived-keys.ts'
import type { Deps } from '../deps.ts'
import type { Send } from '../egress/send.ts'
import { deliveriesPerSave, deliveriesSaveMs, passedSaveMs } from '../limits/work-limits.ts'
import type { LogRange } from '../store/contract.ts'
import type { AttemptCounts, BacklogFigures } from './delivery-figures.ts'
import {
  encodeState,
  type DeadDelivery,
  type DeliveryState,
  type WaitingDelivery,
} from './delivery-state.ts'
import { makeLanes, type Delivery, type Lanes } from './lanes.ts'
import { makeEventFinder, type EventBatch } from './read-events.ts'
import type { SendTurns } from './turns.ts'
import type { StoredWebhook } from './webhook-record.ts'

export interface CourierParts {
  readonly deps: Pick<
    Deps,
    'store' | 'keys' | 'now' | 'elapsedMs' | 'turns' | 'randomBytes' | 'log' | 'audit'
  >
  readonly send: Send
  readonly eventKey: KeyObject
  readonly read: (from: number, head: number) => Promise<EventBatch>
  /** Turns that all webhooks share. */
  readonly turns: SendTurns
  /** The counts of all webhooks together. */
  readonly attempts: AttemptCounts
}

/** A batch, and the place of its first event that was not taken. */
export interface Unread {
  readonly batch: EventBatch
  readonly at: number
}

/** Members without a word of their own are as in `DeliveryState`. */
export interface Round {
  readonly parts: CourierParts
  readonly lanes: Lanes
  stored: StoredWebhook
  cursor: number
  ordersDone: number
  failingSinceMs: number | undefined
  dead: readonly DeadDelivery[]
  /** Deliveries that wait, as they were written down: their events are opened before all else. */
  unopened: readonly WaitingDelivery[]
  /** The log, as it was last looked at. */
  range: LogRange
  /** The events that were read, and had no room; absent where the log is read on. */
  unread: Unread | undefined
  /** Instant of the entry at the cursor, where there was no room for its events. */
  stoppedAtMs: number | undefined
  /** Number of deliveries under way. */
  underWay: number
  /** Unix milliseconds until which its receiver wants nothing. */
  pausedUntilMs: number
  /** True once nothing more is sent. */
  isEnded: boolean
  /** True from a decision to disable the webhook on. */
  isDisabling: boolean
  /** Attempts that are not written down. */
  unsaved: number
  savedCursor: number
  /** By `elapsedMs`. */
  savedMs: number
}

/** Begins where the state was written. */
export function beginRound(
  parts: CourierParts,
  stored: StoredWebhook,
  { cursor, ordersDone, failingSinceMs, dead, waiting }: DeliveryState,
): Round {
  return {
    parts,
    lanes: makeLanes(),
    stored,
    cursor,
    ordersDone,
    failingSinceMs,
    dead,
    unopened: waiting,
    range: { from: 0, next: cursor },
    unread: undefined,
    stoppedAtMs: undefined,
    underWay: 0,
    pausedUntilMs: 0,
    isEnded: false,
    isDisabling: false,
    unsaved: 0,
    savedCursor: cursor,
    savedMs: parts.deps.elapsedMs(),
  }
}

/**
 * Opens the events that waited; those that were pruned meanwhile are left out.
 * @param hasTime false once the rest is left to the next step
 */
export async function openWaiting(round: Round, hasTime: () => boolean): Promise<void> {
  const eventsAt = makeEventFinder(round.parts.deps, round.stored.record)
  for (let [first] = round.unopened; first !== undefined; [first] = round.unopened) {
    const { sequence, place, attempts, nextMs, failure } = first
    const event = (await eventsAt(sequence))[place]
    if (event !== undefined) {
      round.lanes.add({ event, attempts, nextMs, failure, isUnderWay: false })
    }
    round.unopened = round.unopened.slice(1)
    if (!hasTime()) return
  }
}

const waitingOf = ({ event, attempts, nextMs, failure }: Delivery): WaitingDelivery => ({
  sequence: event.sequence,
  place: event.place,
  attempts,
  nextMs,
  failure,
})

const stateOf = ({ lanes, unopened, ...round }: Round): DeliveryState => ({
  cursor: round.cursor,
  ordersDone: round.ordersDone,
  failingSinceMs: round.failingSinceMs,
  dead: round.dead,
  // Nothing is read on before all of them are opened, so they are the last in the log.
  waiting: [...lanes.all().map(waitingOf), ...unopened],
})

export function backlogOf({
  parts,
  lanes,
  unopened,
  dead,
  range,
  cursor,
  stoppedAtMs,
}: Round): BacklogFigures {
  return {
    parked: lanes.size() - lanes.fresh() + unopened.length,
    dead: dead.length,
    lagEntries: Math.max(0, range.next - cursor),
    lagMs: stoppedAtMs === undefined ? 0 : Math.max(0, parts.deps.now() - stoppedAtMs),
  }
}

export function isSaveDue({ parts, unsaved, savedMs, cursor, savedCursor }: Round): boolean {
  const sinceMs = parts.deps.elapsedMs() - savedMs
  if (unsaved > 0) return unsaved >= deliveriesPerSave || sinceMs >= deliveriesSaveMs
  return cursor !== savedCursor && sinceMs >= passedSaveMs
}

/** Writes how far it is, unless the webhook was changed or deleted since it was read. */
export async function saveRound(round: Round): Promise<void> {
  const { parts, stored, unsaved, cursor } = round
  const { ok } = await parts.deps.store.write([
    { derived: deliveriesKey(stored.record.id), value: encodeState(stateOf(round)) },
    { require: stored.row.ordinal, ifVersion: stored.row.version },
  ])
  round.savedMs = parts.deps.elapsedMs()
  if (!ok) return
  round.unsaved -= unsaved
  round.savedCursor = cursor
}
