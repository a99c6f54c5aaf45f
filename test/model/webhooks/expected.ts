/**
 * Deliveries that a webhook is to get: which may go at an instant, which must, and what becomes of
 * each by the answer of its receiver.
 * @module
 */
import { at, newDelivery, newRound, sequenceOf, isSameThing, type Model } from './state.ts'
import type { ModelDelivery, ModelEvent, ModelWebhook, Order } from './state.ts'
import type { Outcome } from './receiver.ts'

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** Waits after each attempt. Source: C18.7; each is up to 20 % longer or shorter. */
const waitsMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
]
/** A webhook has no more deliveries under way. */
const togetherMax = 16
const failingDaysMs = 5 * 24 * hourMs

/** True if a webhook gets an event. A test is for the one that was asked. */
const isMeant = ({ id, events }: ModelWebhook, event: ModelEvent): boolean =>
  event.type === 'webhook.test' ? event.id === id : events.includes(event.type)

const isFrom = (event: ModelEvent, sequence: number): boolean =>
  (sequenceOf(event) ?? Infinity) >= sequence

function obey(model: Model, webhook: ModelWebhook, order: Order): void {
  webhook.paused = at(0)
  if (order.kind === 'replay') {
    const { from } = order
    webhook.deliveries = webhook.deliveries.filter(
      ({ event, isHeld }) => isHeld || !isFrom(event, from),
    )
    webhook.dead = webhook.dead.filter(({ event }) => !isFrom(event, from))
    const first = model.events.findIndex(event => isFrom(event, from))
    if (first >= 0) webhook.cursor = Math.min(webhook.cursor, Math.max(first, webhook.from))
    return
  }
  const isAsked = (event: ModelEvent): boolean =>
    order.kind === 'resume' || sequenceOf(event) === order.sequence
  for (const each of webhook.deliveries) if (isAsked(each.event)) each.next = at(model.nowMs)
  if (order.kind === 'resume') {
    webhook.failing = undefined
    return
  }
  const given = webhook.dead.filter(({ event }) => isAsked(event))
  webhook.dead = webhook.dead.filter(each => !given.includes(each))
  webhook.deliveries.push(...given.map(({ event }) => newDelivery(event, true)))
}

/** Does what was ordered, and reads on to the end of the log. */
export function readOn(model: Model): void {
  for (const webhook of model.webhooks.values()) {
    if (webhook.status === 'disabled') continue
    for (const order of webhook.orders.splice(0)) obey(model, webhook, order)
    const read = model.events.slice(webhook.cursor)
    webhook.deliveries.push(
      ...read.filter(event => isMeant(webhook, event)).map(event => newDelivery(event)),
    )
    webhook.cursor = model.events.length
  }
}

/** Begins another round, once all is at rest. */
export function beginRound({ webhooks }: Model): void {
  for (const webhook of webhooks.values()) {
    webhook.round = newRound(webhook.failing)
    for (const each of webhook.deliveries) each.isTried = false
  }
}

const laneOf = ({ deliveries }: ModelWebhook, { event }: ModelDelivery): ModelDelivery[] =>
  deliveries.filter(each => isSameThing(each.event, event))

/** The deliveries about one thing of which one goes next. */
function heads(lane: readonly ModelDelivery[]): readonly ModelDelivery[] {
  if (lane.some(({ isHeld }) => isHeld)) return []
  const first = lane.findIndex(({ isLoose, isAgain }) => !isLoose && !isAgain)
  return lane.filter((each, place) => place <= first || first < 0 || each.isAgain)
}

/** Says why a delivery of an event must not go now. */
export function whyNot(
  webhook: ModelWebhook,
  event: ModelEvent,
  nowMs: number,
): string | undefined {
  const { status, round, paused, deliveries } = webhook
  if (status === 'disabled') return 'the webhook is disabled'
  if (nowMs < paused.minMs && !round.isPausing) return 'its receiver wants nothing yet'
  const found = findDelivery(webhook, event)
  if (found !== undefined) {
    return found.next.minMs <= nowMs ? undefined : 'its next attempt is later'
  }
  return deliveries.some(each => each.event === event) ? 'another goes before' : 'it is not meant'
}

export const findDelivery = (webhook: ModelWebhook, event: ModelEvent): ModelDelivery | undefined =>
  webhook.deliveries.find(
    each => each.event === event && heads(laneOf(webhook, each)).includes(each),
  )

/** Forgets what is known to have arrived, since what follows it has gone. */
export function passLoose(webhook: ModelWebhook, delivery: ModelDelivery): void {
  const lane = laneOf(webhook, delivery)
  const passed = lane.slice(0, lane.indexOf(delivery)).filter(({ isLoose }) => isLoose)
  webhook.deliveries = webhook.deliveries.filter(each => !passed.includes(each))
}

/** Deliveries that should have gone by now. */
export function overdue(webhook: ModelWebhook, nowMs: number): ModelDelivery[] {
  const { status, paused, round, deliveries } = webhook
  const isFull = deliveries.filter(({ isHeld }) => isHeld).length >= togetherMax
  const isStill =
    isFull || status === 'disabled' || round.isPausing || round.mustEnd || round.mayEnd.size > 0
  if (isStill || nowMs < paused.maxMs) return []
  return deliveries.filter(each => {
    const candidates = heads(laneOf(webhook, each))
    const areDue = candidates.every(({ next }) => next.maxMs <= nowMs)
    return areDue && candidates.includes(each)
  })
}

const failureOf = (outcome: Outcome): RegExp =>
  outcome.kind === 'answer' ? new RegExp(`^${outcome.status}$`) : /^(?:connection|tls)$/

function waitOf(attempts: number, outcome: Outcome): readonly [number, number] | undefined {
  const plainMs = waitsMs[attempts - 1]
  if (plainMs === undefined) return undefined
  const askedMs = outcome.kind === 'answer' ? (outcome.retryAfter ?? 0) * secondMs : 0
  return [Math.max(0.8 * plainMs, askedMs), Math.max(1.2 * plainMs, askedMs)]
}

function succeed(webhook: ModelWebhook, delivery: ModelDelivery, nowMs: number): void {
  webhook.deliveries = webhook.deliveries.filter(each => each !== delivery)
  webhook.round.succeeded.push(delivery)
  // A failure of the same moment may have come first, or last.
  webhook.failing = webhook.round.hasFailed ? { minMs: nowMs, maxMs: Infinity } : undefined
}

const busy: readonly number[] = [429, 503]

function pause(
  { round, ...webhook }: ModelWebhook,
  outcome: Outcome,
  nowMs: number,
): ModelWebhook['paused'] {
  if (outcome.kind !== 'answer' || outcome.retryAfter === undefined) return webhook.paused
  if (!busy.includes(outcome.status)) return webhook.paused
  const untilMs = nowMs + outcome.retryAfter * secondMs
  const { minMs, maxMs } = round.isPausing ? webhook.paused : at(untilMs)
  round.isPausing = true
  return { minMs: Math.min(minMs, untilMs), maxMs: Math.max(maxMs, untilMs) }
}

function noteFailure(webhook: ModelWebhook, nowMs: number): void {
  const { round, failing } = webhook
  const sinceMs = failing === undefined ? nowMs : Math.min(failing.maxMs, nowMs)
  webhook.failing = { minMs: failing?.minMs ?? nowMs, maxMs: sinceMs }
  round.hasFailed = true
  const firstMs = Math.min(webhook.failing.minMs, round.failingMs)
  if (nowMs - firstMs >= failingDaysMs) round.mayEnd = new Set([...round.mayEnd, 'failing'])
  if (nowMs - sinceMs >= failingDaysMs && round.succeeded.length === 0) round.mustEnd = true
}

/** The delivery has ended so. A hold is no end. */
export function settle(
  webhook: ModelWebhook,
  delivery: ModelDelivery,
  outcome: Outcome,
  nowMs: number,
): void {
  delivery.isTried = true
  delivery.isHeld = outcome.kind === 'hold'
  if (outcome.kind === 'hold') return
  const isDone = outcome.kind === 'answer' && outcome.status >= 200 && outcome.status < 300
  if (isDone) return succeed(webhook, delivery, nowMs)
  const [least, most] = [delivery.attempts[0] + 1, delivery.attempts[1] + 1]
  const wait = waitOf(least, outcome)
  const failure = failureOf(outcome)
  const isGone = outcome.kind === 'answer' && outcome.status === 410
  delivery.failureBefore = delivery.failure
  delivery.failure = failure
  delivery.attempts = [least, most]
  delivery.isLoose = false
  noteFailure(webhook, nowMs)
  webhook.paused = pause(webhook, outcome, nowMs)
  if (isGone) {
    webhook.round.mayEnd = new Set([...webhook.round.mayEnd, 'gone'])
    webhook.round.mustEnd = true
    delivery.next = at(nowMs)
  } else if (wait === undefined) {
    webhook.deliveries = webhook.deliveries.filter(each => each !== delivery)
    const { event } = delivery
    webhook.dead.push({ event, attempts: least, atMs: nowMs, failure })
  } else {
    const [, maxMs] = waitOf(most, outcome) ?? wait
    delivery.next = { minMs: nowMs + wait[0], maxMs: nowMs + maxMs }
  }
}

const byOrder = ({ event: a }: ModelDelivery, { event: b }: ModelDelivery): number =>
  a.order - b.order

/** Another process goes on with what is written down: nothing is under way, or paused. */
export function comeBack(webhook: ModelWebhook): void {
  for (const each of webhook.deliveries) each.isHeld = false
  webhook.deliveries.sort(byOrder)
  webhook.paused = { ...webhook.paused, minMs: 0 }
}

/** Attempts since all was last at rest may be written down, or not. */
export function doubt(webhook: ModelWebhook): void {
  const { deliveries, round, failing } = webhook
  for (const each of deliveries.filter(({ isTried, isHeld }) => isTried && !isHeld)) {
    const [, attempts] = each.attempts
    each.attempts = [attempts - 1, attempts]
    each.next = { ...each.next, minMs: 0 }
    each.isTried = false
  }
  for (const each of round.succeeded.splice(0)) {
    each.isLoose = true
    deliveries.push(each)
  }
  const minMs = Math.min(round.failingMs, failing?.minMs ?? Infinity)
  webhook.failing = minMs === Infinity ? undefined : { minMs, maxMs: Infinity }
}
