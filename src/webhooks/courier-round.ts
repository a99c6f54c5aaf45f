/**
 * The round of a courier: the events of one webhook that it has read and not delivered, and how
 * these are saved and read again.
 * @module
 */
import type { KeyObject } from 'node:crypto'
import { deliveriesKey } from '../audit/derived-keys.ts'
import type { LogEnd } from '../audit/log-end.ts'
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
import { unchanged } from '../records/read-row.ts'

export interface CourierParts {
  readonly deps: Pick<
    Deps,
    'store' | 'keys' | 'now' | 'elapsedMs' | 'turns' | 'randomBytes' | 'log' | 'audit'
  >
  readonly send: Send
  readonly eventKey: KeyObject
  readonly logEnd: LogEnd
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

/** Members without a comment are as in `DeliveryState`. */
export interface Round {
  readonly parts: CourierParts
  readonly lanes: Lanes
  stored: StoredWebhook
  cursor: number
  ordersDone: number
  failingSinceMs: number | undefined
  dead: readonly DeadDelivery[]
  /** Saved deliveries that wait: their events are opened before the log is read on. */
  unopened: readonly WaitingDelivery[]
  /** The log, as it was last looked at. */
  range: LogRange
  /** Events that were read and found no room; the log is read on once there are none. */
  unread: Unread | undefined
  /** Instant of the entry at the cursor, if its events found no room. */
  stoppedAtMs: number | undefined
  /** Number of deliveries under way. */
  underWay: number
  /** Unix milliseconds until which its receiver wants nothing. */
  pausedUntilMs: number
  /** True once nothing more is sent. */
  isEnded: boolean
  /** True once the vault has decided to disable the webhook. */
  isDisabling: boolean
  /** Attempts that are not saved; an order counts as enough of them for a save. */
  unsaved: number
  savedCursor: number
  /** By `elapsedMs`. */
  savedMs: number
}

/** Begins at the saved state. */
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
 * @param hasTime returns false once the rest must wait for the next step
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
  // The log is read on only once all are opened, so what is not opened is last in its order.
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

/**
 * Saves how far it is, unless the webhook was changed or deleted since it was read, or the log lost
 * entries that were read: a courier that begins there would pass over those in their place.
 */
export async function saveRound(round: Round): Promise<void> {
  const { parts, stored, unsaved, cursor } = round
  const value = encodeState(stateOf(round))
  const hasRead = await parts.logEnd.requirement()
  if (hasRead === undefined) return
  const { ok } = await parts.deps.store.write([
    { derived: deliveriesKey(stored.record.id), value },
    unchanged(stored.row),
    hasRead,
  ])
  round.savedMs = parts.deps.elapsedMs()
  if (!ok) return
  round.unsaved -= unsaved
  round.savedCursor = cursor
}
